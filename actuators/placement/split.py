"""Elephants in several sub-flows, mice whole."""

import numpy as np
from numpy.typing import NDArray

from cluster.fabric import Fabric
from cluster.flows import Flows

# Of the slowest working cable; what wants less is not worth a connection more.
_ELEPHANT_SHARE = 1.0 / 64.0


def split(
    fabric: Fabric, flows: Flows, subflows: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the flow that each sub-flow is of, and what it wants to send in bits per second.

    Raises
    ------
    ValueError
        ``subflows`` is not positive.
    """
    if subflows < 1:
        raise ValueError(f"subflows is {subflows}, not positive")
    if subflows == 1:
        return np.arange(len(flows), dtype=np.int32), flows.bits_per_second
    parts = np.ones(len(flows), dtype=np.int32)
    working = fabric.capacity[fabric.capacity > 0.0]
    if len(working):
        parts[flows.bits_per_second >= _ELEPHANT_SHARE * working.min()] = subflows
    flow = np.repeat(np.arange(len(flows), dtype=np.int32), parts)
    return flow, (flows.bits_per_second / parts)[flow]
