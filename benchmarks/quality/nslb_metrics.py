"""How good paths are: mean, jobs and phase, beside ideal spraying and the bound of whole flows.

Nothing here knows how a placement was found: it sees sub-flows, their rates and their links.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cluster.fabric import Fabric
from cluster.fairness_paths import path_rates, placed_rates
from cluster.flows import Flows

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Sub-flows and the links they take; see `cluster.fairness_paths.placed_rates`."""

    flow: Ints
    bits_per_second: Floats
    links: Ints
    stranded: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Metrics of BENCHMARKS "nslb"; ``slowest`` is the least share any flow gets of its wish."""

    mean: float
    jobs: float
    phase: float
    slowest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """Sub-flows that must leave (enter) nodes, and the links there are; links of one way."""

    node: Ints
    flow: Ints
    link_node: Ints
    capacity: Floats


def score(fabric: Fabric, flows: Flows, paths: Paths, ideal: Floats) -> Score:
    """Return the metrics of paths; ``ideal`` is what `ideal_rates` gives for the flows."""
    rates = placed_rates(
        fabric,
        flows,
        flow=paths.flow,
        bits_per_second=paths.bits_per_second,
        links=paths.links,
        stranded=paths.stranded,
    )
    wanted = flows.bits_per_second
    sent = wanted[paths.flow] > 0.0
    share = np.ones(len(flows))
    np.minimum.at(share, paths.flow[sent], rates[sent] / paths.bits_per_second[sent])
    load = link_load(fabric, paths)
    busiest = float(np.divide(load, fabric.capacity, where=load > 0.0, out=0.0 * load).max())
    if paths.stranded.any():
        busiest = np.inf
    return Score(
        mean=float(rates.sum() / ideal.sum()),
        jobs=_jobs(flows, share, ideal),
        phase=bound(fabric, flows, paths) / busiest,
        slowest=float(share.min()),
    )


def ideal_rates(fabric: Fabric, flows: Flows) -> Floats:
    """Return each flow's rate when every switch could split every flow as it likes.

    The links between a leaf (a pod) and what is above it are one each way, as wide as all that
    work.
    """
    ends = len(fabric.endpoint_capacity)
    hops = [flows.source, flows.target + ends]
    capacity = [fabric.endpoint_capacity, fabric.endpoint_capacity]
    first = 2 * ends
    for side in _sides(fabric, flows, np.arange(len(flows), dtype=np.int32)):
        hop = np.full(len(flows), -1, dtype=np.int32)
        hop[side.flow] = side.node + first
        hops.append(hop)
        nodes = len(fabric.tier)
        capacity.append(np.bincount(side.link_node, side.capacity, minlength=nodes))
        first += nodes
    path = np.stack(hops, axis=1).astype(np.int32)
    return path_rates(path, np.concatenate(capacity), flows.bits_per_second)


def bound(fabric: Fabric, flows: Flows, paths: Paths) -> float:
    """Return a load over capacity that the busiest link of no placement of these is below.

    At each leaf and pod: all that leaves over all the room there is, and of n equal links one that
    carries m + 1 of every n m + 1 sub-flows. Exact where sub-flows and links are equal.
    """
    highest = 0.0
    for side in _sides(fabric, flows, paths.flow):
        bits = paths.bits_per_second[side.flow]
        order = np.lexsort((-bits, side.node))
        node, bits = side.node[order], bits[order]
        works = side.capacity > 0.0
        nodes = len(fabric.tier)
        links = np.bincount(side.link_node[works], minlength=nodes)
        room = np.bincount(side.link_node[works], side.capacity[works], minlength=nodes)
        widest = np.zeros(nodes)
        np.maximum.at(widest, side.link_node[works], side.capacity[works])
        rank = np.arange(len(node)) - np.searchsorted(node, node)
        at = rank % np.maximum(links[node], 1) == 0
        whole = (rank[at] // links[node[at]] + 1) * bits[at] / widest[node[at]]
        used = np.flatnonzero(room > 0.0)
        split = np.bincount(node, bits, minlength=nodes)[used] / room[used]
        highest = max(highest, float(whole.max(initial=0.0)), float(split.max(initial=0.0)))
    return highest


def link_load(fabric: Fabric, paths: Paths) -> Floats:
    load = np.zeros(fabric.links)
    for hop in paths.links.T:
        used = hop >= 0
        load += np.bincount(hop[used], paths.bits_per_second[used], minlength=fabric.links)
    return load


def _jobs(flows: Flows, share: Floats, ideal: Floats) -> float:
    """Return best step time over step time, by job, weighted by its flows."""
    jobs = int(flows.job.max(initial=0)) + 1
    slowest, best = np.ones(jobs), np.ones(jobs)
    np.minimum.at(slowest, flows.job, share)
    np.minimum.at(best, flows.job, ideal / np.maximum(flows.bits_per_second, 1e-300))
    weight = np.bincount(flows.job, minlength=jobs)
    return float((weight * slowest / np.maximum(best, 1e-300)).sum() / weight.sum())


def _sides(fabric: Fabric, flows: Flows, flow: Ints) -> Iterator[_Side]:
    tail, head = fabric.endpoint_leaf[flows.source], fabric.endpoint_leaf[flows.target]
    levels = [(tail, head, fabric.lower, fabric.tier[fabric.lower] == 1)]
    if fabric.tier.max() > 2:
        pod = _pods(fabric)
        levels.append((pod[tail], pod[head], pod[fabric.lower], fabric.tier[fabric.lower] == 2))
    for leaving, entering, link_node, at in levels:
        apart = np.flatnonzero(leaving[flow] != entering[flow]).astype(np.int32)
        for way, node in enumerate((leaving, entering)):
            yield _Side(
                node=node[flow][apart],
                flow=apart,
                link_node=link_node[at],
                capacity=fabric.capacity[way::2][at],
            )


def _pods(fabric: Fabric) -> Ints:
    """Return by switch the least number of a leaf that it reaches without a core."""
    pod = np.arange(len(fabric.tier), dtype=np.int32)
    low = fabric.tier[fabric.lower] == 1
    lower, upper = fabric.lower[low], fabric.upper[low]
    while True:
        before = pod.copy()
        for one, other in ((lower, upper), (upper, lower)):
            np.minimum.at(pod, one, pod[other])
        if (pod == before).all():
            return pod
