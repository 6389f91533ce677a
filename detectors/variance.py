"""A change of the spread: Page-Hinkley on how far the values are from their baseline."""

from typing import Any, Literal

from pydantic import PositiveFloat

from cluster.config import Config
from detectors.base import clipped
from detectors.hot import Test
from detectors.hot_loops import DISTANCE_DEVIATION, MEAN_DISTANCE


class VarianceConfig(Config):
    """Settings of the test of the spread.

    Attributes
    ----------
    tolerance_sigmas
        Change of the mean distance from the baseline that is accepted, in its own deviations.
    threshold_sigmas
        Change accumulated beyond the tolerance that tells one.
    largest_sigmas
        A single value counts for no more than this, so that one spike tells nothing.
    """

    kind: Literal["variance"] = "variance"
    tolerance_sigmas: PositiveFloat = 0.5
    threshold_sigmas: PositiveFloat = 15.0
    largest_sigmas: PositiveFloat = 8.0

    def build(self) -> "Variance":
        return Variance(self)

    def test(self) -> Test:
        return Test(
            of_spread=True,
            adapts=True,
            tolerance=self.tolerance_sigmas,
            threshold=self.threshold_sigmas,
            largest=self.largest_sigmas,
        )


class Variance:
    """Two-sided Page-Hinkley test on the distance from the baseline; River's.

    Use it where the mean stays and the jitter grows: a step time that is held up now and then, a
    link that flaps too quickly to be seen. What it returns is the distance at the value that told.

    References
    ----------
    E. S. Page, as for Page-Hinkley; D. M. Hawkins, "Cumulative Sum Control Charting: An
    Underutilized SPC Tool", Quality Engineering 5 (1993), 463-477, for sums of distances.

    Examples
    --------
    >>> test = VarianceConfig().build()
    >>> shifts = [test.update(value) for value in [0.8, -0.8] * 30 + [4.0, -4.0] * 10]
    >>> next(i for i, shift in enumerate(shifts) if shift is not None)
    63
    """

    def __init__(self, config: VarianceConfig) -> None:
        from river import drift  # noqa: PLC0415 - a second of import that acting never needs

        self._largest = config.largest_sigmas
        self._test: Any = drift.PageHinkley(
            min_instances=1,
            delta=config.tolerance_sigmas,
            threshold=config.threshold_sigmas,
            alpha=1.0,
        )

    def update(self, value: float) -> float | None:
        distance = abs(clipped(value, self._largest))
        self._test.update((distance - MEAN_DISTANCE) / DISTANCE_DEVIATION)
        return value if self._test.drift_detected else None

    def __repr__(self) -> str:
        return f"Variance(largest={self._largest}, test={self._test!r})"
