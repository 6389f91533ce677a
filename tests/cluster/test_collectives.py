"""Exactly who sends what to whom, by kind and algorithm."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.collectives import KINDS, Collective, sends


def sent(kind: str, algorithm: str = "", *, ranks: int, **more) -> dict[tuple[int, int], float]:
    """Return bytes by (sender, receiver) of a collective of 12 bytes."""
    collective = Collective(kind=kind, algorithm=algorithm, bytes=12.0, **more)
    told = sends(collective, tuple(range(ranks)))
    total: Counter[tuple[int, int]] = Counter()
    for source, target, size in zip(*told, strict=True):
        total[int(source), int(target)] += float(size)
    return dict(total)


RING = {(0, 1): 12.0, (1, 2): 12.0, (2, 3): 12.0, (3, 0): 12.0}
EVERYBODY = {(a, b): 4.0 for a in range(4) for b in range(4) if a != b}


@pytest.mark.parametrize(
    ("kind", "algorithm", "expected"),
    [
        ("all_reduce", "", RING),
        ("all_gather", "ring", RING),
        ("reduce_scatter", "ring", RING),
        ("all_reduce", "direct", EVERYBODY),
        ("all_gather", "direct", EVERYBODY),
        ("reduce_scatter", "direct", EVERYBODY),
        ("all_to_all", "", EVERYBODY),
        ("broadcast", "", {(0, 1): 12.0, (1, 2): 12.0, (2, 3): 12.0}),
        ("broadcast", "tree", {(0, 2): 12.0, (2, 1): 12.0, (2, 3): 12.0}),
        ("send_recv", "", {(0, 1): 12.0, (1, 2): 12.0, (2, 3): 12.0}),
        (
            "send_recv",
            "pipeline",
            {
                (0, 1): 12.0,
                (1, 2): 12.0,
                (2, 3): 12.0,
                (1, 0): 12.0,
                (2, 1): 12.0,
                (3, 2): 12.0,
            },
        ),
        # Trees 0-2-{1, 3} and its mirror 3-1-{2, 0}, a quarter of 4 x 12 bytes over 3 edges each.
        (
            "all_reduce",
            "tree",
            {
                (0, 2): 4.0,
                (2, 0): 4.0,
                (2, 1): 8.0,
                (1, 2): 8.0,
                (2, 3): 4.0,
                (3, 2): 4.0,
                (3, 1): 4.0,
                (1, 3): 4.0,
                (1, 0): 4.0,
                (0, 1): 4.0,
            },
        ),
    ],
)
def test_four_ranks_send_exactly(kind, algorithm, expected):
    assert sent(kind, algorithm, ranks=4) == pytest.approx(expected)


def test_workers_push_a_share_to_each_server_and_pull_as_much():
    assert sent("parameter_server", ranks=4, servers=(0, 2)) == {
        (1, 0): 6.0,
        (1, 2): 6.0,
        (3, 0): 6.0,
        (3, 2): 6.0,
        (0, 1): 6.0,
        (2, 1): 6.0,
        (0, 3): 6.0,
        (2, 3): 6.0,
    }


@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [(k, a) for k, algorithms in KINDS.items() for a in algorithms if k != "parameter_server"],
)
def test_a_rank_alone_sends_nothing(kind, algorithm):
    assert sent(kind, algorithm, ranks=1) == {}


@given(st.integers(2, 300))
def test_a_double_tree_carries_a_rings_bytes_and_no_rank_is_inner_in_both(ranks):
    told = sends(Collective(kind="all_reduce", algorithm="tree", bytes=1.0), tuple(range(ranks)))
    assert told.bytes.sum() == pytest.approx(ranks)
    down = len(told.source) // 2
    trees = (slice(0, ranks - 1), slice(ranks - 1, down))
    for tree in trees:
        children = told.target[:down][tree].tolist()
        assert len(set(children)) == ranks - 1  # each but the root has one parent
    inner = [set(told.source[:down][tree].tolist()) for tree in trees]
    # Only roots may do both jobs: they have one child.
    assert len(inner[0] & inner[1]) <= 2
    assert np.bincount(told.source[:down]).max() <= 4


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        (
            {"kind": "gossip"},
            "collective kind is 'gossip', not one of ['all_gather', 'all_reduce', 'all_to_all', "
            "'broadcast', 'parameter_server', 'reduce_scatter', 'send_recv']",
        ),
        (
            {"kind": "all_to_all", "algorithm": "ring"},
            "collective 'all_to_all': algorithm is 'ring', not one of ['direct']",
        ),
        (
            {"kind": "all_reduce", "ranks": (0, 9)},
            "collective 'all_reduce' names ranks [9] that are not announced",
        ),
        ({"kind": "all_reduce", "ranks": (1, 1)}, "collective 'all_reduce' names a rank twice"),
        ({"kind": "all_reduce", "bytes": -1.0}, "collective 'all_reduce': bytes is -1.0"),
        (
            {"kind": "all_reduce", "duration_seconds": float("nan")},
            "collective 'all_reduce': duration_seconds is nan",
        ),
        (
            {"kind": "all_reduce", "period_seconds": 1.0, "phase_seconds": 1.0},
            "collective 'all_reduce': phase_seconds is 1, not within the period of 1",
        ),
        (
            {"kind": "all_reduce", "servers": (0,)},
            "collective 'all_reduce' has servers, only parameter_server may",
        ),
        (
            {"kind": "parameter_server"},
            "collective 'parameter_server' needs servers, and workers beside them",
        ),
        (
            {"kind": "parameter_server", "servers": (0, 1, 2, 3)},
            "collective 'parameter_server' needs servers, and workers beside them",
        ),
        (
            {"kind": "parameter_server", "servers": (0,), "ranks": (1, 2)},
            "collective 'parameter_server' names servers [0] that are not its ranks",
        ),
    ],
)
def test_what_cannot_be_used_is_told(fields, fault):
    collective = Collective(**({"bytes": 1.0} | fields))
    assert list(collective.faults(range(4))) == [fault]
