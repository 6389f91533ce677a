"""Max-min fair rates of flows that each take one path: the same as `cluster.fairness`, for many.

A flow that is split is one row per sub-flow. Compiled where numba is installed; a million flows
over six links each take some tenths of a second.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from cluster import fairness_loops
from cluster.compiled import can_compile, compiled
from cluster.fabric import Fabric
from cluster.flows import Flows

_FEW = 2_000
_BY_HOP = 2
_FULL = 1.0 + 1e-12


def path_rates(
    path: NDArray[np.int32], capacity: NDArray[np.float64], demand: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return each flow's rate when no flow can gain without a slower one losing.

    Parameters
    ----------
    path
        The links a flow passes, shape (flows, hops), each at most once; -1 = none.
    capacity
        By link, in the unit of the result.
    demand
        What each flow asks for at most, shape (flows,); may be infinite.

    Returns
    -------
    Shape (flows,), as `max_min_rates` of the same usage gives it. A flow that passes no link gets
    what it asks for, and 0 where that is infinite.

    Raises
    ------
    ValueError
        Shapes do not fit, a link has no capacity in the list, or a demand or capacity is negative
        or not a number.

    Examples
    --------
    >>> path = np.array([[0, -1], [0, 1]], dtype=np.int32)
    >>> path_rates(path, np.array([10.0, 2.0]), np.array([np.inf, np.inf]))
    array([8., 2.])

    References
    ----------
    Bertsekas and Gallager, Data Networks, 2nd edition, 1992, section 6.5.2.
    """
    _check(path, capacity, demand)
    loops = _loops(len(path))
    path = np.ascontiguousarray(path, dtype=np.int32)
    demand = np.asarray(demand, dtype=np.float64)
    left = np.array(capacity, dtype=np.float64)
    wanted = np.zeros(len(left))
    loops.wanted_load(path, demand, wanted)
    crowded = wanted > left * _FULL
    rising = np.zeros(len(left), dtype=np.int32)
    held = loops.held_flows(path, crowded, rising)
    rates = demand.copy()
    if len(held):
        starts = np.concatenate((np.zeros(1, np.int32), np.cumsum(rising, dtype=np.int32)))
        members = loops.flows_by_link(path, held, crowded, starts)
        is_rising = np.zeros(len(path), dtype=np.bool_)
        is_rising[held] = True
        loops.fill(
            path,
            held[np.argsort(demand[held], kind="stable")],
            np.flatnonzero(crowded).astype(np.int32),
            starts,
            members,
            demand,
            rates,
            left,
            rising,
            is_rising,
        )
    rates[np.isinf(rates)] = 0.0
    return rates


def placed_rates(
    fabric: Fabric,
    flows: Flows,
    *,
    flow: NDArray[np.int32],
    bits_per_second: NDArray[np.float64],
    links: NDArray[np.int32],
    stranded: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return the rate of each sub-flow over its links and the NICs at both ends.

    Parameters
    ----------
    flow, bits_per_second
        Which flow a sub-flow belongs to, and what it wants to send; shape (subflows,).
    links
        Directed links of the fabric that it passes, shape (subflows, hops); -1 = none.
    stranded
        By sub-flow: no path leads to its target, so that it gets nothing.

    Raises
    ------
    ValueError
        As `path_rates`.
    """
    first, ends = fabric.links, len(fabric.endpoint_capacity)
    whole = np.empty((len(links), links.shape[1] + 2), dtype=np.int32)
    whole[:, 0] = first + flows.source[flow]
    whole[:, 1] = first + ends + flows.target[flow]
    whole[:, 2:] = links
    wanted = bits_per_second
    if stranded is not None:
        wanted = np.where(stranded, 0.0, wanted)
    return path_rates(
        whole,
        np.concatenate((fabric.capacity, fabric.endpoint_capacity, fabric.endpoint_capacity)),
        wanted,
    )


def _loops(flows: int) -> ModuleType:
    if flows > _FEW and can_compile():
        return compiled(fairness_loops.__name__)
    return fairness_loops


def _check(
    path: NDArray[np.int32], capacity: NDArray[np.float64], demand: NDArray[np.float64]
) -> None:
    if path.ndim != _BY_HOP or demand.shape != path.shape[:1]:
        raise ValueError(f"demands of shape {demand.shape} for paths of shape {path.shape}")
    if path.size and (path.min() < -1 or path.max() >= len(capacity)):
        raise ValueError(f"a path passes a link that is none of the {len(capacity)}")
    if not ((capacity >= 0.0).all() and (demand >= 0.0).all()):
        raise ValueError("a capacity or a demand is negative or not a number")
