"""What networks do without a plan: hash flows, or give each the emptiest way when it comes.

What `plan` and the benchmark hold a placement against. Parallel cables between two switches share
what goes that way evenly, which is kinder to the hash than a switch is.
"""

import numpy as np
from numpy.typing import NDArray

from actuators.placement.hashing import hashed
from actuators.placement.kernels import baselines, searching
from actuators.placement.layers import NONE, layers_of
from actuators.placement.placement import Placement
from actuators.placement.split import split
from cluster.fabric import Fabric
from cluster.flows import Flows

_HASH_VALUES = 2**31 - 1


def ecmp(fabric: Fabric, flows: Flows, *, subflows: int = 1, seed: int = 0) -> Placement:
    """Return the flows hashed by their 5-tuples onto the shortest paths that work.

    Every sub-flow has a source port of its own. The ports are not known, so the hash is as good as
    random, and the same for the same seed.

    Raises
    ------
    ValueError
        As `place`.
    """
    placement = _unplaced(fabric, flows, subflows)
    keys = _connections(placement)
    hashes = np.stack([hashed(keys, 2 * seed + n, _HASH_VALUES) for n in range(2)])
    baselines(len(placement.flow)).hash_paths(
        _crossing(placement),
        placement.layers.shape,
        placement.ends.columns,
        placement.layers.capacity,
        hashes.astype(np.int64),
        placement.plane,
        placement.core,
    )
    return placement


def local(fabric: Fabric, flows: Flows, *, subflows: int = 1) -> Placement:
    """Return flows that take, in their order, the least busy link of each switch on the way up.

    Dynamic load balancing as switches have it: a switch knows its own links, not those that lead
    down to the target.

    Raises
    ------
    ValueError
        As `place`.
    """
    placement = _unplaced(fabric, flows, subflows)
    baselines(len(placement.flow)).local_paths(
        _crossing(placement),
        placement.layers.shape,
        placement.ends.columns,
        placement.layers.capacity,
        placement.bits_per_second,
        placement.plane,
        placement.core,
    )
    return placement


def greedy(fabric: Fabric, flows: Flows, *, subflows: int = 1) -> Placement:
    """Return flows that take, in their order, the path whose busiest link is the least busy.

    One by one with the whole fabric in view, but none is moved for one that comes later.

    Raises
    ------
    ValueError
        As `place`.
    """
    placement = _unplaced(fabric, flows, subflows)
    capacity = placement.layers.capacity
    searching(len(placement.flow)).fill(
        _crossing(placement),
        placement.layers.shape,
        placement.ends.columns,
        placement.bits_per_second,
        placement.plane,
        placement.core,
        np.zeros(len(capacity)),
        capacity,
    )
    return placement


def _unplaced(fabric: Fabric, flows: Flows, subflows: int) -> Placement:
    flow, bits = split(fabric, flows, subflows)
    plane, core = (np.full(len(flow), NONE, dtype=np.int32) for _ in range(2))
    return Placement(
        fabric=fabric,
        flows=flows,
        layers=layers_of(fabric),
        flow=flow,
        bits_per_second=bits,
        plane=plane,
        core=core,
    )


def _crossing(placement: Placement) -> NDArray[np.int32]:
    return np.flatnonzero(~placement.is_local).astype(np.int32)


def _connections(placement: Placement) -> NDArray[np.int64]:
    """Return a key for each sub-flow: its ends, and which of those between the same ends it is."""
    flows, flow = placement.flows, placement.flow.astype(np.int64)
    ends = len(placement.fabric.endpoint_leaf)
    pair = flows.source[flow].astype(np.int64) * ends + flows.target[flow]
    order = np.argsort(pair, kind="stable")
    number = np.empty(len(pair), dtype=np.int64)
    number[order] = np.arange(len(pair)) - np.searchsorted(pair[order], pair[order])
    return pair * (int(number.max(initial=0)) + 1) + number
