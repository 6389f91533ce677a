"""Ejection chains: one sub-flow takes a full place, what it pushes out takes another, and so on.

Where no single move helps, the shortest chain is looked for breadth first over all colours. Between
two colours it is the alternating chain by which Koenig proved his theorem. A colour is a plane, or
a core of a plane; a sub-flow of colour c loads the slot ``base + c`` of each node that it passes.

References
----------
D. Koenig, "Ueber Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre",
Mathematische Annalen 77 (1916), 453-465. F. Glover, "Ejection chains, reference structures and
alternating path methods for traveling salesman problems", Discrete Applied Mathematics 65 (1996),
223-253.
"""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from cluster.compiled import loop

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
# By sub-flow: -1 = stays where it is, 0 = moves for nothing, 1 = its move is counted.
Costs = NDArray[np.int8]
# Sub-flows: the base of each node, shape (subflows, hops), -1 = none; bits; colour, -1 = none.
Edges = tuple[Ints, Floats, Ints]
# Slots: load; the most it may be; and, as lists, the first entry of a slot, the one after and the
# one before an entry. Entry ``hops * n + hop`` is sub-flow n at a hop.
Slots = tuple[Floats, Floats, Ints, Ints, Ints]
# Queued sub-flows, for whom each makes room, how many come before, and the colour that one takes;
# and for whom a sub-flow was last looked at.
Queue = tuple[Ints, Ints, Ints, Ints, Ints]
# How many colours there are, how long a chain may be, the dearest cost of a sub-flow that it may
# move, and what it may cost in all.
Limits = tuple[int, int, int, int]


@loop
def take_out(n: int, edges: Edges, slots: Slots) -> None:
    """Take a sub-flow out of its slots."""
    base, bits, colour = edges
    load, _, first, after, before = slots
    hops = base.shape[1]
    for hop in range(hops if colour[n] >= 0 else 0):
        if base[n, hop] < 0:
            continue
        slot, entry = base[n, hop] + colour[n], hops * n + hop
        load[slot] -= bits[n]
        if before[entry] >= 0:
            after[before[entry]] = after[entry]
        else:
            first[slot] = after[entry]
        if after[entry] >= 0:
            before[after[entry]] = before[entry]
    colour[n] = -1


@loop
def put(n: int, to: int, edges: Edges, slots: Slots) -> None:
    """Give a sub-flow that has no colour one, or none."""
    base, bits, colour = edges
    load, _, first, after, before = slots
    hops = base.shape[1]
    colour[n] = to
    for hop in range(hops if to >= 0 else 0):
        if base[n, hop] < 0:
            continue
        slot, entry = base[n, hop] + to, hops * n + hop
        load[slot] += bits[n]
        after[entry] = first[slot]
        before[entry] = -1
        if first[slot] >= 0:
            before[first[slot]] = entry
        first[slot] = entry


@loop
def enlist(edges: Edges, slots: Slots) -> None:
    """Put all sub-flows that have a colour on the lists of their slots."""
    colour = edges[2]
    slots[0][:] = 0.0
    slots[2][:] = -1
    for n in range(len(colour)):
        put(n, colour[n], edges, slots)


@loop
def is_crowded(n: int, edges: Edges, slots: Slots) -> bool:
    """Tell whether a sub-flow is in a slot that carries too much, or in none."""
    base, _, colour = edges
    load, most, _, _, _ = slots
    if colour[n] < 0:
        return True
    for hop in range(base.shape[1]):
        slot = base[n, hop] + colour[n]
        if base[n, hop] >= 0 and load[slot] > most[slot]:
            return True
    return False


@loop
def room_at(n: int, hop: int, to: int, ahead: int, edges: Edges, slots: Slots) -> float:
    """Return what a slot has left for a sub-flow when it and the one ``ahead`` have left theirs."""
    base, bits, colour = edges
    load, most, _, _, _ = slots
    slot = base[n, hop] + to
    left = most[slot] - load[slot]
    if colour[n] == to:
        left += bits[n]
    if ahead >= 0 and base[ahead, hop] == base[n, hop] and colour[ahead] == to:
        left += bits[ahead]
    return float(left)


@loop
def blocked(n: int, to: int, ahead: int, edges: Edges, slots: Slots) -> int:
    """Return the one hop without room; -1 = all have, -2 = several lack it, or one for good."""
    base, bits, _ = edges
    found = -1
    for hop in range(base.shape[1]):
        if base[n, hop] < 0 or room_at(n, hop, to, ahead, edges, slots) >= bits[n]:
            continue
        if found >= 0 or slots[1][base[n, hop] + to] < bits[n]:
            return -2
        found = hop
    return found


@loop
def push_members(
    place: int,
    to: int,
    hop: int,
    count: int,
    limits: Limits,
    costs: Costs,
    edges: Edges,
    slots: Slots,
    queue: Queue,
) -> int:
    """Queue the sub-flows of a slot that make enough room when they leave it."""
    base, bits, _ = edges
    flow, parent, depth, colour_ahead, seen = queue
    n = flow[place]
    ahead = flow[parent[place]] if parent[place] >= 0 else -1
    missing = bits[n] - room_at(n, hop, to, ahead, edges, slots)
    entry = slots[2][base[n, hop] + to]
    while entry >= 0 and count < len(flow):
        other = entry // base.shape[1]
        entry = slots[3][entry]
        if seen[other] == flow[0] or bits[other] < missing:
            continue
        if costs[other] < 0 or costs[other] > limits[2]:
            continue
        seen[other] = flow[0]
        flow[count] = other
        parent[count] = place
        depth[count] = depth[place] + 1
        colour_ahead[count] = to
        count += 1
    return count


@loop
def cost_of(place: int, costs: Costs, queue: Queue) -> int:
    """Return what moving a chain costs."""
    total = 0
    while place >= 0:
        total += max(costs[queue[0][place]], 0)
        place = queue[1][place]
    return int(total)


@loop
def carry_out(place: int, to: int, edges: Edges, slots: Slots, queue: Queue) -> bool:
    """Move a chain, the last of it first; when a slot gets too much of it, all moves back."""
    flow, parent, depth, colour_ahead, _ = queue
    count = depth[place] + 1
    who, old = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    for k in range(count):
        n = flow[place]
        who[k], old[k] = n, edges[2][n]
        take_out(n, edges, slots)
        put(n, to, edges, slots)
        to = colour_ahead[place]
        place = parent[place]
    for n in who:
        if is_crowded(n, edges, slots):
            for k in range(count):
                take_out(who[k], edges, slots)
                put(who[k], old[k], edges, slots)
            return False
    return True


@loop
def expand(
    place: int,
    count: int,
    limits: Limits,
    costs: Costs,
    edges: Edges,
    slots: Slots,
    queue: Queue,
) -> int:
    """Try every colour of a queued sub-flow; return how many are queued then.

    When a chain was moved that cost k, -1 - k is returned.
    """
    flow, parent, depth, _, _ = queue
    n = flow[place]
    ahead = flow[parent[place]] if parent[place] >= 0 else -1
    colours = limits[0]
    begin = (edges[0][n, 0] + edges[0][n, 1]) // colours
    for turn in range(colours):
        to = (begin + turn) % colours
        if to == edges[2][n]:
            continue
        hop = blocked(n, to, ahead, edges, slots)
        if hop == -1:
            cost = cost_of(place, costs, queue)
            if cost <= limits[3] and carry_out(place, to, edges, slots, queue):
                return -1 - cost
        elif hop >= 0 and depth[place] < limits[1]:
            count = push_members(place, to, hop, count, limits, costs, edges, slots, queue)
    return count


@loop
def find_chain(
    root: int, limits: Limits, costs: Costs, edges: Edges, slots: Slots, queue: Queue
) -> int:
    """Give a sub-flow that has no colour one, with the shortest chain.

    Returns how many sub-flows were looked at in vain; -1 - k when a chain was moved that cost k.
    """
    flow, parent, depth, colour_ahead, seen = queue
    flow[0], parent[0], depth[0], colour_ahead[0] = root, -1, 0, -1
    seen[root] = root
    count, place = 1, 0
    while place < count:
        count = expand(place, count, limits, costs, edges, slots, queue)
        if count < 0:
            return count
        place += 1
    return place


@loop
def unload(
    order: Ints,
    limits: Limits,
    costs: Costs,
    edges: Edges,
    slots: Slots,
    queue: Queue,
    most_looks: int,
) -> int:
    """Find chains for sub-flows in slots that carry too much; return what all of them cost.

    Ends when ``most_looks`` sub-flows were looked at in vain.
    """
    colours, deepest, dearest, left = limits
    queue[4][:] = -1
    for n in order:
        if most_looks <= 0:
            break
        if costs[n] > min(dearest, left) or not is_crowded(n, edges, slots):
            continue
        old = edges[2][n]
        take_out(n, edges, slots)
        now = (colours, deepest, dearest, left)
        looked = find_chain(n, now, costs, edges, slots, queue)
        if looked < 0:
            left += 1 + looked
            continue
        put(n, old, edges, slots)
        most_looks -= looked
    return limits[3] - left


def exercise(loops: ModuleType, few: Ints) -> None:
    """Call the loops that plans call, once; two sub-flows, two colours."""
    base = np.zeros((2, 2), dtype=np.int32)
    edges = (base, np.ones(2), few * 0)
    lists = (few.copy(), np.zeros(4, dtype=np.int32), np.zeros(4, dtype=np.int32))
    slots = (np.zeros(2), np.ones(2), *lists)
    queue = tuple(np.zeros(2, dtype=np.int32) for _ in range(5))
    loops.enlist(edges, slots)
    loops.unload(few, (2, 2, 1, 1), np.zeros(2, dtype=np.int8), edges, slots, queue, 1)
