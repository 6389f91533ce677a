import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuators.steering.classes import PortClasses
from actuators.steering.counters import expected_shifts, followed, is_silent, ways_of
from actuators.steering.idle import Beat, all_idle_at, beat_of
from actuators.steering.plan import change_set
from actuators.steering.weights import weights_for
from tests.actuators.steering.sites import INTERFACES, TARGET, Rung, assignment, flow, means, site

A, B, C, D = INTERFACES


@pytest.mark.parametrize(
    ("now_ns", "expected"), [(100, 140), (139, 140), (140, 140), (180, 180), (181, 240), (200, 240)]
)
def test_job_is_idle_behind_its_busy_time_while_enough_of_the_period_is_left(now_ns, expected):
    beat = Beat(start_ns=100, period_ns=100, busy_ns=40)
    assert beat.idle_at(now_ns, need_ns=20) == expected


def test_job_that_is_never_idle_long_enough_says_so():
    assert Beat(start_ns=0, period_ns=100, busy_ns=90).idle_at(5, need_ns=11) is None


@given(
    st.integers(-(10**12), 10**12),
    st.integers(1, 10**9),
    st.floats(0, 1),
    st.integers(-(10**12), 10**12),
    st.floats(0, 1),
)
def test_told_time_is_idle_not_before_now_and_within_two_periods(start, period, share, now, need):
    busy = int(period * share)
    need_ns = int((period - busy) * need)
    beat = Beat(start_ns=start, period_ns=period, busy_ns=busy)
    at = beat.idle_at(now, need_ns=need_ns)
    assert now <= at <= now + 2 * period
    into = (at - start) % period
    assert busy <= into or busy == period
    assert into + need_ns <= period


@pytest.mark.parametrize("numbers", [(0, 0), (10, 11), (10, -1)])
def test_impossible_beat_is_refused(numbers):
    with pytest.raises(ValueError, match="busy"):
        Beat(start_ns=0, period_ns=numbers[0], busy_ns=numbers[1])


def test_beat_covers_all_communications_of_a_period_by_the_shortest_stretch():
    beat = beat_of(began_ns=1000, period_seconds=1.0, talks=[(0.9, 0.05), (0.1, 0.1), (0.0, 0.05)])
    assert beat == Beat(start_ns=1000 + 900_000_000, period_ns=10**9, busy_ns=300_000_000)


def test_job_that_communicates_all_the_time_has_no_idle_phase():
    beat = beat_of(began_ns=0, period_seconds=1.0, talks=[(0.2, 1.5)])
    assert beat.busy_ns == beat.period_ns
    assert beat.idle_at(5, need_ns=1) is None


@pytest.mark.parametrize("told", [{"talks": []}, {"period_seconds": 0.0}])
def test_beat_of_nothing_is_refused(told):
    with pytest.raises(ValueError, match="communications"):
        beat_of(**{"began_ns": 0, "period_seconds": 1.0, "talks": [(0.0, 0.1)], **told})


def test_time_at_which_all_are_idle_is_found():
    beats = [
        Beat(start_ns=0, period_ns=100, busy_ns=50),
        Beat(start_ns=40, period_ns=70, busy_ns=30),
    ]
    at = all_idle_at(beats, 0, need_ns=10, horizon_ns=1000)
    assert [beat.idle_at(at, need_ns=10) for beat in beats] == [at, at]
    assert all_idle_at([], 7, need_ns=10, horizon_ns=0) == 7


def test_jobs_that_are_never_idle_together_say_so():
    beats = [
        Beat(start_ns=0, period_ns=100, busy_ns=50),
        Beat(start_ns=50, period_ns=100, busy_ns=50),
    ]
    assert all_idle_at(beats, 0, need_ns=1, horizon_ns=10_000) is None


def shifts(old, new, flows=None, *, job=False):
    told = flows or [flow(n) for n in range(1, len(old) + 1)]
    planned = change_set(
        assignment(old, told), assignment(new, told), means(Rung.POLICY_RULES, job=job)
    )
    ways = ways_of(told, [site()], PortClasses())
    return {
        port[1]: (shift.bits_per_second, shift.sign, shift.least)
        for port, shift in expected_shifts(planned.changes, ways).items()
    }


def test_old_ports_are_expected_to_send_less_and_new_ones_more():
    assert shifts([A, A, B], [B, C, B]) == {
        A: (-2e9, -1, 0.0),
        B: (1e9, 1, 1e9),
        C: (1e9, 1, 1e9),
    }


def test_swap_of_equals_cannot_be_told():
    assert shifts([A, B], [B, A]) == {A: (0.0, 0, 1e9), B: (0.0, 0, 1e9)}


def test_moves_by_source_port_are_expected_like_others():
    flows = [flow(1, source_port=49152)]
    assert shifts([A], [D], flows, job=True) == {A: (-1e9, -1, 0.0), D: (1e9, 1, 1e9)}


def test_flow_of_unknown_rate_tells_only_the_direction():
    told = shifts([A], [B], [flow(1, bits_per_second=0.0)])
    assert [(math.isnan(rate), sign, least) for rate, sign, least in told.values()] == [
        (True, -1, 0.0),
        (True, 1, 0.0),
    ]


def test_flow_that_was_hashed_says_what_its_port_carries_afterwards_at_least():
    assert shifts([None, A], [B, B]) == {B: (1e9, 1, 2e9), A: (-1e9, -1, 0.0)}
    assert shifts([None], [B]) == {B: (0, 0, 1e9)}


def test_flow_that_may_stay_where_it_was_takes_a_ports_word_away():
    assert shifts([A, B], [None, A])[A] == (1e9, 0, 1e9)


def seen(expected_of, before, after):
    planned = change_set(assignment([A, A]), assignment([B, B]), means(Rung.POLICY_RULES))
    flows = [flow(n, bits_per_second=expected_of) for n in (1, 2)]
    expected = expected_shifts(planned.changes, ways_of(flows, [site()], PortClasses()))
    told = followed(
        expected,
        {(TARGET, port): rate for port, rate in before.items()},
        {(TARGET, port): rate for port, rate in after.items()},
    )
    return {one.port[1]: one.is_seen for one in told}


def test_packets_that_followed_are_seen_and_others_are_not():
    before = {A: 2e9, B: 0.0}
    assert seen(1e9, before, {A: 0.1e9, B: 1.9e9}) == {A: True, B: True}
    assert seen(1e9, before, {A: 2e9, B: 0.0}) == {A: False, B: False}


def test_flows_of_unknown_rate_are_seen_on_a_port_that_was_empty():
    assert seen(0.0, {A: 2e9, B: 0.0}, {A: 1e9, B: 1e9}) == {B: True}
    assert seen(0.0, {A: 2e9, B: 0.0}, {A: 2e9, B: 0.0}) == {B: False}


def test_change_small_beside_the_load_cannot_tell():
    assert seen(1e9, {A: 50e9, B: 50e9}, {A: 49e9, B: 51e9}) == {B: True}
    assert seen(0.0, {A: 50e9, B: 50e9}, {A: 49e9, B: 51e9}) == {}


def test_port_that_sent_nothing_cannot_tell_that_something_went():
    assert seen(1e9, {A: 0.0, B: 0.0}, {A: 0.0, B: 2e9}) == {B: True}


def test_silence_tells_nothing():
    a, b = (TARGET, A), (TARGET, B)
    assert is_silent({a: 0.0, b: 0.0}, {a: 0.0, b: 0.0})
    assert is_silent({a: 5e9, b: 0.0}, {a: 0.1e9, b: 0.0})
    assert not is_silent({a: 5e9, b: 0.0}, {a: 0.0, b: 5e9})


def test_weights_are_the_smallest_that_say_the_loads():
    assert weights_for({"a": 2e9, "b": 1e9, "c": 0.0}, total=64) == {"a": 43, "b": 21, "c": 0}
    assert weights_for({"a": 5.0, "b": 5.0}, total=64) == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("loads", "why"), [({"a": 0.0}, "last path"), ({}, "last path"), ({"a": 1.0, "b": -1.0}, "neg")]
)
def test_weights_that_cannot_be_are_refused(loads, why):
    with pytest.raises(ValueError, match=why):
        weights_for(loads, total=64)
