"""Field cases C56 to C62: what breaks streaming detectors in practice."""

import math
import random

import numpy as np
import pytest

from cluster.frame import SeriesKey
from detectors.judge import Judge
from detectors.records import Scope
from detectors.settings import DetectSettings
from tests.detectors.world import SETTINGS, World, detector, run

SECOND = 1_000_000_000
SHORT = DetectSettings(warmup_samples=60)
CLOCK = SeriesKey("gpu/h:1", "gpu_sm_clock_hertz")
RATE = SeriesKey("port/s:1", "net_if_in_octets_per_second")
LOSS = SeriesKey("port/s:1", "net_if_in_errors_per_second")


def told(key, values):
    """Return the indices at which a shift of a series, a value a second, is told."""
    judge = Judge("cell", SHORT)
    columns = judge.columns([key], Scope.SELF)
    return [
        i
        for i, value in enumerate(values)
        for _ in judge.update(columns, i * SECOND, np.array([value]))[0]
    ]


def noise(level, sigma, count, seed=1):
    made = random.Random(seed)
    return [made.gauss(level, sigma) for _ in range(count)]


def test_c56_one_missing_value_does_not_end_detection():
    values = [*noise(10.0, 0.1, 1000), math.nan, *noise(5.0, 0.1, 20)]
    assert [1001 <= i <= 1006 for i in told(CLOCK, values)] == [True]


def test_c56_what_is_not_finite_is_refused_and_changes_nothing():
    for config in DetectSettings().detectors:
        made = config.build()
        for value in noise(0.0, 1.0, 100):
            made.update(value)
        with pytest.raises(ValueError, match="finite"):
            made.update(math.inf)
        shifts = [made.update(value) for value in noise(6.0, 1.0, 30)]
        assert any(shift is not None for shift in shifts)


@pytest.mark.parametrize("unit", [1.0, 1e9, 1e-6])
def test_c57_a_quiet_series_of_any_unit_is_silent(unit):
    assert told(CLOCK, noise(unit, 0.01 * unit, 2000)) == []


def test_c57_the_same_fall_is_told_at_the_same_value_in_any_unit():
    values = noise(1.0, 0.01, 300) + noise(0.8, 0.01, 20)
    answers = {tuple(told(CLOCK, [unit * v for v in values])) for unit in (1.0, 1e9, 1e-6)}
    assert len(answers) == 1
    assert answers != {()}


def test_c58_stable_series_of_a_cell_are_silent():
    """The stated limit is one alert a cell and day; 200 series are judged for 2,000 values each."""
    judge = Judge("cell", SHORT)
    keys = [SeriesKey(f"gpu/h:{i}", "gpu_sm_clock_hertz") for i in range(200)]
    columns = judge.columns(keys, Scope.SELF)
    values = np.random.default_rng(3).normal(10.0, 1.0, (2000, 200))
    began = [judge.update(columns, i * SECOND, row)[0] for i, row in enumerate(values)]
    assert sum(map(len, began)) == 0


def test_c59_one_step_is_one_detection_and_a_second_one_is_told_again():
    values = noise(10.0, 0.1, 200) + noise(8.0, 0.1, 60) + noise(10.0, 0.1, 60)
    values += noise(8.0, 0.1, 60)
    indices = told(CLOCK, values)
    assert len(indices) == 2
    assert 200 <= indices[0] <= 205
    assert 320 <= indices[1] <= 325


def test_c60_a_fall_is_found_with_its_direction():
    judge = Judge("cell", SHORT)
    columns = judge.columns([RATE], Scope.SELF)
    values = noise(4e11, 4e9, 100) + noise(2e11, 4e9, 20)
    found = [
        detection
        for i, value in enumerate(values)
        for detection in judge.update(columns, i * SECOND, np.array([value]))[0]
    ]
    assert [(d.shift_sigmas < 0, d.after < d.before) for d in found] == [(True, True)]


def test_c61_a_constant_series_is_neither_error_nor_alarm():
    values = noise(1e9, 1e-3, 500) + [1e9] * 500
    assert told(CLOCK, values) == []


def test_c61_a_series_of_zeros_that_begins_to_count_is_told_finitely():
    assert told(LOSS, [0.0] * 100 + [5.0] * 10) != []


@pytest.mark.parametrize("at", range(5, 205, 40))
def test_c62_a_kill_at_any_moment_changes_no_alert(at):
    straight, killed = detector(), detector()
    worlds = World(seed=5), World(seed=5)
    for second in range(210):
        if second == at:
            saved = killed.snapshot()
            killed = detector()
            assert killed.restore(saved) == ""
        pair = []
        for made, world in zip((straight, killed), worlds, strict=True):
            world.bad_link = 0.5 if 60 <= second < 100 else 0.0
            world.hot_gpu = 0.4 if second >= 130 else 0.0
            pair.append(run(made, world, 1))
        assert pair[0] == pair[1]


def test_c62_a_state_of_other_parameters_starts_cold_with_a_note():
    other = detector(SETTINGS.model_copy(update={"false_alarms_per_day": 2.0}))
    assert other.restore(detector().snapshot()).startswith("state is of ")
