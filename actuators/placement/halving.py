"""Equitable colouring with a power of two of colours: edges are halved again and again.

As `colour`, but in linear time for each halving, and with what belongs together near in memory.

References
----------
H. N. Gabow, "Using Euler partitions to edge color bipartite multigraphs", International Journal of
Computer and Information Sciences 5 (1976), 345-355. R. Cole, K. Ost, S. Schirra, "Edge-coloring
bipartite multigraphs in O(E log D) time", Combinatorica 21 (2001), 5-12.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from cluster.compiled import loop

Ints = NDArray[np.int32]
NONE = -1


@loop
def pair_over(
    node: Ints, group: Ints, is_grouped: bool, partner: Ints, end: int, last: Ints, last_of: Ints
) -> None:
    """Pair what is left over at the nodes within its group."""
    for e in range(len(node)):
        if last[node[e]] != e:
            continue
        last[node[e]] = -1
        if not is_grouped or group[e] < 0:
            continue
        other = last_of[group[e]]
        if other < 0:
            last_of[group[e]] = e
        else:
            partner[2 * e + end] = other
            partner[2 * other + end] = e
            last_of[group[e]] = -1
    if is_grouped:
        for e in range(len(node)):
            if group[e] >= 0:
                last_of[group[e]] = -1


@loop
def pair_up(
    node: Ints, group: Ints, is_grouped: bool, partner: Ints, end: int, last: Ints, last_of: Ints
) -> None:
    """Pair each edge with the one before it at its node; who is left over, within the group.

    ``partner[2 * edge + end]`` is written. ``group`` is -1 for edges that no group balances;
    ``last`` and ``last_of`` hold -1 for every node and group, before and afterwards.
    """
    open_ends = 0
    for e in range(len(node)):
        # Chance decides whether there is a partner: no branch that could be guessed wrong.
        other = last[node[e]]
        is_open = other < 0
        partner[2 * (e if is_open else other) + end] = e
        partner[2 * e + end] = other
        last[node[e]] = e if is_open else -1
        open_ends += 1 if is_open else -1
    if open_ends > 0:
        pair_over(node, group, is_grouped, partner, end, last, last_of)


@loop
def walk(first: int, end: int, partner: Ints, side: NDArray[np.int8]) -> tuple[int, bool]:
    """Give the edges of a path alternate sides from its first on, beginning at one of its ends.

    Returns how many more are on side 0 than on side 1, the first left out, and whether the path
    came back to it.
    """
    e, own, count = first, int(side[first]), 0
    while True:
        other = partner[2 * e + end]
        if other < 0:
            return count, False
        if other == first:
            return count, True
        own = 1 - own
        side[other] = own
        count += 1 - 2 * own
        e = other
        end = 1 - end


@loop
def take_sides(partner: Ints, side: NDArray[np.int8]) -> int:
    """Give partners opposite sides: pairs at tails and at heads form paths and even cycles.

    An open path of an odd number of edges has one more on the side it begins with; these sides
    alternate, so that both sides get as many edges. Returns how many are on side 0.
    """
    side[:] = -1
    surplus = 0
    for first in range(len(side)):
        if side[first] >= 0:
            continue
        begin = 1 if surplus > 0 else 0
        side[first] = begin
        count, is_cycle = walk(first, 0, partner, side)
        if not is_cycle:
            surplus += walk(first, 1, partner, side)[0]
        surplus += count + 1 - 2 * begin
    return (len(side) + surplus) // 2


@loop
def part_ways(column: Ints, spare: Ints, side: NDArray[np.int8], zeros: int) -> None:
    """Put what is on side 0 before what is on side 1, in their order."""
    low, high = 0, zeros
    for e in range(len(column)):
        if side[e] == 0:
            spare[low] = column[e]
            low += 1
        else:
            spare[high] = column[e]
            high += 1
    column[:] = spare[: len(column)]


@loop
def halve_down(
    edges: Ints,
    colour: Ints,
    levels: int,
    tail: Ints,
    head: Ints,
    tail_group: Ints,
    head_group: Ints,
    room: tuple[Ints, Ints],
) -> None:
    """Colour edges with 2 ** levels colours by halving again and again.

    What an edge is goes along with it, so that the edges of a half lie together in memory.
    """
    count = len(edges)
    last, last_of = room
    which, spare, partner = edges.copy(), np.empty_like(edges), np.empty(2 * count, dtype=np.int32)
    tails, heads, side = tail[edges], head[edges], np.empty(count, dtype=np.int8)
    tail_groups, head_groups = tail_group[edges], head_group[edges]
    is_grouped = count > 0 and max(tail_groups.max(), head_groups.max()) >= 0
    starts = np.array([0, count])
    for _ in range(levels):
        following = np.zeros(2 * len(starts) - 1, dtype=np.int64)
        for part in range(len(starts) - 1):
            begin, end = starts[part], starts[part + 1]
            ways, sides = partner[: 2 * (end - begin)], side[: end - begin]
            columns = (tails[begin:end], heads[begin:end])
            groups = (tail_groups[begin:end], head_groups[begin:end])
            pair_up(columns[0], groups[0], is_grouped, ways, 0, last, last_of)
            pair_up(columns[1], groups[1], is_grouped, ways, 1, last, last_of)
            zeros = take_sides(ways, sides)
            part_ways(which[begin:end], spare, sides, zeros)
            part_ways(columns[0], spare, sides, zeros)
            part_ways(columns[1], spare, sides, zeros)
            if is_grouped:
                part_ways(groups[0], spare, sides, zeros)
                part_ways(groups[1], spare, sides, zeros)
            following[2 * part + 1] = begin + zeros
            following[2 * part + 2] = end
        starts = following
    for part in range(len(starts) - 1):
        for place in range(starts[part], starts[part + 1]):
            colour[which[place]] = part


@loop
def halve_each(
    starts: NDArray[np.int64],
    colour: Ints,
    levels: int,
    tail: Ints,
    head: Ints,
    none: Ints,
    room: tuple[Ints, Ints],
) -> None:
    """Colour several graphs, the edges of each together, with 2 ** levels colours."""
    edges = np.arange(len(tail)).astype(np.int32)
    for part in range(len(starts) - 1):
        own = edges[starts[part] : starts[part + 1]]
        halve_down(own, colour, levels, tail, head, none, none, room)


def exercise(loops: ModuleType, few: Ints) -> None:
    """Call the loops that plans call, once."""
    room = tuple(np.full(2, NONE, dtype=np.int32) for _ in range(2))
    colours, group = np.zeros(2, dtype=np.int32), np.full(2, NONE, dtype=np.int32)
    loops.halve_down(few, colours, 1, few, few, group, group, room)
    loops.halve_each(np.array([0, 2]), colours, 1, few, few, group, room)
