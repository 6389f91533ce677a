"""What no placement can beat, and how near a placement comes."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actuators.placement.layers import Ends, Layers
from cluster.arrays import summed
from cluster.fabric import Fabric

_EQUAL: Final = 1e-9
# Changed cables, beyond which the whole bound is worked out again.
_FEW: Final = 64

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A placement against the bound: the busiest link's load over its capacity.

    Attributes
    ----------
    bound
        No placement of these sub-flows has a busiest link below it; 1.0 = just full.
    busiest
        What the placement comes to; inf where a dead link is loaded.
    component
        The switch that the bound comes from, and in `words` why; empty when nothing is sent.
    link
        The busiest link of the placement.
    """

    bound: float
    busiest: float
    component: str
    words: str
    link: str

    @property
    def reached(self) -> float:
        """The bound over what the placement comes to: 1.0 cannot be beaten."""
        if self.busiest == 0.0:
            return 1.0
        return self.bound / self.busiest if np.isfinite(self.busiest) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What sub-flows want of nodes of one kind, going out or coming in.

    Attributes
    ----------
    whose, verb
        Words for a node and the direction.
    way
        0 up, 1 down: which of a cable's directed links they take.
    switch
        A switch that stands for each node: the leaf, or a spine of the pod.
    node, bits
        By sub-flow.
    count, total, smallest, largest
        By node.
    node_of_cable
        Which node a cable leads up from, by cable; -1 = it is of another kind.
    """

    whose: str
    verb: str
    way: int
    switch: NDArray[np.int64]
    node: NDArray[np.int32]
    bits: Floats
    count: NDArray[np.int64]
    total: Floats
    smallest: Floats
    largest: Floats
    node_of_cable: NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The least that some link's load over capacity must be, with the switch and the reason."""

    level: float
    component: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """Leaves, or pods: words, a switch for each, the cables that lead up from them."""

    whose: str
    switch: NDArray[np.int64]
    node_of_cable: NDArray[np.int32]

    def demand(self, verb: str, way: int, node: NDArray[np.int32], bits: Floats) -> Demand:
        nodes = len(self.switch)
        smallest, largest = _extremes(node, bits, nodes)
        return Demand(
            whose=self.whose,
            verb=verb,
            way=way,
            switch=self.switch,
            node=node,
            bits=bits,
            count=np.bincount(node, minlength=nodes),
            total=summed(node, bits, nodes),
            smallest=smallest,
            largest=largest,
            node_of_cable=self.node_of_cable,
        )


def demands(
    fabric: Fabric, layers: Layers, ends: Ends, bits: Floats, apart: NDArray[np.bool_]
) -> tuple[Demand, ...]:
    """Return what sub-flows want of leaves, and of pods where there are several.

    ``apart`` are those that need a path and have one.
    """
    leaves = _Kind(
        whose="",
        switch=np.flatnonzero(layers.leaf_of >= 0),
        node_of_cable=layers.leaf_of[fabric.lower],
    )
    told = [
        leaves.demand("sends", 0, ends.tail[apart], bits[apart]),
        leaves.demand("receives", 1, ends.head[apart], bits[apart]),
    ]
    if layers.cores:
        across = apart & (ends.tail_pod != ends.head_pod)
        pods = _pods(fabric, layers)
        told += [
            pods.demand("sends", 0, ends.tail_pod[across], bits[across]),
            pods.demand("receives", 1, ends.head_pod[across], bits[across]),
        ]
    return tuple(told)


def _pods(fabric: Fabric, layers: Layers) -> _Kind:
    low = np.flatnonzero(layers.leaf_of[fabric.lower] >= 0)
    spine, leaf = fabric.upper[low], layers.leaf_of[fabric.lower[low]]
    pod_of = np.full(len(fabric.tier), -1, dtype=np.int32)
    pod_of[spine] = layers.pod_of_leaf[leaf]
    switch = np.zeros(layers.pods, dtype=np.int64)
    switch[pod_of[spine]] = spine
    return _Kind(whose="the pod of ", switch=switch, node_of_cable=pod_of[fabric.lower])


def bound_of(
    fabric: Fabric, wanted: tuple[Demand, ...], cables: NDArray[np.int64] | None = None
) -> Bound:
    """Return what no placement can beat, by all nodes or by those that some cables hang on.

    The bound of a node that sends equal sub-flows is exact for whole ones: the least level at which
    its cables have room for all of them. Of unequal ones it is the larger of what splitting
    could reach and of what some cable must carry by the pigeonhole principle.
    """
    best = Bound(level=0.0, component="", words="nothing is sent between leaves")
    for demand in wanted:
        if not len(demand.node):
            continue
        level, node, words = _tightest(fabric, demand, cables)
        if level > best.level:
            name = fabric.switches[int(demand.switch[node])]
            told = f"{demand.whose}{name} {demand.verb} {words}"
            best = Bound(level=level, component=f"switch/{name}", words=told)
    return best


def bound_after(
    before: Bound, earlier: Fabric, fabric: Fabric, wanted: tuple[Demand, ...]
) -> Bound:
    """Return the bound when some cables have less capacity than before: only theirs is new."""
    changed = np.flatnonzero(earlier.capacity != fabric.capacity)
    lost = fabric.capacity[changed] <= earlier.capacity[changed]
    if len(changed) > _FEW or not lost.all():
        return bound_of(fabric, wanted)
    return max(before, bound_of(fabric, wanted, changed // 2), key=lambda bound: bound.level)


def certify(fabric: Fabric, bound: Bound, link_load: Floats) -> Certificate:
    """Return the certificate of a placement, from what it loads each directed link with."""
    share = np.zeros(len(link_load))
    loaded = link_load > 0.0
    with np.errstate(divide="ignore"):
        share[loaded] = link_load[loaded] / fabric.capacity[loaded]
    busiest = int(share.argmax()) if len(share) else -1
    return Certificate(
        bound=bound.level,
        busiest=float(share.max(initial=0.0)),
        component=bound.component,
        words=bound.words,
        link=fabric.link_name(busiest) if busiest >= 0 and share[busiest] > 0.0 else "",
    )


def _tightest(
    fabric: Fabric, demand: Demand, cables: NDArray[np.int64] | None
) -> tuple[float, int, str]:
    """Return the highest bound of a kind of nodes, the node, and the reason in words."""
    nodes = len(demand.switch)
    capacity, cable_node = fabric.capacity[demand.way :: 2], demand.node_of_cable
    if cables is not None:
        own = np.flatnonzero(np.isin(cable_node, cable_node[cables]) & (cable_node >= 0))
    else:
        own = np.flatnonzero((cable_node >= 0) & (capacity > 0.0))
    own = own[capacity[own] > 0.0]
    cable_node, capacity = cable_node[own], capacity[own]
    room = summed(cable_node, capacity, nodes)
    looked = np.zeros(nodes, dtype=bool)
    if cables is not None:
        looked[demand.node_of_cable[cables][demand.node_of_cable[cables] >= 0]] = True
    held = np.bincount(cable_node, minlength=nodes)
    narrowest, widest = _extremes(cable_node, capacity, nodes)
    count, total = demand.count, demand.total
    with np.errstate(divide="ignore", invalid="ignore"):
        split = np.where((held > 0) & (looked | (cables is None)), total / room, 0.0)
        whole = np.ceil(count / np.maximum(held, 1)) * demand.largest / widest
    equal_bits = demand.largest - demand.smallest <= _EQUAL * demand.largest
    equal_cables = (held > 0) & (widest - narrowest <= _EQUAL * widest)
    bound = np.where(equal_bits & equal_cables & (total > 0.0), np.maximum(whole, split), split)
    uneven = (total > 0.0) & (held > 0) & ~(equal_bits & equal_cables)
    for node in np.flatnonzero(uneven).tolist():
        widths: Floats = np.sort(capacity[cable_node == node])
        bits: Floats = np.sort(demand.bits[demand.node == node])[::-1]
        least = (_levelled if equal_bits[node] else _pigeonhole)(bits, widths)
        bound[node] = max(split[node], least)
    node = int(bound.argmax())
    told = (
        f"{count[node]:,} sub-flows of {total[node]:.4g} bit/s in all over {held[node]:,} "
        f"working cables of {room[node]:.4g} bit/s"
    )
    return float(bound[node]), node, told


def _extremes(node: NDArray[np.int32], values: Floats, nodes: int) -> tuple[Floats, Floats]:
    """Return each node's smallest and largest value; inf and 0.0 where it has none."""
    smallest, largest = np.full(nodes, np.inf), np.zeros(nodes)
    if not len(node):
        return smallest, largest
    if values.min() == values.max():
        smallest[node] = largest[node] = values[0]
        return smallest, largest
    order = np.argsort(node, kind="stable")
    present, starts = np.unique(node[order], return_index=True)
    smallest[present] = np.minimum.reduceat(values[order], starts)
    largest[present] = np.maximum.reduceat(values[order], starts)
    return smallest, largest


def _levelled(bits: Floats, capacity: Floats) -> float:
    """Return the least level at which cables have room for equal sub-flows, each whole."""
    each, count = float(bits[0]), len(bits)
    level = count * each / float(capacity.sum())
    while True:
        held = np.floor(level * capacity / each * (1.0 + _EQUAL))
        if held.sum() >= count:
            return level
        level = float(((held + 1.0) * each / capacity).min())


def _pigeonhole(bits: Floats, capacity: Floats) -> float:
    """Return what some cable must carry: of every ``cables * m + 1`` sub-flows one has m + 1."""
    m = np.arange((len(bits) - 1) // len(capacity) + 1)
    return float(((m + 1) * bits[m * len(capacity)]).max() / capacity[-1])
