"""Robust, unit-free baselines: a value becomes its distance from its own normal, in sigmas."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from detectors.series import Floats, Ids, grown
from detectors.traits import Traits

# The least effect worth telling is this many sigmas at least, however quiet the series is.
_SIGMAS_OF_LEAST_EFFECT = 6.0
_MAD_TO_SIGMA = 1.4826
_MEAN_DEVIATION_TO_SIGMA = 1.2533


class Standardise:
    """Baselines of all judged series of a cell, one row of arrays per series.

    The first `warmup_samples` values set the level (median) and the spread (MAD); from then on both
    follow slowly, and stand still while the series is suspicious. The spread has a floor, relative
    to the level and absolute, so a constant series is neither an error nor an alarm.
    """

    def __init__(self, warmup_samples: int) -> None:
        self._warmup = warmup_samples
        self._adapt = 1.0 / (4.0 * warmup_samples)
        self._seen = np.empty(0, dtype=np.int64)
        self._window = np.empty((0, warmup_samples))
        self._level = np.empty(0)
        self._spread = np.empty(0)
        self._log_zero = np.empty(0)
        self._least_ratio = np.empty(0)
        self._least_absolute = np.empty(0)

    def add(self, ids: Ids, traits: Sequence[Traits]) -> None:
        """Make rows for series that were not there yet."""
        if not len(ids):
            return
        size = int(ids.max()) + 1
        self._seen = grown(self._seen, size, 0)
        self._window = grown(self._window, size, np.nan)
        for name in ("_level", "_spread", "_log_zero", "_least_ratio", "_least_absolute"):
            setattr(self, name, grown(getattr(self, name), size, np.nan))
        self._log_zero[ids] = [t.log_zero for t in traits]
        self._least_ratio[ids] = [t.least_ratio for t in traits]
        self._least_absolute[ids] = [t.least_absolute for t in traits]

    def reset(self, ids: Ids) -> None:
        """Start these series cold."""
        self._seen[ids] = 0

    def scaled(self, ids: Ids, values: Floats) -> Floats:
        """Return values on the scale that they are judged on: their logarithm, or themselves."""
        zero = self._log_zero[ids]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.maximum(values, 0.0) + zero)
        return np.where(np.isnan(zero), values, logs)

    def unscaled(self, ids: Ids, scaled: Floats) -> Floats:
        """Return values in the metric's unit."""
        zero = self._log_zero[ids]
        with np.errstate(over="ignore"):
            return np.where(np.isnan(zero), scaled, np.maximum(np.exp(scaled) - zero, 0.0))

    def level(self, ids: Ids) -> Floats:
        """Return the baseline level on the judged scale; meaningless before the warm-up's end."""
        return self._level[ids]

    def sigmas(self, ids: Ids, scaled: Floats) -> Floats:
        """Return the distance from the baseline; NaN while there is none, or no value."""
        cold = self._seen[ids] < self._warmup
        return np.where(cold, np.nan, (scaled - self._level[ids]) / self._scale(ids))

    def is_effect(self, ids: Ids, scaled: Floats) -> NDArray[np.bool_]:
        """Tell whether values differ from the baseline by what is worth telling."""
        distance = np.abs(scaled - self._level[ids])
        return np.asarray(distance >= self._least(ids) * (1.0 - 1e-9))

    def learn(self, ids: Ids, scaled: Floats, quiet: NDArray[np.bool_]) -> Ids:
        """Take values in; `quiet` ones move the baseline. Return the series that just warmed up."""
        there = ~np.isnan(scaled)
        cold = there & (self._seen[ids] < self._warmup)
        follow = there & ~cold & quiet
        moved = ids[follow]
        deviation = scaled[follow] - self._level[moved]
        self._level[moved] += self._adapt * deviation
        expected = _MEAN_DEVIATION_TO_SIGMA * np.abs(deviation)
        self._spread[moved] += self._adapt * (expected - self._spread[moved])
        filling = ids[cold]
        self._window[filling, self._seen[filling]] = scaled[cold]
        self._seen[filling] += 1
        warm: Ids = filling[self._seen[filling] == self._warmup]
        self._settle(warm)
        return warm

    def take_window(self, number: int) -> Floats:
        """Return the warm-up of one series in sigmas of the baseline it set, and forget it."""
        sigmas = self.sigmas(np.full(self._warmup, number), self._window[number])
        self._window[number] = 0.0
        return sigmas

    def _settle(self, ids: Ids) -> None:
        if not len(ids):
            return
        window = self._window[ids]
        level = np.median(window, axis=1)
        deviation = np.abs(window - level[:, None])
        spread = _MAD_TO_SIGMA * np.median(deviation, axis=1)
        mean = _MEAN_DEVIATION_TO_SIGMA * deviation.mean(axis=1)
        self._level[ids] = level
        self._spread[ids] = np.where(spread > 0.0, spread, mean)

    def _least(self, ids: Ids) -> Floats:
        ratio = self._least_ratio[ids]
        linear = np.maximum(ratio * np.abs(self._level[ids]), self._least_absolute[ids])
        return np.where(np.isnan(self._log_zero[ids]), linear, np.log1p(ratio))

    def _scale(self, ids: Ids) -> Floats:
        floor = self._least(ids) / _SIGMAS_OF_LEAST_EFFECT
        return np.maximum(np.maximum(self._spread[ids], floor), np.finfo(float).tiny)
