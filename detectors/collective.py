"""Bursts of a training job's collectives: judged an iteration at a time, not a sample."""

import math
from collections.abc import Sequence

import numpy as np

from detectors.cusum import CusumConfig
from detectors.watch import Watch

# The longest period looked for is a third of the warm-up.
_PERIODS_IN_WARMUP = 3
_LEAST_PERIODICITY = 0.3
_WARMUP_ITERATIONS = 20
# Twenty iterations tell the spread to a fifth: what is as small as that must not add up.
_PER_ITERATION = CusumConfig(tolerance_sigmas=1.5, threshold_sigmas=12.0)
_LEAST_EFFECT_RATIO = 0.12
# One low value in a burst does not end it.
_GAP_SAMPLES = 2


def find_period(values: Sequence[float]) -> int | None:
    """Return after how many values a series repeats itself, by its autocorrelation; None if never.

    Examples
    --------
    >>> find_period([1.0, 9.0, 9.0, 1.0, 1.0, 1.0] * 8)
    6
    >>> find_period([1.0] * 48) is None
    True
    """
    centred = np.asarray(values, dtype=float) - np.mean(values)
    spread = float(centred @ centred)
    longest = len(centred) // _PERIODS_IN_WARMUP
    if spread <= 0.0 or longest < _PERIODS_IN_WARMUP:
        return None
    padded = np.fft.rfft(centred, 2 * len(centred))
    together = np.fft.irfft(padded * np.conj(padded))[: longest + 1] / spread
    together *= len(centred) / (len(centred) - np.arange(longest + 1))
    # The first fall below zero ends what is one burst; the first high peak after it is the period.
    below = np.flatnonzero(together < 0.0)
    if not len(below):
        return None
    after = together[below[0] :]
    if after.max() < _LEAST_PERIODICITY:
        return None
    high = np.flatnonzero(after >= 0.9 * after.max())
    end = high[0]
    while end + 1 < len(after) and after[end + 1] > after[end]:
        end += 1
    return int(below[0] + end)


class Collective:
    """Watches the height and the length of a job's bursts, once each.

    A link that lost bandwidth makes bursts lower and longer while the iteration takes no longer, as
    long as computation hides it: no sample of the rate is unusual, but every burst is. A series
    without a period is watched as it is.
    """

    def __init__(self, *, warmup_samples: int = 400) -> None:
        self._warmup_samples = warmup_samples
        self._first: list[float] = []
        self._middle = math.nan
        self._period = 0
        self._burst: list[float] = []
        self._gap = 0
        self._since_rise = 0
        self._plain = Watch([CusumConfig()])
        self._features = [
            Watch(
                [_PER_ITERATION],
                warmup_samples=_WARMUP_ITERATIONS,
                least_effect_ratio=_LEAST_EFFECT_RATIO,
            )
            for _ in range(2)
        ]

    def update(self, value: float) -> int | None:
        if not math.isfinite(value):
            return None
        if len(self._first) < self._warmup_samples:
            self._first.append(value)
            if len(self._first) == self._warmup_samples:
                self._settle()
            return None
        return self._plain.update(value) if not self._period else self._one(value)

    def _settle(self) -> None:
        self._period = find_period(self._first) or 0
        low, high = np.quantile(self._first, [0.1, 0.95])
        self._middle = float(low + high) / 2.0
        for value in self._first:
            if self._period:
                self._one(value)
            else:
                self._plain.update(value)

    def _one(self, value: float) -> int | None:
        self._since_rise += 1
        if value >= self._middle:
            if not self._burst and self._since_rise < self._period // 2:
                return None
            if not self._burst:
                self._since_rise = 0
            self._burst.append(value)
            self._gap = 0
            return None
        self._gap += 1
        if not self._burst or self._gap < _GAP_SAMPLES:
            return None
        burst, self._burst = self._burst, []
        return self._judge(burst)

    def _judge(self, burst: list[float]) -> int | None:
        # The first and the last value are cut by where the samples happen to fall.
        inner = burst[1:-1] or burst
        features = (float(np.mean(inner)), float(len(burst)))
        told = [watch.update(each) for watch, each in zip(self._features, features, strict=True)]
        ago = [back for back in told if back is not None]
        return (max(ago) + 1) * self._period if ago else None
