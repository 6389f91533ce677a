"""Equitable colouring of a bipartite multigraph: every node's edges spread evenly over colours.

An edge is a flow, its tail and head are the leaves (or pods) it leaves and enters, a colour is the
way it takes. Leaves that belong to a pod are balanced together with it where an edge says so.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from cluster.compiled import loop

Ints = NDArray[np.int32]
NONE = -1


@loop
def pair_up(edges: Ints, node: Ints, group: Ints, partner: Ints, last: Ints, last_of: Ints) -> None:
    """Pair each edge with the one before it at its node; who is left over, within the group.

    ``group`` is -1 for edges that no group balances. ``last`` and ``last_of`` hold -1 for every
    node and group, before and afterwards.
    """
    for e in edges:
        partner[e] = -1
        other = last[node[e]]
        if other < 0:
            last[node[e]] = e
        else:
            partner[e] = other
            partner[other] = e
            last[node[e]] = -1
    for e in edges:
        if last[node[e]] != e:
            continue
        last[node[e]] = -1
        if group[e] < 0:
            continue
        other = last_of[group[e]]
        if other < 0:
            last_of[group[e]] = e
        else:
            partner[e] = other
            partner[other] = e
            last_of[group[e]] = -1
    for e in edges:
        if group[e] >= 0:
            last_of[group[e]] = -1


@loop
def take_sides(edges: Ints, by_tail: Ints, by_head: Ints, side: Ints) -> None:
    """Give partners opposite sides: pairs at tails and at heads form paths and even cycles.

    An open path of an odd number of edges has one more on the side it begins with; these sides
    alternate, so that both sides get as many edges.
    """
    for e in edges:
        side[e] = -1
    surplus = 0
    for first in edges:
        if side[first] >= 0:
            continue
        begin = 1 if surplus > 0 else 0
        side[first] = begin
        count = 1 - 2 * begin
        for direction in range(2):
            e = first
            at_tail = direction == 0
            while True:
                other = by_tail[e] if at_tail else by_head[e]
                if other < 0 or side[other] >= 0:
                    break
                side[other] = 1 - side[e]
                count += 1 - 2 * side[other]
                e = other
                at_tail = not at_tail
        surplus += count


@loop
def halve(
    edges: Ints,
    tail: Ints,
    head: Ints,
    tail_group: Ints,
    head_group: Ints,
    room: tuple[Ints, Ints, Ints, Ints, Ints],
) -> None:
    """Split edges in two sides that differ by one at most at each node: an Euler split."""
    by_tail, by_head, side, last, last_of = room
    pair_up(edges, tail, tail_group, by_tail, last, last_of)
    pair_up(edges, head, head_group, by_head, last, last_of)
    take_sides(edges, by_tail, by_head, side)


@loop
def by_colour(edges: Ints, colour: Ints, colours: int, order: Ints) -> NDArray[np.int64]:
    """Sort edges by colour, in their order within one; return where each colour begins."""
    starts = np.zeros(colours + 1, dtype=np.int64)
    for e in edges:
        starts[colour[e] + 1] += 1
    for c in range(colours):
        starts[c + 1] += starts[c]
    place = starts.copy()
    for e in edges:
        order[place[colour[e]]] = e
        place[colour[e]] += 1
    return starts


@loop
def merge(first: Ints, second: Ints, into: Ints) -> None:
    """Merge two ascending runs of edges: larger flows come first, and stay first."""
    a, b = 0, 0
    for n in range(len(first) + len(second)):
        if b >= len(second) or (a < len(first) and first[a] < second[b]):
            into[n] = first[a]
            a += 1
        else:
            into[n] = second[b]
            b += 1


@loop
def halve_two(
    a: int,
    b: int,
    members: NDArray[np.int32],
    sizes: NDArray[np.int64],
    colour: Ints,
    buffer: Ints,
    tail: Ints,
    head: Ints,
    tail_group: Ints,
    head_group: Ints,
    room: tuple[Ints, Ints, Ints, Ints, Ints],
) -> None:
    """Halve the edges of two colours between them."""
    both = buffer[: sizes[a] + sizes[b]]
    merge(members[a, : sizes[a]], members[b, : sizes[b]], both)
    halve(both, tail, head, tail_group, head_group, room)
    side = room[2]
    sizes[a] = 0
    sizes[b] = 0
    for e in both:
        c = a if side[e] == 0 else b
        colour[e] = c
        members[c, sizes[c]] = e
        sizes[c] += 1


@loop
def even_out(
    edges: Ints,
    colour: Ints,
    colours: int,
    tail: Ints,
    head: Ints,
    tail_group: Ints,
    head_group: Ints,
    nodes: int,
    room: tuple[Ints, Ints, Ints, Ints, Ints],
) -> None:
    """Colour edges with any number of colours, by halving what two colours have together.

    A halving leaves every node's two colours as equal as they can be, so the sum of the squares of
    all counts never rises. In the first rounds every colour meets another; then each node that
    has two edges more of one colour than of another gets these two halved, which lowers the sum,
    until there is none.
    """
    following = np.zeros(nodes, dtype=np.int64)
    for e in edges:
        colour[e] = (following[tail[e]] + tail[e]) % colours
        following[tail[e]] += 1
    order = np.empty_like(edges)
    starts = by_colour(edges, colour, colours, order)
    members = np.empty((colours, 2 * (len(edges) // colours) + 2 * nodes + 2), dtype=np.int32)
    sizes = np.empty(colours, dtype=np.int64)
    for c in range(colours):
        sizes[c] = starts[c + 1] - starts[c]
        members[c, : sizes[c]] = order[starts[c] : starts[c + 1]]
    seats = colours + colours % 2
    rounds = 2
    while 2**rounds < colours:
        rounds += 1
    for r in range(min(rounds, seats - 1)):
        for seat in range(seats // 2):
            a = seats - 1 if seat == 0 else (r + seat) % (seats - 1)
            b = r % (seats - 1) if seat == 0 else (r - seat) % (seats - 1)
            if a < colours and b < colours:
                halve_two(
                    a, b, members, sizes, colour, order, tail, head, tail_group, head_group, room
                )
    counts = np.zeros((2, nodes, colours), dtype=np.int32)
    for e in edges:
        counts[0, tail[e], colour[e]] += 1
        counts[1, head[e], colour[e]] += 1
    settled = False
    while not settled:
        settled = True
        for end in range(2):
            for node in range(nodes):
                while True:
                    a = int(np.argmax(counts[end, node]))
                    b = int(np.argmin(counts[end, node]))
                    if counts[end, node, a] - counts[end, node, b] < 2:  # noqa: PLR2004
                        break
                    settled = False
                    for c in (a, b):
                        for e in members[c, : sizes[c]]:
                            counts[0, tail[e], c] -= 1
                            counts[1, head[e], c] -= 1
                    halve_two(
                        a,
                        b,
                        members,
                        sizes,
                        colour,
                        order,
                        tail,
                        head,
                        tail_group,
                        head_group,
                        room,
                    )
                    for c in (a, b):
                        for e in members[c, : sizes[c]]:
                            counts[0, tail[e], c] += 1
                            counts[1, head[e], c] += 1


def exercise(loops: ModuleType, few: Ints) -> None:
    """Call the loops that plans call, once."""
    room = tuple(few.copy() for _ in range(3)) + tuple(np.full(2, NONE, np.int32) for _ in range(2))
    colours, group = np.zeros(2, dtype=np.int32), np.full(2, NONE, dtype=np.int32)
    loops.even_out(few, colours, 3, few, few, group, group, 2, room)
