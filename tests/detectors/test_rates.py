import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.frame import SeriesKey
from detectors.rates import Rates
from tests.detectors.frames import frame

OCTETS = ("port/leaf1:e1", "net_if_out_octets_total")
NAN = math.nan


def rates_of(readings, *, rates=None, columns=(OCTETS,)):
    rates = rates or Rates()
    values = [rates.derive(frame(columns, [(at, [value])])).values[0, 0] for at, value in readings]
    return [None if math.isnan(value) else value for value in values]


def test_a_counter_becomes_a_rate_by_device_time():
    derived = Rates().derive(frame([OCTETS], [(0, [100.0]), (2, [300.0]), (3, [300.0])]))
    assert derived.layout.columns == (SeriesKey(OCTETS[0], "net_if_out_octets_per_second"),)
    np.testing.assert_array_equal(derived.values, [[NAN], [100.0], [0.0]])


def test_rows_out_of_order_within_a_frame_are_put_in_order():
    derived = Rates().derive(frame([OCTETS], [(1, [300.0]), (0, [100.0])]))
    np.testing.assert_array_equal(derived.values, [[NAN], [200.0]])


def test_a_reset_starts_a_new_base():
    """C15."""
    assert rates_of([(0, 1e12), (1, 1e12 + 10), (2, 0.0), (3, 50.0)]) == [None, 10.0, None, 50.0]


def test_a_tiny_step_back_is_ignored_and_counted():
    """C15."""
    rates = Rates()
    assert rates_of([(0, 1000.0), (1, 997.0), (2, 1010.0)], rates=rates) == [None, None, 5.0]
    assert rates.refused == {"step_back": 1, "gap": 0, "reset": 0}


def test_a_wrap_counts_only_where_the_width_is_known():
    """C15."""
    wrap = [(0, 2.0**32 - 10), (1, 5.0)]
    assert rates_of(wrap) == [None, None]
    assert rates_of(wrap, rates=Rates(frozenset({OCTETS[1]}))) == [None, 15.0]


def test_no_rate_across_a_gap():
    """C01."""
    assert rates_of([(0, 0.0), (1, 10.0), (2, 20.0), (60, 1000.0), (61, 1010.0)]) == [
        None,
        10.0,
        10.0,
        None,
        10.0,
    ]


def test_the_same_stamp_again_makes_no_rate():
    """C11."""
    rates = Rates()
    assert rates_of([(0, 1.0), (1, 2.0), (1, 2.0), (1, 5.0)], rates=rates) == [
        None,
        1.0,
        None,
        None,
    ]
    assert (rates.refused["repeated"], rates.refused["contradicted"]) == (1, 1)


def test_an_older_stamp_is_ignored():
    rates = Rates()
    assert rates_of([(0, 1.0), (2, 5.0), (1, 3.0), (3, 6.0)], rates=rates) == [None, 2.0, None, 1.0]
    assert rates.refused["out_of_order"] == 1


def test_an_ended_series_starts_anew():
    """C12."""
    rates = Rates()
    rates.derive(frame([OCTETS], [(0, [100.0])], ended=(0,)))
    assert rates_of([(1, 200.0), (2, 201.0)], rates=rates) == [None, 1.0]


def test_a_histogram_becomes_its_mean_between_readings():
    columns = [
        ("engine/e", "llm_ttft_seconds_sum"),
        ("engine/e", "llm_ttft_seconds_count"),
        ("engine/e", "llm_ttft_seconds_bucket", 'le="0.1"'),
        ("engine/e", "llm_requests_waiting"),
    ]
    rows = [(0, [10.0, 20.0, 5.0, 1.0]), (1, [12.0, 24.0, 5.0, 2.0]), (2, [12.0, 24.0, 5.0, 3.0])]
    derived = Rates().derive(frame(columns, rows))
    assert [key.metric for key in derived.layout.columns] == [
        "llm_requests_waiting",
        "llm_ttft_seconds_mean",
    ]
    np.testing.assert_array_equal(derived.values, [[1.0, NAN], [2.0, 0.5], [3.0, NAN]])


def test_uncatalogued_counters_are_counters_and_the_rest_passes():
    derived = Rates().derive(
        frame([("host/h", "odd_total"), ("host/h", "odd")], [(0, [1, 7]), (1, [4, 8])])
    )
    assert [key.metric for key in derived.layout.columns] == ["odd", "odd_per_second"]
    np.testing.assert_array_equal(derived.values, [[7.0, NAN], [8.0, 3.0]])


def test_a_series_goes_on_when_the_layout_changes():
    rates = Rates()
    rates.derive(frame([OCTETS], [(0, [10.0])]))
    derived = rates.derive(frame([("host/h", "odd"), OCTETS], [(1, [1.0, 15.0])]))
    np.testing.assert_array_equal(derived.values, [[1.0, 5.0]])


reading = st.tuples(st.integers(0, 50), st.one_of(st.just(NAN), st.integers(0, 2**40).map(float)))


@given(st.lists(reading, max_size=40), st.booleans())
def test_never_a_negative_rate_or_one_beyond_what_was_counted(readings, narrow):
    rates = Rates(frozenset({OCTETS[1]}) if narrow else frozenset())
    told = [rate for rate in rates_of(readings, rates=rates) if rate is not None]
    assert all(0.0 <= rate <= 2.0**40 for rate in told)


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_a_rate_scales_with_its_unit(scale):
    assert rates_of([(0, 0.0), (1, 4 * scale)]) == [None, 4 * scale]
