"""Every node's edges are spread evenly over colours, whatever the graph and the colours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actuators.placement import colour, halving
from cluster.compiled import compiled

EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=60)


def coloured(edges, colours, groups=None, *, module_of=lambda module: module):
    tail, head = (np.array(end, dtype=np.int32) for end in zip(*edges, strict=True))
    count = len(edges)
    none = np.full(count, -1, dtype=np.int32)
    of_tail, of_head = (none, none) if groups is None else groups
    last = tuple(np.full(5, -1, dtype=np.int32) for _ in range(2))
    found, rows = np.zeros(count, dtype=np.int32), np.arange(count, dtype=np.int32)
    levels = colours.bit_length() - 1
    ends = (tail, head, of_tail, of_head)
    if 1 << levels == colours:
        module_of(halving).halve_down(rows, found, levels, *ends, last)
    else:
        room = (*(np.empty(count, dtype=np.int32) for _ in range(3)), *last)
        module_of(colour).even_out(rows, found, colours, *ends, 5, room)
    assert all((left == -1).all() for left in last)
    return tail, head, found


def unevenness(node, found, colours):
    counts = np.zeros((5, colours), dtype=int)
    np.add.at(counts, (node, found), 1)
    return int((counts.max(axis=1) - counts.min(axis=1)).max())


@given(edges=EDGES.filter(bool), colours=st.integers(1, 9))
def test_no_node_has_two_edges_more_of_one_colour_than_of_another(edges, colours):
    tail, head, found = coloured(edges, colours)
    assert set(found.tolist()) <= set(range(colours))
    assert unevenness(tail, found, colours) <= 1
    assert unevenness(head, found, colours) <= 1


@settings(deadline=None)  # the first of them waits for the machine code
@given(edges=EDGES.filter(bool), colours=st.integers(1, 9))
def test_compiled_loops_colour_as_plain_ones(edges, colours):
    made = coloured(edges, colours, module_of=lambda module: compiled(module.__name__))
    assert made[2].tolist() == coloured(edges, colours)[2].tolist()


@pytest.mark.parametrize("colours", [2, 4])
def test_what_is_left_over_at_leaves_is_halved_within_their_group(colours):
    """Four nodes with one edge each, all of one group: no colour gets more than its share."""
    edges = [(n, 4) for n in range(4)]
    groups = (np.zeros(4, dtype=np.int32), np.full(4, -1, dtype=np.int32))
    _, _, found = coloured(edges, colours, groups)
    assert np.bincount(found, minlength=colours).tolist() == [4 // colours] * colours
