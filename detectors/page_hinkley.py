"""Page-Hinkley test: a small, lasting shift of a standardised series' mean."""

from typing import Any, Literal

from pydantic import PositiveFloat

from cluster.config import Config
from detectors.base import clipped
from detectors.hot import Test


class PageHinkleyConfig(Config):
    """Settings of the Page-Hinkley test.

    Attributes
    ----------
    tolerance_sigmas
        Shift of the mean that is accepted.
    threshold_sigmas
        Deviation accumulated beyond the tolerance that tells a shift.
    largest_sigmas
        A single value counts for no more than this, so that one spike tells nothing.
    """

    kind: Literal["page_hinkley"] = "page_hinkley"
    tolerance_sigmas: PositiveFloat = 1.0
    threshold_sigmas: PositiveFloat = 12.0
    largest_sigmas: PositiveFloat = 8.0

    def build(self) -> "PageHinkley":
        return PageHinkley(self)

    def test(self) -> Test:
        return Test(
            of_spread=False,
            adapts=True,
            tolerance=self.tolerance_sigmas,
            threshold=self.threshold_sigmas,
            largest=self.largest_sigmas,
        )


class PageHinkley:
    """Two-sided Page-Hinkley test on standardised values, O(1) time and memory per value.

    Use it where a mean creeps or steps, as corrected FEC codewords do on a dying optic. River's,
    with nothing forgotten (``alpha=1``): forgetting pulls the sums of a slow shift back to zero.

    References
    ----------
    E. S. Page, "Continuous Inspection Schemes", Biometrika 41 (1954), 100-115.

    Examples
    --------
    >>> test = PageHinkleyConfig().build()
    >>> shifts = [test.update(value) for value in [0.5, -0.5] * 30 + [5.0] * 10]
    >>> next(i for i, shift in enumerate(shifts) if shift is not None)
    63
    """

    def __init__(self, config: PageHinkleyConfig) -> None:
        from river import drift  # noqa: PLC0415 - a second of import that acting never needs

        self._largest = config.largest_sigmas
        self._test: Any = drift.PageHinkley(
            min_instances=1,
            delta=config.tolerance_sigmas,
            threshold=config.threshold_sigmas,
            alpha=1.0,
        )

    def update(self, value: float) -> float | None:
        self._test.update(clipped(value, self._largest))
        return value if self._test.drift_detected else None

    def __repr__(self) -> str:
        return f"PageHinkley(largest={self._largest}, test={self._test!r})"
