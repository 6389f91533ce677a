"""The loops of `cluster.fairness_paths`; see there."""

import heapq
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from cluster.compiled import loop

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@loop
def wanted_load(path: Ints, demand: Floats, load: Floats) -> None:
    """Add what flows want to the load of the links they pass."""
    for flow in range(path.shape[0]):
        for hop in range(path.shape[1]):
            link = path[flow, hop]
            if link >= 0:
                load[link] += demand[flow]


@loop
def held_flows(path: Ints, crowded: NDArray[np.bool_], passing: Ints) -> Ints:
    """Return the flows that pass a crowded link; count those of each crowded link."""
    held = np.empty(path.shape[0], dtype=np.int32)
    count = 0
    for flow in range(path.shape[0]):
        before = count
        for hop in range(path.shape[1]):
            link = path[flow, hop]
            if link >= 0 and crowded[link]:
                passing[link] += 1
                if count == before:
                    held[count] = flow
                    count += 1
    return held[:count]


@loop
def flows_by_link(path: Ints, held: Ints, crowded: NDArray[np.bool_], starts: Ints) -> Ints:
    """Return the held flows of each crowded link, one link's after another's."""
    members = np.empty(starts[-1], dtype=np.int32)
    place = starts[:-1].copy()
    for flow in held:
        for hop in range(path.shape[1]):
            link = path[flow, hop]
            if link >= 0 and crowded[link]:
                members[place[link]] = flow
                place[link] += 1
    return members


@loop
def settle(
    path: Ints,
    flow: int,
    rate: float,
    rates: Floats,
    left: Floats,
    rising: Ints,
    is_rising: NDArray[np.bool_],
) -> None:
    """Leave a flow at a rate for good, and its links with what it does not take."""
    rates[flow] = rate
    is_rising[flow] = False
    for hop in range(path.shape[1]):
        link = path[flow, hop]
        if link >= 0:
            left[link] -= rate
            rising[link] -= 1


@loop
def first_to_fill(levels: list[tuple[float, int]], left: Floats, rising: Ints) -> tuple[float, int]:
    """Return the level at which the next link is full, and which; infinite when none is left.

    The level at which a link fills only rises when flows stop below it, so a level that was
    reckoned early is a lower bound: it is reckoned again when its turn comes.
    """
    while len(levels) > 0:
        level, link = levels[0]
        if rising[link] <= 0:
            heapq.heappop(levels)
            continue
        now = max(left[link], 0.0) / rising[link]
        if now <= level:
            return now, int(link)
        heapq.heapreplace(levels, (now, link))
    return np.inf, -1


@loop
def fill(
    path: Ints,
    by_demand: Ints,
    crowded_links: Ints,
    starts: Ints,
    members: Ints,
    demand: Floats,
    rates: Floats,
    left: Floats,
    rising: Ints,
    is_rising: NDArray[np.bool_],
) -> None:
    """Let the held flows rise together until a link or its own demand stops each."""
    levels = [(left[link] / rising[link], link) for link in crowded_links]
    heapq.heapify(levels)
    following = 0
    while following < len(by_demand):
        flow = by_demand[following]
        if not is_rising[flow]:
            following += 1
            continue
        level, link = first_to_fill(levels, left, rising)
        if demand[flow] <= level:
            settle(path, flow, demand[flow], rates, left, rising, is_rising)
            continue
        for place in range(starts[link], starts[link + 1]):
            if is_rising[members[place]]:
                settle(path, members[place], level, rates, left, rising, is_rising)


def exercise(loops: ModuleType) -> None:
    """Call every loop once, with the types that `cluster.fairness_paths` gives it."""
    path = np.zeros((2, 1), dtype=np.int32)
    demand, left, rising = np.ones(2), np.ones(1), np.zeros(1, dtype=np.int32)
    crowded = np.ones(1, dtype=np.bool_)
    loops.wanted_load(path, demand, np.zeros(1))
    held = loops.held_flows(path, crowded, rising)
    starts = np.array([0, 2], dtype=np.int32)
    members = loops.flows_by_link(path, held, crowded, starts)
    first = np.zeros(1, dtype=np.int32)
    is_rising = np.ones(2, dtype=np.bool_)
    loops.fill(path, held, first, starts, members, demand, np.ones(2), left, rising, is_rising)
