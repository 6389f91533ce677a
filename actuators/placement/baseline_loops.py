"""The loops of `actuators.placement.baselines`; see there."""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from cluster.compiled import loop

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Shape = tuple[int, int, int, int]  # leaves, pods, planes, cores
Ends = tuple[Ints, Ints, Ints, Ints]  # tail, head, tail's pod, head's pod; by sub-flow


@loop
def leads_on(shape: Shape, ends: Ends, n: int, plane: int, core: int, capacity: Floats) -> bool:
    """Tell whether the links between a plane's spines and a core work for a sub-flow."""
    leaves, pods, planes, cores = shape
    first = 2 * leaves * planes
    up = first + (ends[2][n] * planes + plane) * cores + core
    down = first + (pods + ends[3][n]) * planes * cores + plane * cores + core
    return bool(capacity[up] > 0.0 and capacity[down] > 0.0)


@loop
def cores_that_work(
    shape: Shape, ends: Ends, n: int, plane: int, capacity: Floats, into: Ints
) -> int:
    """Write the cores of a plane that lead to a sub-flow's target; return how many there are."""
    count = 0
    for core in range(shape[3]):
        if leads_on(shape, ends, n, plane, core, capacity):
            into[count] = core
            count += 1
    return count


@loop
def planes_that_work(
    shape: Shape, ends: Ends, n: int, capacity: Floats, cores: Ints, into: Ints
) -> int:
    """Write the planes that lead to a sub-flow's target; return how many there are."""
    leaves, planes = shape[0], shape[2]
    across = ends[2][n] != ends[3][n]
    count = 0
    for plane in range(planes):
        up, down = ends[0][n] * planes + plane, (leaves + ends[1][n]) * planes + plane
        if capacity[up] <= 0.0 or capacity[down] <= 0.0:
            continue
        if across and cores_that_work(shape, ends, n, plane, capacity, cores) == 0:
            continue
        into[count] = plane
        count += 1
    return count


@loop
def hash_paths(
    rows: Ints,
    shape: Shape,
    ends: Ends,
    capacity: Floats,
    hashes: NDArray[np.int64],
    plane: Ints,
    core: Ints,
) -> None:
    """Take for each sub-flow one of the ways that work, by the hash of leaf and spine."""
    planes, cores = np.zeros(shape[2], dtype=np.int32), np.zeros(shape[3], dtype=np.int32)
    is_whole = capacity.min() > 0.0
    for n in rows:
        if is_whole:
            plane[n] = hashes[0, n] % shape[2]
        else:
            count = planes_that_work(shape, ends, n, capacity, cores, planes)
            if count == 0:
                continue
            plane[n] = planes[hashes[0, n] % count]
        if ends[2][n] != ends[3][n]:
            count = cores_that_work(shape, ends, n, plane[n], capacity, cores)
            core[n] = cores[hashes[1, n] % count]


@loop
def least_loaded(choices: Ints, first: int, bits: float, load: Floats, capacity: Floats) -> int:
    """Return the choice whose link would be the least busy; the link of choice c is first + c."""
    best, lowest = choices[0], np.inf
    for choice in choices:
        share = (load[first + choice] + bits) / capacity[first + choice]
        if share < lowest:
            best, lowest = choice, share
    load[first + best] += bits
    return int(best)


@loop
def local_paths(
    rows: Ints, shape: Shape, ends: Ends, capacity: Floats, bits: Floats, plane: Ints, core: Ints
) -> None:
    """Take for each sub-flow the least busy link up of its leaf, then of its spine."""
    planes, cores = np.zeros(shape[2], dtype=np.int32), np.zeros(shape[3], dtype=np.int32)
    load = np.zeros(len(capacity))
    for n in rows:
        count = planes_that_work(shape, ends, n, capacity, cores, planes)
        if count == 0:
            continue
        first = ends[0][n] * shape[2]
        plane[n] = least_loaded(planes[:count], first, bits[n], load, capacity)
        if ends[2][n] == ends[3][n]:
            continue
        count = cores_that_work(shape, ends, n, plane[n], capacity, cores)
        first = 2 * shape[0] * shape[2] + (ends[2][n] * shape[2] + plane[n]) * shape[3]
        core[n] = least_loaded(cores[:count], first, bits[n], load, capacity)


def exercise(loops: ModuleType, few: Ints) -> None:
    """Call the loops that baselines call, once."""
    shape, ends = (2, 1, 2, 1), (few, few, few * 0, few * 0)
    room, ways = np.ones(12), (few * 0, few * 0 - 1)
    loops.hash_paths(few, shape, ends, room, np.zeros((2, 2), dtype=np.int64), *ways)
    loops.local_paths(few, shape, ends, room, np.ones(2), *ways)
