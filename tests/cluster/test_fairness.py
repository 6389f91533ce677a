"""Max-min fairness: no flow can gain without a slower one losing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cluster.fairness import max_min_rates


def test_flows_of_one_link_share_it():
    rates = max_min_rates(np.ones((4, 1)), np.array([8.0]))
    assert rates.tolist() == [2.0, 2.0, 2.0, 2.0]


def test_who_is_held_elsewhere_leaves_room():
    usage = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert max_min_rates(usage, np.array([10.0, 2.0])).tolist() == [9.0, 1.0, 1.0]


def test_a_split_flow_runs_as_its_slowest_share():
    usage = np.array([[0.25, 0.25, 0.25, 0.25]])
    assert max_min_rates(usage, np.array([10.0, 10.0, 2.0, 10.0])).tolist() == [8.0]


def test_a_flow_takes_no_more_than_it_asks_for():
    rates = max_min_rates(np.ones((2, 1)), np.array([10.0]), np.array([1.0, np.inf]))
    assert rates.tolist() == [1.0, 9.0]


def test_a_dead_link_stops_its_flows_only():
    rates = max_min_rates(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 3.0]))
    assert rates.tolist() == [0.0, 3.0]


def test_no_flows_no_rates():
    assert max_min_rates(np.zeros((0, 3)), np.ones(3)).tolist() == []


_USAGE = arrays.arrays(np.float64, (5, 4), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
_CAPACITY = arrays.arrays(np.float64, 4, elements=st.floats(0.0, 1e3))


@given(usage=_USAGE, capacity=_CAPACITY)
def test_no_link_is_overloaded_and_every_flow_has_a_full_link(usage, capacity):
    rates = max_min_rates(usage, capacity)
    load = rates @ usage
    assert (load <= capacity + 1e-6).all()
    full = load >= capacity - 1e-6
    for flow, rate in enumerate(rates):
        used = usage[flow] > 0.0
        if used.any():
            # A bottleneck: full, and nobody on it is faster.
            slowest = [
                rate >= rates[usage[:, link] > 0.0].max() - 1e-6
                for link in np.flatnonzero(used & full)
            ]
            assert any(slowest)
