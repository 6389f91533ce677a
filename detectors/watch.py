"""One series watched alone: raw values in, how long ago a change began out."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from detectors.kinds import DetectorConfig
from detectors.series import Rows
from detectors.standardise import Standardise
from detectors.traits import Traits
from detectors.verify import SUSPICIOUS_SIGMAS

# An autocorrelation that a warm-up of independent values hardly ever shows.
_LEAST_AUTOCORRELATION = 0.35
_LARGEST_AUTOCORRELATION = 0.95
# Relative to the level; a constant series has no spread of its own.
_LEAST_EFFECT_RATIO = 1e-6


class Watcher(Protocol):
    """Is given a series' values in time order; it knows no times, labels or other series."""

    def update(self, value: float) -> int | None:
        """Return how many values ago a change began when this value tells one, else None.

        A value that is not finite says nothing.
        """
        ...


class Watch:
    """Standardises a series by its own warm-up and feeds change detectors.

    Values that hang together (an autocorrelation that chance hardly gives) are replaced by what
    each adds to its predecessor, so that healthy ones are as independent as detectors take them to
    be. The baseline stands still at suspicious values and begins anew after a change was told.

    Examples
    --------
    >>> from detectors.cusum import CusumConfig
    >>> watch = Watch([CusumConfig()], warmup_samples=20)
    >>> told = [watch.update(value) for value in [5e-6, 4e-6, 6e-6] * 15 + [9e-6] * 5]
    >>> [i for i, back in enumerate(told) if back is not None]
    [46]
    """

    def __init__(
        self,
        detectors: Sequence[DetectorConfig],
        *,
        warmup_samples: int = 60,
        least_effect_ratio: float = _LEAST_EFFECT_RATIO,
    ) -> None:
        self._configs = tuple(detectors)
        self._least_effect = least_effect_ratio
        self._warmup = warmup_samples
        self._run = 0
        self._begin()

    def update(self, value: float) -> int | None:
        if not math.isfinite(value):
            return None
        if len(self._first) < self._warmup:
            self._first.append(value)
            if len(self._first) == self._warmup:
                self._settle()
            return None
        said = self._innovation(value)
        sigma = self._sigma(said)
        self._run = self._run + 1 if abs(sigma) >= SUSPICIOUS_SIGMAS else 0
        if any(detector.update(sigma) is not None for detector in self._detectors):
            back = max(self._run - 1, 0)
            self._begin()
            return back
        return None

    def _begin(self) -> None:
        self._first: list[float] = []
        self._detectors = [config.build() for config in self._configs]
        self._baseline = Standardise(self._warmup - 1)
        self._row = Rows(np.array([0]))
        self._baseline.add(self._row.ids, [Traits(math.nan, self._least_effect, 0.0, 0)])
        self._correlation = 0.0
        self._before = 0.0
        self._run = 0

    def _settle(self) -> None:
        self._correlation = autocorrelation(self._first)
        self._before = self._first[0]
        said = [self._innovation(value) for value in self._first[1:]]
        for value in said:
            self._baseline.learn(self._row, np.array([value]), np.array([False]))
        for sigma in self._baseline.take_windows(self._row.ids)[0].tolist():
            for detector in self._detectors:
                detector.update(sigma)

    def _innovation(self, value: float) -> float:
        said = value - self._correlation * self._before
        self._before = value
        return said

    def _sigma(self, said: float) -> float:
        scaled = np.array([said])
        sigma = self._baseline.sigmas(self._row, scaled)
        self._baseline.learn(self._row, scaled, np.abs(sigma) < SUSPICIOUS_SIGMAS)
        return float(sigma[0])


def autocorrelation(values: Sequence[float]) -> float:
    """Return how far each value hangs together with the one before it; 0 where chance may do it.

    Examples
    --------
    >>> round(autocorrelation([1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 2.0, 2.0] * 8), 2)
    0.5
    >>> autocorrelation([1.0, 2.0] * 20)
    0.0
    """
    centred = np.asarray(values, dtype=float) - np.median(values)
    spread = float(centred @ centred)
    if spread <= 0.0:
        return 0.0
    found = float(centred[1:] @ centred[:-1]) / spread
    return min(found, _LARGEST_AUTOCORRELATION) if found >= _LEAST_AUTOCORRELATION else 0.0
