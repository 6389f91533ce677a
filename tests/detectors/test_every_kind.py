"""What all change detectors share."""

import math
import pickle

import pytest
from pydantic import TypeAdapter, ValidationError

from detectors.adwin import AdwinConfig
from detectors.kinds import DetectorConfig
from detectors.page_hinkley import PageHinkleyConfig

CONFIGS = [PageHinkleyConfig(), AdwinConfig()]
HEALTHY = [0.5, -0.5, 1.2, -1.1, 0.1] * 40
DEGRADED = [5.0, 4.5, 6.0, 5.5] * 10


def told_at(detector, values):
    return [i for i, value in enumerate(values) if detector.update(value) is not None]


@pytest.fixture(params=CONFIGS, ids=lambda config: config.kind)
def config(request):
    return request.param


def test_a_step_is_told_and_nothing_before_it(config):
    told = told_at(config.build(), HEALTHY + DEGRADED)
    assert told
    assert min(told) in range(len(HEALTHY), len(HEALTHY) + 10)


def test_a_fall_is_told_with_its_sign(config):
    """C60."""
    detector = config.build()
    shifts = [detector.update(value) for value in HEALTHY + [-value for value in DEGRADED]]
    assert [shift < 0 for shift in shifts if shift is not None][:1] == [True]


def test_the_same_values_give_the_same_answers(config):
    assert told_at(config.build(), HEALTHY + DEGRADED) == told_at(
        config.build(), HEALTHY + DEGRADED
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused_and_changes_nothing(config, value):
    """C56."""
    detector, untouched = config.build(), config.build()
    for each in (detector, untouched):
        told_at(each, HEALTHY)
    with pytest.raises(ValueError, match="finite"):
        detector.update(value)
    assert told_at(detector, DEGRADED) == told_at(untouched, DEGRADED)


def test_a_pickled_detector_goes_on_where_it_stood(config):
    """C62."""
    detector = config.build()
    told_at(detector, HEALTHY + DEGRADED[:2])
    copy = pickle.loads(pickle.dumps(detector))
    assert told_at(copy, DEGRADED[2:]) == told_at(detector, DEGRADED[2:])


def test_a_constant_series_is_no_alarm(config):
    """C61."""
    assert told_at(config.build(), [0.0] * 500) == []


def test_its_repr_names_it(config):
    assert type(config.build()).__name__ in repr(config.build())


def test_an_unknown_kind_is_answered_with_the_kinds_there_are():
    with pytest.raises(ValidationError, match=r"page_hinkley.*adwin"):
        TypeAdapter(DetectorConfig).validate_python({"kind": "kswin"})
