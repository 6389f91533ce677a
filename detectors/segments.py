"""Segments of one series: where its mean changed, whatever the lengths before and after."""

import math
from typing import Literal

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from cluster.config import Config
from detectors.series import Floats


class SegmentsConfig(Config):
    """Settings of the test for segments.

    Attributes
    ----------
    threshold
        Twice the logarithm of the likelihood ratio that tells a change.
    least_samples
        Values on each side of a change, at least.
    most_samples
        Newest values of a segment that are looked at.
    least_variance_ratio
        Variance around a segment's mean, relative to that of the first values, at least.
    first_samples
        How many values those are.
    """

    kind: Literal["segments"] = "segments"
    threshold: PositiveFloat = 80.0
    least_samples: PositiveInt = 5
    most_samples: PositiveInt = 1000
    least_variance_ratio: PositiveFloat = 1e-3
    first_samples: int = Field(default=30, ge=2)

    def build(self) -> "Segments":
        return Segments(self)


class Segments:
    """Likelihood ratio of one mean against two, with the spread unknown, over all places to change.

    Use it where levels change for good and when is asked as much as whether: what it returns is the
    most likely beginning. FOCuS finds the same maximum with fewer candidates when the spread is
    known; here it is not, and a value costs one NumPy pass over its segment.

    References
    ----------
    D. Siegmund, E. S. Venkatraman, "Using the Generalized Likelihood Ratio Statistic for Sequential
    Detection of a Change-Point", Annals of Statistics 23 (1995), 255-271. G. Romano, I. Eckley,
    P. Fearnhead, G. Rigaill, "Fast Online Changepoint Detection via Functional Pruning CUSUM
    Statistics", JMLR 24 (2023), 1-36.

    Examples
    --------
    >>> test = SegmentsConfig(threshold=30.0).build()
    >>> told = [test.update(value) for value in [1.0, 2.0, 1.5] * 10 + [6.0, 7.0, 6.5] * 4]
    >>> [(i, back) for i, back in enumerate(told) if back is not None]
    [(33, 4)]
    """

    def __init__(self, config: SegmentsConfig) -> None:
        self._config = config
        self._values: list[float] = []
        self._first: list[float] = []
        self._least_variance = 0.0

    def update(self, value: float) -> int | None:
        if not math.isfinite(value):
            return None
        if len(self._first) < self._config.first_samples:
            self._first.append(value)
            variance = max(float(np.var(self._first)), 1e-12 * value * value, 1e-300)
            self._least_variance = self._config.least_variance_ratio * variance
        self._values.append(value)
        del self._values[: -self._config.most_samples]
        if len(self._values) < 2 * self._config.least_samples:
            return None
        ratio, begin = self._best(np.array(self._values))
        if ratio <= self._config.threshold:
            return None
        self._values = self._values[begin:]
        return len(self._values) - 1

    def _best(self, values: Floats) -> tuple[float, int]:
        """Return the largest ratio, and the place that the second of two segments begins at."""
        count = len(values)
        centred = values - values.mean()
        left = np.arange(self._config.least_samples, count - self._config.least_samples + 1)
        sums = np.cumsum(centred)[left - 1]
        # Around two means the squares are less by what the means explain.
        explained = sums * sums * (1.0 / left + 1.0 / (count - left))
        best = int(np.argmax(explained))
        least = count * self._least_variance
        whole = float(centred @ centred)
        parts = max(whole - float(explained[best]), 0.0)
        return count * math.log((whole + least) / (parts + least)), int(left[best])

    def __repr__(self) -> str:
        return f"Segments({len(self._values)} values, {self._config!r})"
