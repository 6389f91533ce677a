"""Paths one by one: the least loaded choice for a sub-flow, and moves off what is loaded most.

Loads and capacities of resources lie behind each other: low ones up, low ones down, high ones up,
high ones down (`Layers`); a path is at most one of each.
"""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cluster.compiled import loop

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Shape = tuple[int, int, int, int]  # leaves, pods, planes, cores
Ends = tuple[Ints, Ints, Ints, Ints]  # tail, head, tail's pod, head's pod; by sub-flow

_SLACK = 1e-9


@loop
def spread(
    resource: Ints, bits: Floats, starts: NDArray[np.int64], cables: Ints, capacity: Floats
) -> Ints:
    """Return a cable for each sub-flow, of its resource's the least loaded; -1 = none works."""
    load = np.zeros(len(capacity))
    chosen = np.full(len(resource), -1, dtype=np.int32)
    for n in range(len(resource)):
        best, lowest = -1, np.inf
        for place in range(starts[resource[n]], starts[resource[n] + 1]):
            cable = cables[place]
            if capacity[cable] > 0.0:
                share = (load[cable] + bits[n]) / capacity[cable]
                if share < lowest:
                    best, lowest = cable, share
        chosen[n] = best
        if best >= 0:
            load[best] += bits[n]
    return chosen


@loop
def single_links(
    shape: Shape, ends: Ends, plane: Ints, core: Ints, low: Ints, high: Ints, links: Ints
) -> None:
    """Write the directed links of paths where no two switches share more than one cable."""
    _, _, planes, cores = shape
    last = links.shape[1] - 1
    for n in range(len(plane)):
        for hop in range(last + 1):
            links[n, hop] = -1
        if plane[n] < 0:
            continue
        up, down = low[ends[0][n] * planes + plane[n]], low[ends[1][n] * planes + plane[n]]
        links[n, 0] = 2 * up if up >= 0 else -1
        links[n, last] = 2 * down + 1 if down >= 0 else -1
        if core[n] >= 0:
            up = high[(ends[2][n] * planes + plane[n]) * cores + core[n]]
            down = high[(ends[3][n] * planes + plane[n]) * cores + core[n]]
            links[n, 1] = 2 * up if up >= 0 else -1
            links[n, 2] = 2 * down + 1 if down >= 0 else -1


@loop
def resources(
    shape: Shape, ends: Ends, n: int, plane: int, core: int, into: NDArray[np.int64]
) -> int:
    """Write a path's resources, and return how many there are."""
    leaves, pods, planes, cores = shape
    low, high = leaves * planes, pods * planes * cores
    into[0] = ends[0][n] * planes + plane
    into[1] = low + ends[1][n] * planes + plane
    if core < 0:
        return 2
    into[2] = 2 * low + (ends[2][n] * planes + plane) * cores + core
    into[3] = 2 * low + high + (ends[3][n] * planes + plane) * cores + core
    return 4


@loop
def add(load: Floats, path: NDArray[np.int64], hops: int, bits: float) -> None:
    for hop in range(hops):
        load[path[hop]] += bits


@loop
def utilisation(
    load: Floats, capacity: Floats, path: NDArray[np.int64], hops: int, bits: float, enough: float
) -> float:
    """Return the highest load over capacity on a path with so much more; stop beyond ``enough``."""
    highest = 0.0
    for hop in range(hops):
        r = path[hop]
        value = (load[r] + bits) / capacity[r] if capacity[r] > 0.0 else np.inf
        if value > highest:
            highest = value
            if highest >= enough:
                break
    return highest


@loop
def best_choice(
    shape: Shape,
    ends: Ends,
    n: int,
    bits: float,
    load: Floats,
    capacity: Floats,
    path: NDArray[np.int64],
    below: float,
    found: NDArray[np.int32],
) -> float:
    """Find the choice whose busiest resource is least busy with this sub-flow on it.

    ``found`` gets plane and core when one is below ``below``; returned is what it comes to, or
    ``below``.
    """
    lowest = below
    across = ends[2][n] != ends[3][n]
    start = (ends[0][n] + ends[1][n]) % max(1, shape[2])
    for step in range(shape[2]):
        plane = (start + step) % shape[2]
        resources(shape, ends, n, plane, -1, path)
        low = utilisation(load, capacity, path, 2, bits, lowest)
        if low >= lowest:
            continue
        if not across:
            lowest = low
            found[0], found[1] = plane, -1
            continue
        for turn in range(shape[3]):
            core = (n + turn) % shape[3]
            resources(shape, ends, n, plane, core, path)
            value = max(low, utilisation(load, capacity, path[2:], 2, bits, lowest))
            if value < lowest:
                lowest = value
                found[0], found[1] = plane, core
                if value <= low:
                    break
    return lowest


@loop
def load_of(shape: Shape, ends: Ends, bits: Floats, plane: Ints, core: Ints, load: Floats) -> None:
    """Add up what placed sub-flows load."""
    path = np.zeros(4, dtype=np.int64)
    for n in range(len(bits)):
        if plane[n] >= 0:
            hops = resources(shape, ends, n, plane[n], core[n], path)
            add(load, path, hops, bits[n])


@loop
def strand(
    shape: Shape, ends: Ends, bits: Floats, plane: Ints, core: Ints, load: Floats, capacity: Floats
) -> int:
    """Take sub-flows off paths that are dead, with what they load; return how many.

    Where only the way to the core is dead, the plane stays.
    """
    path = np.zeros(4, dtype=np.int64)
    stranded = 0
    for n in range(len(plane)):
        if plane[n] < 0:
            continue
        hops = resources(shape, ends, n, plane[n], core[n], path)
        if capacity[path[0]] <= 0.0 or capacity[path[1]] <= 0.0:
            add(load, path, hops, -bits[n])
            plane[n] = core[n] = -1
            stranded += 1
        elif hops > 2 and (capacity[path[2]] <= 0.0 or capacity[path[3]] <= 0.0):  # noqa: PLR2004
            add(load, path[2:], 2, -bits[n])
            core[n] = -1
            stranded += 1
    return stranded


@loop
def fill_cores(
    order: Ints,
    shape: Shape,
    ends: Ends,
    bits: Floats,
    plane: Ints,
    core: Ints,
    load: Floats,
    capacity: Floats,
) -> int:
    """Give sub-flows that have a plane the core with most room; return how many found none.

    These lose their plane, too.
    """
    path = np.zeros(4, dtype=np.int64)
    stranded = 0
    for n in order:
        lowest = np.inf
        for turn in range(shape[3]):
            choice = (n + turn) % shape[3]
            resources(shape, ends, n, plane[n], choice, path)
            value = utilisation(load, capacity, path[2:], 2, bits[n], lowest)
            if value < lowest:
                lowest = value
                core[n] = choice
        if core[n] < 0:
            resources(shape, ends, n, plane[n], -1, path)
            add(load, path, 2, -bits[n])
            plane[n] = -1
            stranded += 1
            continue
        resources(shape, ends, n, plane[n], core[n], path)
        add(load, path[2:], 2, bits[n])
    return stranded


@loop
def fill(
    order: Ints,
    shape: Shape,
    ends: Ends,
    bits: Floats,
    plane: Ints,
    core: Ints,
    load: Floats,
    capacity: Floats,
) -> int:
    """Place sub-flows one after the other where there is most room; return how many found none."""
    path = np.zeros(4, dtype=np.int64)
    found = np.zeros(2, dtype=np.int32)
    stranded = 0
    for n in order:
        value = best_choice(shape, ends, n, bits[n], load, capacity, path, np.inf, found)
        if value == np.inf:
            plane[n] = core[n] = -1
            stranded += 1
            continue
        plane[n], core[n] = found[0], found[1]
        hops = resources(shape, ends, n, plane[n], core[n], path)
        add(load, path, hops, bits[n])
    return stranded


@loop
def relieve(
    order: Ints,
    shape: Shape,
    ends: Ends,
    bits: Floats,
    plane: Ints,
    core: Ints,
    load: Floats,
    capacity: Floats,
    target: float,
    most_moves: int,
) -> int:
    """Move sub-flows off resources that are busier than ``target``; return how many moved.

    A move must leave its own resources less busy than the busiest of its old path was.
    """
    path = np.zeros(4, dtype=np.int64)
    found = np.zeros(2, dtype=np.int32)
    moves = 0
    while True:
        before = moves
        for n in order:
            if moves >= most_moves:
                return moves
            if plane[n] < 0:
                continue
            hops = resources(shape, ends, n, plane[n], core[n], path)
            now = utilisation(load, capacity, path, hops, 0.0, np.inf)
            if now <= target * (1.0 + _SLACK):
                continue
            add(load, path, hops, -bits[n])
            below = now * (1.0 - _SLACK)
            value = best_choice(shape, ends, n, bits[n], load, capacity, path, below, found)
            if value < below:
                plane[n], core[n] = found[0], found[1]
                moves += 1
            hops = resources(shape, ends, n, plane[n], core[n], path)
            add(load, path, hops, bits[n])
        if moves == before:
            return moves


def exercise(loops: ModuleType, few: Ints) -> None:
    """Call the loops that plans call, once."""
    shape: Any = (2, 1, 2, 1)
    ends = (few, few, few, few)
    bits, room = np.ones(2), np.ones(14)
    plane, core = np.zeros(2, dtype=np.int32), np.full(2, -1, dtype=np.int32)
    loops.spread(few, bits, np.arange(4), np.arange(3, dtype=np.int32), np.ones(3))
    loops.single_links(shape, ends, plane, core, few, few, np.zeros((2, 2), dtype=np.int32))
    loops.load_of(shape, ends, bits, plane, core, room.copy())
    loops.strand(shape, ends, bits, plane, core, room.copy(), room)
    loops.fill_cores(few[:0], shape, ends, bits, plane, core, room.copy(), room)
    loops.fill(few, shape, ends, bits, plane, core, room.copy(), room)
    loops.relieve(few, shape, ends, bits, plane, core, room.copy(), room, 1.0, 1)
