"""CUSUM: the quickest way to tell a shift of known size, by its sum beyond half that size."""

from typing import Literal

from pydantic import PositiveFloat

from cluster.config import Config
from detectors.base import clipped
from detectors.hot import Test


class CusumConfig(Config):
    """Settings of CUSUM.

    Attributes
    ----------
    tolerance_sigmas
        Half of the smallest shift that is to be found.
    threshold_sigmas
        Sum beyond the tolerance that tells a shift; 8 of them once in 10,000 healthy values.
    largest_sigmas
        A single value counts for no more than this, so that one spike tells nothing.
    """

    kind: Literal["cusum"] = "cusum"
    tolerance_sigmas: PositiveFloat = 0.5
    threshold_sigmas: PositiveFloat = 8.0
    largest_sigmas: PositiveFloat = 8.0

    def build(self) -> "Cusum":
        return Cusum(self)

    def test(self) -> Test:
        return Test(
            of_spread=False,
            adapts=False,
            tolerance=self.tolerance_sigmas,
            threshold=self.threshold_sigmas,
            largest=self.largest_sigmas,
        )


class Cusum:
    """Two-sided CUSUM around zero, O(1) time and memory per value.

    Quicker than Page-Hinkley where the baseline is well known; where it is not, what the baseline
    is wrong by is a shift too, and Page-Hinkley's own mean is what saves it.

    References
    ----------
    E. S. Page, "Continuous Inspection Schemes", Biometrika 41 (1954), 100-115. G. V. Moustakides,
    "Optimal Stopping Times for Detecting Changes in Distributions", Annals of Statistics 14 (1986).

    Examples
    --------
    >>> test = CusumConfig().build()
    >>> shifts = [test.update(value) for value in [0.5, -0.5] * 30 + [3.0] * 10]
    >>> next(i for i, shift in enumerate(shifts) if shift is not None)
    63
    """

    def __init__(self, config: CusumConfig) -> None:
        self._config = config
        self._up = 0.0
        self._down = 0.0

    def update(self, value: float) -> float | None:
        config = self._config
        x = clipped(value, config.largest_sigmas)
        self._up = max(0.0, self._up + x - config.tolerance_sigmas)
        self._down = max(0.0, self._down - x - config.tolerance_sigmas)
        if max(self._up, self._down) <= config.threshold_sigmas:
            return None
        self._up = self._down = 0.0
        return value

    def __repr__(self) -> str:
        return f"Cusum(up={self._up:.3g}, down={self._down:.3g}, {self._config!r})"
