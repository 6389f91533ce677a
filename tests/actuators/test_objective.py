import pytest

from actuators.objective import Attainment, Buckets, within
from actuators.settings import ObjectiveConfig

SECOND = 1_000_000_000
INF = float("inf")


def attainment():
    return Attainment(
        ObjectiveConfig(component="service/chat", metric="slo_attainment_ratio"),
        ttft_limit=2.0,
        tpot_limit=0.05,
        slide_seconds=5.0,
    )


def at(second, good, total):
    return Buckets(
        second * SECOND,
        second * SECOND,
        {2.0: good, INF: total},
        {0.05: 10.0 * total, INF: 10.0 * total},
    )


def values(series):
    return [round(reading.value, 6) for reading in series.readings]


def test_attainment_follows_the_last_seconds():
    series = attainment()
    for second in range(11):
        good = 10.0 * min(second, 5)
        series.note(at(second, good, 10.0 * second))
    assert values(series) == [1.0, 1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2, 0.0]


def test_no_traffic_is_absent_not_zero():
    """C74."""
    series = attainment()
    for second in range(10):
        series.note(at(second, 10.0, 10.0))
    assert values(series) == []


def test_counter_that_fell_starts_anew():
    series = attainment()
    for buckets in (at(0, 90.0, 100.0), at(1, 190.0, 200.0), at(2, 1.0, 10.0), at(3, 6.0, 20.0)):
        series.note(buckets)
    assert values(series) == [1.0, 0.5]


@pytest.mark.parametrize(("limit", "share"), [(1.0, 0.5), (1.5, 0.65), (2.0, 0.8), (3.0, 0.8)])
def test_limit_inside_a_bucket_counts_its_part(limit, share):
    first = {1.0: 0.0, 2.0: 0.0, INF: 0.0}
    last = {1.0: 5.0, 2.0: 8.0, INF: 10.0}
    assert within(first, last, limit) == pytest.approx(share)
