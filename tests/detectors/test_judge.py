"""Standardise, detect, verify: exact indices on small series."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.frame import SeriesKey
from detectors.judge import Judge
from detectors.records import Scope
from detectors.settings import DetectSettings

SETTINGS = DetectSettings(warmup_samples=20, relearn_seconds=60.0, relearn_bad_seconds=300.0)
CLOCK = SeriesKey("gpu/h:1", "gpu_sm_clock_hertz")
ERRORS = SeriesKey("port/s:1", "net_if_in_errors_per_second")
BER = SeriesKey("port/s:1", "net_if_pre_fec_ber_ratio")
HEALTHY = [100.0, 101.0, 99.0, 100.5, 99.5] * 8


def judged(key, values, made=None, scope=Scope.SELF):
    """Return (told at index, ended at index) for a series with a value a second."""
    made = made or Judge("cell", SETTINGS)
    columns = made.columns([key], scope)
    began, ended = [], []
    for i, value in enumerate(values):
        told, over = made.update(columns, i * 1_000_000_000, np.array([value]))
        began += [i for _ in told]
        ended += [i for _ in over]
    return began, ended


def test_a_fall_of_the_clock_is_told_at_its_third_value():
    assert judged(CLOCK, HEALTHY + [80.0] * 20) == ([42], [])


def test_a_rise_of_the_clock_is_not_bad():
    assert judged(CLOCK, HEALTHY + [120.0] * 20) == ([], [])


def test_a_shift_too_small_to_be_worth_telling_is_not_told():
    """C57: found by its sigmas, not told by its effect."""
    steady = [100.0, 100.01, 99.99] * 15
    assert judged(CLOCK, steady + [97.0] * 20) == ([], [])


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6, 1e9])
def test_the_unit_changes_nothing(unit):
    """C57."""
    values = HEALTHY + [80.0] * 20
    assert judged(CLOCK, [unit * value for value in values]) == ([42], [])


def test_a_spike_is_not_a_shift():
    assert judged(CLOCK, HEALTHY + [10.0] * 2 + HEALTHY) == ([], [])


def test_the_first_lasting_error_rate_is_a_shift():
    assert judged(ERRORS, [0.0] * 40 + [5.0] * 5) == ([42], [])


def test_a_constant_series_is_no_alarm():
    """C61."""
    assert judged(CLOCK, [1e9] * 300) == ([], [])


def test_orders_of_magnitude_count_on_a_logarithmic_scale():
    steady = [1e-8, 1.1e-8, 0.9e-8] * 14
    assert judged(BER, steady + [1e-5] * 5) == ([44], [])
    assert judged(BER, steady + [1.4e-8] * 5) == ([], [])


def test_the_end_of_a_shift_is_told_and_a_second_one_again():
    """C59: the hold-off hides no second change."""
    values = HEALTHY + [80.0] * 10 + HEALTHY + [80.0] * 10
    assert judged(CLOCK, values) == ([42, 92], [52])


def test_a_shift_is_over_too_when_the_value_is_better_than_it_ever_was():
    """A port that nothing is sent by any more marks no packet: that is no congestion."""
    began, ended = judged(CLOCK, HEALTHY + [80.0] * 20 + [130.0] * 5)
    assert (began, ended) == ([42], [62])


def test_a_bad_level_that_stays_becomes_the_new_normal():
    began, ended = judged(CLOCK, HEALTHY + [80.0] * 400)
    assert (began, ended) == ([42], [341])


def test_missing_values_change_nothing():
    """C56."""
    values = [value for pair in zip(HEALTHY, [np.nan] * 40, strict=True) for value in pair]
    assert judged(CLOCK, values + [80.0] * 3) == ([82], [])


def test_onset_and_levels_are_told():
    made = Judge("cell", SETTINGS)
    columns = made.columns([CLOCK], Scope.SELF)
    told = []
    for i, value in enumerate(HEALTHY + [80.0] * 3):
        told += made.update(columns, i, np.array([value]))[0]
    assert [(d.onset_ns, d.detected_ns, d.before, d.after) for d in told] == [
        (40, 42, pytest.approx(100.0, rel=0.01), 80.0)
    ]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-9, 1e12))
def test_never_an_alarm_on_stationary_noise(seed, level):
    """C58."""
    noise = np.random.default_rng(seed).normal(1.0, 0.01, 400)
    assert judged(CLOCK, (level * noise).tolist()) == ([], [])
