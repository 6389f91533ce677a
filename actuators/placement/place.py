"""All flows placed together: equitably coloured, then moved off what is loaded beyond the bound.

References
----------
D. Koenig, "Ueber Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre",
Mathematische Annalen 77 (1916), 453-465. H. N. Gabow, "Using Euler partitions to edge color
bipartite multigraphs", International Journal of Computer and Information Sciences 5 (1976),
345-355. D. de Werra, "Equitable colorations of graphs", RIRO 5 (1971), 3-8.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from actuators.placement.certificate import bound_of, demands
from actuators.placement.kernels import colouring, halving_down
from actuators.placement.layers import NONE, Ends, Layers, ends_of, layers_of
from actuators.placement.placement import Known, Placement
from actuators.placement.repair import Effort, shift
from actuators.placement.reserve import Reserve
from actuators.placement.split import split
from actuators.placement.work import Work
from cluster.fabric import Fabric
from cluster.flows import Flows

_SLACK: Final = 1e-9
# A plane that is so much faster than the slowest counts as so many.
_MOST_SHARES: Final = 8
# How many sub-flows chains may look at in vain.
_MOST_LOOKS: Final = 2_000

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


def place(
    fabric: Fabric, flows: Flows, *, subflows: int = 1, seed: int = 0, layers: Layers | None = None
) -> Placement:
    """Return paths for all flows together.

    Equal flows on an even fabric reach the bound exactly, in linear time for a power of two of
    spines. Flows that want more than a 64th of a cable are split in ``subflows``. What cannot
    be steered is hashed, onto planes that are kept for it.

    Parameters
    ----------
    seed
        Of the hash that stands for the switches'.
    layers
        Of the fabric, when they are known.

    Raises
    ------
    ValueError
        ``subflows`` is not positive, or the fabric has more than three tiers.
    """
    found = layers or layers_of(fabric)
    flow, bits = split(fabric, flows, subflows)
    ends = ends_of(found, fabric, flows, flow)
    count = len(flow)
    work = Work(
        layers=found,
        ends=ends,
        bits=bits,
        plane=np.full(count, NONE, dtype=np.int32),
        core=np.full(count, NONE, dtype=np.int32),
    )
    apart = ends.tail != ends.head
    free = flows.steerable[flow]
    order = _in_order(flows, flow, bits, np.flatnonzero(apart & free))
    kept = Reserve.of(found, ends, bits, free)
    expected = kept.expected_load(found, ends, bits)
    spread_evenly(work, order, kept.without(working_planes(found)))
    load = _repair(work, fabric, order, expected)
    if len(kept.rows):
        work.plane[kept.rows], work.core[kept.rows] = kept.hash_rows(found, ends, seed)
        load = work.load()
        _mend(work, load)
    return Placement(
        fabric=fabric,
        flows=flows,
        layers=found,
        flow=flow,
        bits_per_second=bits,
        plane=work.plane,
        core=work.core,
        known=Known(ends, load),
    )


def _in_order(flows: Flows, flow: Ints, bits: Floats, rows: NDArray[np.int64]) -> Ints:
    """Return sub-flows, the more important and larger first: neighbours part at a node."""
    priority, size = flows.priority[flow[rows]], bits[rows]
    if len(rows) and (priority == priority[0]).all() and (size == size[0]).all():
        return rows.astype(np.int32)
    return rows[np.lexsort((-size, -priority.astype(np.int64)))].astype(np.int32)


def working_planes(layers: Layers) -> Ints:
    """Return the planes that some leaf reaches, each as often as it is faster than the slowest."""
    capacity = layers.low.capacity.reshape(2, layers.leaves, layers.planes).min(axis=0)
    reached = (capacity > 0.0).sum(axis=0)
    typical = capacity.sum(axis=0) / np.maximum(reached, 1)
    planes = np.flatnonzero(typical > 0.0)
    if not len(planes):
        return planes.astype(np.int32)
    shares = np.clip(np.round(typical[planes] / typical[planes].min()), 1, _MOST_SHARES)
    return np.repeat(planes, shares.astype(np.int64)).astype(np.int32)


def spread_evenly(work: Work, order: Ints, planes: Ints) -> None:
    """Spread sub-flows evenly over planes at every leaf, then over cores at every pod."""
    if not len(order) or not len(planes):
        return
    layers, ends = work.layers, work.ends.take(order)
    across = ends.tail_pod != ends.head_pod
    groups = [
        np.where(across, pod, NONE).astype(np.int32) for pod in (ends.tail_pod, ends.head_pod)
    ]
    nodes = max(layers.leaves, layers.pods)
    colour = _coloured(ends.tail, ends.head, groups, nodes, len(planes))
    work.plane[order] = planes[colour]
    if layers.cores:
        _colour_cores(work, order, ends, planes)


def _colour_cores(work: Work, order: Ints, ends: Ends, planes: Ints) -> None:
    """Spread what goes between pods evenly over the cores of its plane, at every pod."""
    layers = work.layers
    high = layers.high.capacity.reshape(2, layers.pods, layers.planes, layers.cores)
    works = high.max(axis=(0, 1)) > 0.0
    across = np.flatnonzero(ends.tail_pod != ends.head_pod)
    plane = work.plane[order[across]]
    across = across[np.argsort(plane.astype(np.int16), kind="stable")]  # a radix sort
    starts = np.concatenate(([0], np.cumsum(np.bincount(plane, minlength=layers.planes))))
    if works.all() and _levels(layers.cores) is not None:
        work.core[order[across]] = _halved_each(ends, across, starts, layers)
        return
    for number in np.unique(planes).tolist():
        rows = across[starts[number] : starts[number + 1]]
        cores = np.flatnonzero(works[number])
        if len(rows) and len(cores):
            none = [np.full(len(rows), NONE, dtype=np.int32)] * 2
            taken = _coloured(
                ends.tail_pod[rows], ends.head_pod[rows], none, layers.pods, len(cores)
            )
            work.core[order[rows]] = cores[taken]


def _halved_each(
    ends: Ends, rows: NDArray[np.int64], starts: NDArray[np.int64], layers: Layers
) -> Ints:
    """Return a core for each row; those of a plane are together."""
    colour = np.empty(len(rows), dtype=np.int32)
    tail, head = ends.tail_pod[rows], ends.head_pod[rows]
    none = np.full(len(rows), NONE, dtype=np.int32)
    room = tuple(np.full(layers.pods, NONE, dtype=np.int32) for _ in range(2))
    levels = _levels(layers.cores)
    halving_down(len(rows)).halve_each(starts, colour, levels, tail, head, none, room)
    return colour


def _levels(colours: int) -> int | None:
    """Return how often one must halve to get so many colours; None = they are no power of two."""
    levels = colours.bit_length() - 1
    return levels if 1 << levels == colours else None


def _coloured(tail: Ints, head: Ints, groups: list[Ints], nodes: int, colours: int) -> Ints:
    """Return a colour for each edge, so that every node's edges are spread evenly over colours."""
    count = len(tail)
    colour = np.zeros(count, dtype=np.int32)
    edges = np.arange(count, dtype=np.int32)
    last = tuple(np.full(nodes, NONE, dtype=np.int32) for _ in range(2))
    levels = _levels(colours)
    if levels is not None:
        halving_down(count).halve_down(edges, colour, levels, tail, head, *groups, last)
        return colour
    room = (*(np.empty(count, dtype=np.int32) for _ in range(3)), *last)
    colouring(count).even_out(edges, colour, colours, tail, head, *groups, nodes, room)
    return colour


def _is_level(work: Work, load: Floats, busiest: float) -> bool:
    """Tell at a glance that no placement is better: equal flows, equal cables, evenly spread."""
    layers, bits = work.layers, work.bits
    if not len(bits) or bits.min() < bits.max():
        return False
    if not (layers.low.is_single and layers.high.is_single):
        return False
    low = layers.leaves * layers.planes
    shapes = [(2, layers.leaves, layers.planes), (2, layers.pods, layers.planes * layers.cores)]
    for part, (*nodes, choices) in zip(
        (slice(0, 2 * low), slice(2 * low, None)), shapes, strict=True
    ):
        if not choices:
            continue
        own, capacity = (one[part].reshape(*nodes, choices) for one in (load, work.capacity))
        working = (capacity > 0.0).sum(axis=2)
        whole = np.ceil(own.sum(axis=2) / bits[0] / np.maximum(working, 1) * (1.0 - _SLACK))
        if float((whole * bits[0]).max()) >= busiest * capacity.max() * (1.0 - _SLACK):
            return True
    return False


def _repair(work: Work, fabric: Fabric, order: Ints, expected: Floats) -> Floats:
    """Move what lies on dead or overloaded resources, down to the bound where that can be had.

    ``expected`` is what others are expected to load resources with: what is kept for them is used
    only to keep links from being overfull. Returns the load of all.
    """
    load = work.load() + expected
    busiest = work.busiest(load)
    if busiest == 0.0 or _is_level(work, load, busiest):
        return load
    apart = work.ends.tail != work.ends.head
    bound = bound_of(fabric, demands(fabric, work.layers, work.ends, work.bits, apart)).level
    target = max(bound, 1.0) if expected.any() else bound
    if busiest > target * (1.0 + _SLACK):
        work.relieve(order, load, target=target, most_moves=4 * len(order))
        _mend(work, load)
        if work.busiest(load) > target * (1.0 + _SLACK):
            free = np.full(len(work.plane), -1, dtype=np.int8)
            free[order] = 0
            effort = Effort(cost=free, most_spent=0, most_looks=_MOST_LOOKS)
            shift(work, load, target=target, effort=effort, background=expected)
    return load


def _mend(work: Work, load: Floats) -> None:
    """Take what lies on dead paths elsewhere, or off."""
    if work.strand(load):
        work.fill_cores(np.flatnonzero(work.is_coreless).astype(np.int32), load)
