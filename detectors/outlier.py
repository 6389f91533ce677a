"""Outliers of one series, measured by how far its own tails reach."""

import math
from bisect import bisect_left, insort
from collections import deque
from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from cluster.config import Config

_LEAST_VALUES = 20
_QUARTILES_TO_SIGMA = 0.7413


class OutlierConfig(Config):
    """Settings of the test of outliers.

    Attributes
    ----------
    window_samples
        Newest values that are remembered.
    tail
        Quantile that tells how far healthy values reach.
    tail_sigmas
        Sigmas that this quantile is taken to be away.
    least_ratio
        Spread relative to the level, at least.
    least_steps
        Spread in the smallest steps the series ever took, at least: counts of few are no outliers.
    power
        Values are raised to it first: below 1 for rates and counts, which spread as they grow.
    threshold_sigmas
        Distance that tells an outlier.
    frozen_sigmas
        Values further away than this do not enter the window ...
    frozen_samples
        ... until so many in a row are.
    largest_sigmas
        What enters the window is cut at this.
    hold_samples
        Values after an outlier in which none is told.
    hold_extends
        Outliers within the hold make it begin anew.
    """

    kind: Literal["outlier"] = "outlier"
    window_samples: PositiveInt = 200
    tail: float = Field(default=0.95, gt=0.5, lt=1.0)
    tail_sigmas: PositiveFloat = 1.3
    least_ratio: float = Field(default=0.25, ge=0.0)
    least_steps: float = Field(default=1.0, ge=0.0)
    power: float = Field(default=0.7, gt=0.0, le=1.0)
    threshold_sigmas: PositiveFloat = 3.0
    frozen_sigmas: PositiveFloat = 3.0
    frozen_samples: int = Field(default=24, ge=0)
    largest_sigmas: PositiveFloat = 8.0
    hold_samples: int = Field(default=10, ge=0)
    hold_extends: bool = True

    def build(self) -> "Outlier":
        return Outlier(self)


class Outlier:
    """Distance from the median of the newest values, in units of the tail on that side.

    Use it where load comes and goes and single readings matter: request rates, crash counts,
    latencies of a service. A value costs O(log window) comparisons and one move in memory.

    References
    ----------
    F. R. Hampel, "The Influence Curve and Its Role in Robust Estimation", JASA 69 (1974), 383-393,
    for distances from the median; M. Hubert, E. Vandervieren, "An adjusted boxplot for skewed
    distributions", CSDA 52 (2008), 5186-5201, for a spread of each side.

    Examples
    --------
    >>> test = OutlierConfig().build()
    >>> told = [test.update(value) for value in [10.0, 11.0, 12.0] * 20 + [90.0, 95.0, 11.0]]
    >>> [i for i, back in enumerate(told) if back is not None]
    [60]
    """

    def __init__(self, config: OutlierConfig) -> None:
        self._config = config
        self._newest: deque[float] = deque()
        self._sorted: list[float] = []
        self._frozen = 0
        self._step = math.inf
        self._last = math.nan
        self._since_told = config.hold_samples

    def update(self, value: float) -> int | None:
        if not math.isfinite(value):
            return None
        if value != self._last and math.isfinite(self._last):
            self._step = min(self._step, abs(value - self._last))
        self._last = value
        x = math.copysign(abs(value) ** self._config.power, value)
        if len(self._sorted) < _LEAST_VALUES:
            self._remember(x)
            return None
        median = self._quantile(0.5)
        spread = self._spread(x, median)
        sigma = (x - median) / spread
        if not self._is_frozen(sigma):
            reach = self._config.largest_sigmas * spread
            self._remember(max(median - reach, min(median + reach, x)))
        return self._told(sigma)

    def _told(self, sigma: float) -> int | None:
        self._since_told += 1
        if abs(sigma) <= self._config.threshold_sigmas:
            return None
        is_held = self._since_told <= self._config.hold_samples
        if not is_held or self._config.hold_extends:
            self._since_told = 0
        return None if is_held else 0

    def _is_frozen(self, sigma: float) -> bool:
        if abs(sigma) <= self._config.frozen_sigmas:
            self._frozen = 0
            return False
        if self._frozen >= self._config.frozen_samples:
            return False
        self._frozen += 1
        return True

    def _spread(self, x: float, median: float) -> float:
        config = self._config
        body = _QUARTILES_TO_SIGMA * (self._quantile(0.75) - self._quantile(0.25))
        end = self._quantile(config.tail if x > median else 1.0 - config.tail)
        steps = 0.0
        if math.isfinite(self._step):
            level = abs(median) ** (1.0 / config.power)
            steps = (level + config.least_steps * self._step) ** config.power - abs(median)
        tail = abs(end - median) / config.tail_sigmas
        return max(body, tail, config.least_ratio * abs(median), steps, 1e-12)

    def _quantile(self, share: float) -> float:
        place = share * (len(self._sorted) - 1)
        low = int(place)
        high = min(low + 1, len(self._sorted) - 1)
        return self._sorted[low] + (self._sorted[high] - self._sorted[low]) * (place - low)

    def _remember(self, x: float) -> None:
        if len(self._newest) == self._config.window_samples:
            self._sorted.pop(bisect_left(self._sorted, self._newest.popleft()))
        insort(self._sorted, x)
        self._newest.append(x)

    def __repr__(self) -> str:
        return f"Outlier({len(self._newest)} values, {self._config!r})"
