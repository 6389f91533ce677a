import math

import pytest

from actuators.effect import as_effect, baseline, measure, of_effect
from actuators.readings import Reading, Readings
from actuators.records import Verdict
from actuators.settings import EffectConfig, ObjectiveConfig

SECOND = 1_000_000_000
STEP = ObjectiveConfig(component="job/train", metric="train_step_seconds")
SLO = ObjectiveConfig(component="service/chat", metric="slo_attainment_ratio")
CONFIG = EffectConfig()


def readings(values, *, start=0):
    # A little noise that has no random in it.
    return [
        Reading((start + n) * SECOND, (start + n) * SECOND, value * (1 + 0.01 * (-1) ** n))
        for n, value in enumerate(values)
    ]


def before(objective_level=2.0, healthy_level=1.0):
    known = Readings()
    for reading in readings([healthy_level] * 20 + [objective_level] * 10):
        known.append(reading)
    return baseline(known, onset_ns=20 * SECOND, action_ns=30 * SECOND, config=CONFIG)


def test_baseline_has_the_healthy_and_the_degraded_level():
    base = before()
    assert (base.healthy, base.before) == (
        pytest.approx(1.0, rel=0.02),
        pytest.approx(2.0, rel=0.02),
    )
    assert 0.0 < base.noise_ratio < 0.05


def test_level_before_is_where_the_objective_came_to_rest_and_not_its_slide():
    known = Readings()
    for reading in readings([1.0] * 20 + [1.2, 1.4, 1.6, 1.8] + [2.0] * 6):
        known.append(reading)
    base = baseline(known, onset_ns=20 * SECOND, action_ns=30 * SECOND, config=CONFIG)
    assert base.before == pytest.approx(2.0, rel=0.02)


def test_improvement_is_told_with_its_interval():
    effect = measure(STEP, before(), readings([1.2] * 20, start=40), config=CONFIG, ended=True)
    assert effect.verdict is Verdict.IMPROVED
    assert effect.gain_low_ratio < 0.4 < effect.gain_high_ratio
    assert effect.gain_high_ratio - effect.gain_low_ratio < 0.1
    assert effect.samples == 20


@pytest.mark.parametrize(
    ("after", "verdict"),
    [(2.0, Verdict.NEUTRAL), (1.99, Verdict.NEUTRAL), (2.4, Verdict.WORSE)],
)
def test_verdict_at_the_end_of_the_window(after, verdict):
    effect = measure(STEP, before(), readings([after] * 20, start=40), config=CONFIG, ended=True)
    assert effect.verdict is verdict


def test_harm_is_told_before_the_window_ends():
    effect = measure(STEP, before(), readings([3.0] * 5, start=40), config=CONFIG, ended=False)
    assert effect.verdict is Verdict.WORSE


@pytest.mark.parametrize("values", [[3.0] * 4, [2.02] * 5, [1.0] * 5])
def test_nothing_is_told_early_without_clear_harm(values):
    effect = measure(STEP, before(), readings(values, start=40), config=CONFIG, ended=False)
    assert effect.verdict is Verdict.UNKNOWN


def test_no_reading_is_unknown_not_neutral():
    """C77: a metric that disappears after the action tells nothing."""
    effect = measure(STEP, before(), [], config=CONFIG, ended=True)
    assert (effect.verdict, effect.samples) == (Verdict.UNKNOWN, 0)
    assert math.isnan(effect.after)


def test_attainment_that_rises_is_better():
    base = before(objective_level=0.4, healthy_level=0.95)
    effect = measure(SLO, base, readings([0.9] * 20, start=40), config=CONFIG, ended=True)
    assert (effect.verdict, effect.better) == (Verdict.IMPROVED, "higher")


def test_attainment_of_nothing_before_is_measured_against_the_healthy_level():
    base = before(objective_level=0.0, healthy_level=1.0)
    effect = measure(SLO, base, readings([0.9] * 20, start=40), config=CONFIG, ended=True)
    assert effect.verdict is Verdict.IMPROVED
    assert effect.gain_low_ratio < 0.9 < effect.gain_high_ratio


def test_readings_that_share_traffic_widen_the_interval():
    base = before(objective_level=0.4, healthy_level=0.95)
    after = readings([0.9] * 20, start=40)
    alone = measure(SLO, base, after, config=CONFIG, ended=True)
    shared = measure(SLO, base, after, config=CONFIG, ended=True, span_seconds=5.0)
    assert shared.gain_high_ratio > alone.gain_high_ratio


def test_baseline_survives_in_the_event_that_carries_it():
    base = before()
    assert of_effect(as_effect(STEP, base)) == base
