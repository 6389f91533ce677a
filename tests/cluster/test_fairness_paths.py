"""Max-min fair rates over paths: the same as by the matrix of usage, compiled or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster import fairness_loops, fairness_paths
from cluster.compiled import compiled
from cluster.fabric import leaf_spine
from cluster.fairness import max_min_rates
from cluster.fairness_paths import path_rates, placed_rates
from cluster.flows import Flows

_LINKS = 6


@st.composite
def _cases(draw):
    count = draw(st.integers(0, 12))
    hops = st.lists(st.integers(0, _LINKS - 1), unique=True, max_size=3)
    path = np.full((count, 3), -1, dtype=np.int32)
    for row in path:
        used = draw(hops)
        row[: len(used)] = used
    capacity = draw(st.lists(st.sampled_from([0.0, 0.7, 1.0, 4.0]), min_size=6, max_size=6))
    demand = draw(
        st.lists(st.sampled_from([0.0, 0.25, 1.0, np.inf]), min_size=count, max_size=count)
    )
    return path, np.array(capacity), np.array(demand)


def _usage(path):
    usage = np.zeros((len(path), _LINKS))
    for row, hops in zip(usage, path, strict=True):
        row[hops[hops >= 0]] = 1.0
    return usage


@given(case=_cases())
def test_rates_equal_those_of_the_matrix(case):
    path, capacity, demand = case
    by_matrix = max_min_rates(_usage(path), capacity, demand)
    np.testing.assert_allclose(path_rates(path, capacity, demand), by_matrix, atol=1e-9)


def _random_case(flows, links, seed):
    rng = np.random.default_rng(seed)
    path = np.stack([rng.permuted(np.arange(links))[:4] for _ in range(flows)]).astype(np.int32)
    path[rng.random(path.shape) < 0.2] = -1
    return path, rng.choice([0.0, 5.0, 9.0, 20.0], links), rng.choice([0.1, 1.0, np.inf], flows)


@pytest.mark.parametrize("seed", range(4))
def test_compiled_and_plain_loops_give_the_same_rates(seed, monkeypatch):
    pytest.importorskip("numba")
    case = _random_case(300, 40, seed)
    monkeypatch.setattr(fairness_paths, "_loops", lambda _: fairness_loops)
    plain = path_rates(*case)
    made = compiled(fairness_loops.__name__)
    monkeypatch.setattr(fairness_paths, "_loops", lambda _: made)
    assert path_rates(*case).tolist() == plain.tolist()


def test_many_flows_share_what_they_have_in_common():
    path = np.zeros((5_000, 1), dtype=np.int32)
    rates = path_rates(path, np.array([10.0]), np.ones(5_000))
    np.testing.assert_allclose(rates, 0.002)


def test_every_loop_can_be_exercised():
    fairness_loops.exercise(fairness_loops)


def test_the_nics_at_both_ends_limit_a_flow_too():
    fabric = leaf_spine(leaves=2, spines=1, endpoints=2, uplink_bits_per_second=10.0)
    flows = Flows.of([0, 0, 1], [2, 3, 1], [1.0, 1.0, 3.0])
    rates = placed_rates(
        fabric,
        flows,
        flow=np.arange(3, dtype=np.int32),
        bits_per_second=flows.bits_per_second,
        links=np.array([[0, 3], [0, 3], [-1, -1]], dtype=np.int32),
        stranded=np.array([False, True, False]),
    )
    assert rates.tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("path", "capacity", "demand", "words"),
    [
        ([[3]], [1.0], [1.0], "none of the 1"),
        ([[-2]], [1.0], [1.0], "none of the 1"),
        ([[0]], [-1.0], [1.0], "negative or not a number"),
        ([[0]], [1.0], [np.nan], "negative or not a number"),
        ([[0]], [1.0], [1.0, 2.0], "demands of shape"),
    ],
)
def test_what_makes_no_sense_is_refused(path, capacity, demand, words):
    with pytest.raises(ValueError, match=words):
        path_rates(np.array(path, dtype=np.int32), np.array(capacity), np.array(demand))
