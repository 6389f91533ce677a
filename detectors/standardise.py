"""Robust, unit-free baselines: a value becomes its distance from its own normal, in sigmas."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from detectors import hot
from detectors.series import Floats, Ids, Rows, grown
from detectors.traits import Traits

_MAD_TO_SIGMA = 1.4826
_MEAN_DEVIATION_TO_SIGMA = 1.2533
# A warm-up's outliers count for no more than this many of its robust sigmas.
_WARMUP_OUTLIER_SIGMAS = 3.0
# A baseline is the mean of this many warm-ups' values at least; then it forgets the oldest.
_WARMUPS_REMEMBERED = 4
_NO_WINDOW = -1
# A baseline of exact zeros is left by infinitely many sigmas; only finite values go on.
_LARGEST = 1e9


class Standardise:
    """Baselines of all judged series of a cell, one row of arrays per series.

    The first `warmup_samples` values set the level (mean) and the spread (mean deviation), outliers
    cut by median and MAD; from then on both follow, ever slower up to a limit, and stand still
    while the series is suspicious. The spread has a floor, relative to the level and absolute, so a
    constant series is neither an error nor an alarm. What is added to a series' level, or what it
    is multiplied with, changes nothing.
    """

    def __init__(self, warmup_samples: int) -> None:
        self._warmup = warmup_samples
        self._longest = _WARMUPS_REMEMBERED * warmup_samples
        self._seen = np.empty(0, dtype=np.int32)
        self._level = np.empty(0)
        self._spread = np.empty(0)
        self._least_ratio = np.empty(0)
        self._least_absolute = np.empty(0)
        self._scale_kind = np.empty(0, dtype=np.int8)
        self._log_zeros: list[float] = []
        # Only series that warm up have a window; the others' are given on.
        self._window_of = np.empty(0, dtype=np.int32)
        self._windows = np.empty((0, warmup_samples))
        self._free: list[int] = []

    def add(self, ids: Ids, traits: Sequence[Traits]) -> None:
        """Make rows for series that were not there yet."""
        if not len(ids):
            return
        size = int(ids.max()) + 1
        for name in ("_level", "_spread", "_least_ratio", "_least_absolute"):
            setattr(self, name, grown(getattr(self, name), size, 0.0))
        self._seen = grown(self._seen, size, 0)
        self._scale_kind = grown(self._scale_kind, size, 0)
        self._window_of = grown(self._window_of, size, _NO_WINDOW)
        is_log = np.array([t.is_log for t in traits])
        ratio = np.array([t.least_ratio for t in traits])
        # On the logarithmic scale a ratio is a distance, whatever the level.
        self._least_ratio[ids] = np.where(is_log, 0.0, ratio)
        self._least_absolute[ids] = np.where(
            is_log, np.log1p(ratio), [t.least_absolute for t in traits]
        )
        self._scale_kind[ids] = [self._kind(t) for t in traits]

    def reset(self, ids: Ids) -> None:
        """Start these series cold."""
        self._seen[ids] = 0

    @property
    def bytes_a_series(self) -> int:
        """What a series costs here when it is warm."""
        kept = (self._seen, self._level, self._spread, self._least_ratio, self._least_absolute)
        return sum(each.itemsize for each in (*kept, self._scale_kind, self._window_of))

    def scaled(self, rows: Rows, values: Floats) -> Floats:
        """Return values on the scale that they are judged on: their logarithm, or themselves."""
        kinds = rows.take(self._scale_kind)
        if not kinds.any():
            return values
        logs = np.flatnonzero(kinds)
        zeros = np.array([0.0, *self._log_zeros])[kinds[logs]]
        scaled = values.copy()
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled[logs] = np.log(np.maximum(values[logs], 0.0) + zeros)
        return scaled

    def unscaled(self, number: int, scaled: float) -> float:
        """Return a value in the metric's unit."""
        kind = int(self._scale_kind[number])
        if not kind:
            return scaled
        with np.errstate(over="ignore"):
            return max(float(np.exp(scaled)) - self._log_zeros[kind - 1], 0.0)

    def level(self, number: int) -> float:
        """Return the baseline level on the judged scale; meaningless before the warm-up's end."""
        return float(self._level[number])

    def sigmas(self, rows: Rows, scaled: Floats) -> Floats:
        """Return the distance from the baseline; NaN while there is none, or no value."""
        return hot.sigmas(scaled, self._baselines(rows), warmup=self._warmup, largest=_LARGEST)

    def is_effect(self, rows: Rows, scaled: Floats) -> NDArray[np.bool_]:
        """Tell whether values differ from the baseline by what is worth telling."""
        of = self._baselines(rows)
        least = np.maximum(of.ratio * np.abs(of.level), of.absolute)
        return np.asarray(np.abs(scaled - of.level) >= least * (1.0 - 1e-9))

    def learn(self, rows: Rows, scaled: Floats, quiet: NDArray[np.bool_]) -> Ids:
        """Take values in; `quiet` ones move the baseline. Return the series that just warmed up."""
        of = self._baselines(rows)
        cold = of.seen < self._warmup
        hot.follow(scaled, quiet, of, warmup=self._warmup, longest=self._longest)
        rows.put(self._level, of.level)
        rows.put(self._spread, of.spread)
        rows.put(self._seen, of.seen)
        filling = cold & ~np.isnan(scaled)
        if not filling.any():
            return np.empty(0, dtype=np.intp)
        return self._fill(rows.ids[filling], scaled[filling])

    def take_windows(self, ids: Ids) -> Floats:
        """Return these series' warm-ups in sigmas of the baselines they set, and forget them."""
        windows = self._windows[self._window_of[ids]]
        rows = Rows(ids)
        sigmas = np.column_stack([self.sigmas(rows, values) for values in windows.T])
        self._free += self._window_of[ids].tolist()
        self._window_of[ids] = _NO_WINDOW
        return sigmas

    def _kind(self, traits: Traits) -> int:
        if not traits.is_log:
            return 0
        if traits.log_zero not in self._log_zeros:
            self._log_zeros.append(traits.log_zero)
        return 1 + self._log_zeros.index(traits.log_zero)

    def _baselines(self, rows: Rows) -> hot.Baselines:
        return hot.Baselines(
            level=rows.take(self._level),
            spread=rows.take(self._spread),
            seen=rows.take(self._seen),
            ratio=rows.take(self._least_ratio),
            absolute=rows.take(self._least_absolute),
        )

    def _fill(self, ids: Ids, scaled: Floats) -> Ids:
        """Put values into their series' windows; settle those that are full."""
        self._give_windows(ids[self._window_of[ids] == _NO_WINDOW])
        self._windows[self._window_of[ids], self._seen[ids]] = scaled
        self._seen[ids] += 1
        warm: Ids = ids[self._seen[ids] == self._warmup]
        if len(warm):
            self._settle(warm)
        return warm

    def _give_windows(self, ids: Ids) -> None:
        missing = len(ids) - len(self._free)
        if missing > 0:
            used = len(self._windows)
            self._windows = grown(self._windows, used + missing, 0.0)
            self._free += range(len(self._windows) - 1, used - 1, -1)
        for number in ids.tolist():
            self._window_of[number] = self._free.pop()

    def _settle(self, ids: Ids) -> None:
        window = self._windows[self._window_of[ids]]
        level = np.median(window, axis=1)
        distance = window - level[:, None]
        robust = _MAD_TO_SIGMA * np.median(np.abs(distance), axis=1)
        # The mean of what is cut wastes fewer values than the median; of a series that hardly ever
        # moves nothing is cut, and its median is its level.
        limit = np.where(robust > 0.0, _WARMUP_OUTLIER_SIGMAS * robust, np.inf)[:, None]
        cut = np.clip(distance, -limit, limit)
        self._level[ids] = level + np.where(robust > 0.0, cut.mean(axis=1), 0.0)
        self._spread[ids] = _MEAN_DEVIATION_TO_SIGMA * np.abs(cut).mean(axis=1)
