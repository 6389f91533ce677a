"""Did it help? Levels of an objective before and after an action, with their uncertainty."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, stdev

from actuators.readings import Reading, Readings
from actuators.records import Effect, Verdict
from actuators.settings import EffectConfig, ObjectiveConfig

_TWO_SIDED_95 = 1.96
# Looking after every reading gives chance many tries: a look before the end asks for more.
_SEQUENTIAL = 3.0
_TO_SIGMAS = 1.4826
_MEDIAN_TO_MEAN = 1.2533
_FEW = 3
_HEALTHY_READINGS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The objective before an action.

    Attributes
    ----------
    healthy, before
        Level before the degradation, and right before the action; NaN = not known.
    noise_ratio
        Half of the 95 % interval of ``before``, relative to it.
    """

    healthy: float
    before: float
    noise_ratio: float


def baseline(
    readings: Readings,
    *,
    onset_ns: int,
    action_ns: int,
    config: EffectConfig,
    span_seconds: float = 0.0,
) -> Baseline:
    """Return the objective's levels before an action.

    Degraded are the newest readings since the onset: an alert is often told while the objective
    still slides, and by the time of the action it has come to rest.

    Parameters
    ----------
    onset_ns
        Device time.
    action_ns
        Our clock.
    span_seconds
        Of traffic that one reading covers; readings that share it are not independent.
    """
    degraded = readings.since(onset_ns, until_received_ns=action_ns)[-config.least_samples :]
    healthy = readings.before(onset_ns)[-_HEALTHY_READINGS:]
    before = median(degraded) if degraded else math.nan
    half = _half_interval(degraded, _independent(len(degraded), span_seconds, readings))
    return Baseline(
        healthy=median(healthy) if healthy else math.nan,
        before=before,
        noise_ratio=half / _scale(before, median(healthy) if healthy else math.nan),
    )


def as_effect(objective: ObjectiveConfig, base: Baseline) -> Effect:
    """Return the baseline as an effect not yet measured; the interval is its own noise."""
    noise = (-base.noise_ratio, base.noise_ratio)
    return _effect(objective, base, level=math.nan, interval=noise, samples=0)


def of_effect(effect: Effect) -> Baseline:
    """Return the baseline that `as_effect` wrote down."""
    return Baseline(
        healthy=effect.healthy, before=effect.before, noise_ratio=effect.gain_high_ratio
    )


def measure(
    objective: ObjectiveConfig,
    base: Baseline,
    after: Sequence[Reading],
    *,
    config: EffectConfig,
    ended: bool,
    span_seconds: float = 0.0,
) -> Effect:
    """Return what the action did so far.

    ``worse`` before the window's end only when the interval lies beyond the bound as a whole;
    ``unknown`` until then, and at the end when there are too few readings.
    """
    values = [reading.value for reading in after]
    if not values or not math.isfinite(base.before):
        return _effect(
            objective, base, level=math.nan, interval=(math.nan, math.nan), samples=len(values)
        )
    scale = _scale(base.before, base.healthy)
    level = median(values)
    change = (base.before - level) / scale
    gain = change if objective.better == "lower" else -change
    independent = _independent_span(after, span_seconds)
    half = _half_interval(values, independent) / scale
    noise = math.hypot(half, base.noise_ratio)
    if not ended:
        noise *= _SEQUENTIAL / _TWO_SIDED_95
    interval = (gain - noise, gain + noise)
    verdict = Verdict.UNKNOWN
    if len(values) >= config.least_samples:
        verdict = _verdict(gain, interval, config=config, ended=ended)
    return _effect(
        objective, base, level=level, interval=interval, samples=len(values), verdict=verdict
    )


def _verdict(
    gain: float, interval: tuple[float, float], *, config: EffectConfig, ended: bool
) -> Verdict:
    low, high = interval
    if not ended:
        return Verdict.WORSE if high < -config.worst_loss_ratio else Verdict.UNKNOWN
    if gain >= config.least_gain_ratio and low > 0.0:
        return Verdict.IMPROVED
    if gain <= -config.worst_loss_ratio and high < 0.0:
        return Verdict.WORSE
    return Verdict.NEUTRAL


def _effect(
    objective: ObjectiveConfig,
    base: Baseline,
    *,
    level: float,
    interval: tuple[float, float],
    samples: int,
    verdict: Verdict = Verdict.UNKNOWN,
) -> Effect:
    return Effect(
        component=objective.component,
        metric=objective.metric,
        better=objective.better,
        healthy=base.healthy,
        before=base.before,
        after=level,
        gain_low_ratio=interval[0],
        gain_high_ratio=interval[1],
        samples=samples,
        verdict=verdict,
    )


def _scale(before: float, healthy: float) -> float:
    """Return what gains are relative to: the level before, or the healthy one where that is 0."""
    for level in (before, healthy):
        if math.isfinite(level) and level != 0.0:
            return abs(level)
    return 1.0


def _half_interval(values: Sequence[float], independent: float) -> float:
    """Return half of the 95 % interval of the median."""
    if len(values) < _FEW:
        return 0.0
    middle = median(values)
    sigma = _TO_SIGMAS * median(abs(value - middle) for value in values) or stdev(values)
    return _student(independent - 1.0) * _MEDIAN_TO_MEAN * sigma / math.sqrt(independent)


def _student(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t, by Cornish-Fisher's expansion."""
    z, n = _TWO_SIDED_95, max(freedom, 2.0)
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n * n)


def _independent(count: int, span_seconds: float, readings: Readings) -> float:
    return _independent_span(list(readings)[-count:] if count else [], span_seconds)


def _independent_span(readings: Sequence[Reading], span_seconds: float) -> float:
    """Return how many readings do not share traffic with one another."""
    if span_seconds <= 0.0 or len(readings) < _FEW:
        return float(max(len(readings), 1))
    seconds = (readings[-1].time_ns - readings[0].time_ns) / 1e9
    return float(max(2.0, min(len(readings), 1.0 + seconds / span_seconds)))
