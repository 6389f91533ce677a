"""ADWIN: a change of the mean, found by a window that shrinks when its halves disagree."""

from typing import Any, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from cluster.config import Config
from detectors.base import clipped
from detectors.hot import Test


class AdwinConfig(Config):
    """Settings of ADWIN.

    Attributes
    ----------
    delta
        Bound on the chance that one comparison tells a change where there is none.
    clock
        Every how many values the window's halves are compared.
    largest_sigmas
        A single value counts for no more than this.
    """

    kind: Literal["adwin"] = "adwin"
    delta: float = Field(default=0.002, gt=0.0, lt=1.0)
    clock: PositiveInt = 1
    largest_sigmas: PositiveFloat = 8.0

    def build(self) -> "Adwin":
        return Adwin(self)

    def test(self) -> Test | None:
        return None


class Adwin:
    """Adaptive window over standardised values: no tolerance to choose, memory logarithmic.

    It needs more values than Page-Hinkley, and finds shifts that are smaller than its tolerance.

    References
    ----------
    A. Bifet, R. Gavalda, "Learning from Time-Changing Data with Adaptive Windowing", SDM 2007.

    Examples
    --------
    >>> test = AdwinConfig().build()
    >>> shifts = [test.update(value) for value in [0.5, -0.5] * 30 + [5.0] * 10]
    >>> next(i for i, shift in enumerate(shifts) if shift is not None)
    67
    """

    def __init__(self, config: AdwinConfig) -> None:
        from river import drift  # noqa: PLC0415 - a second of import that acting never needs

        self._largest = config.largest_sigmas
        self._test: Any = drift.ADWIN(
            delta=config.delta, clock=config.clock, min_window_length=5, grace_period=10
        )

    def update(self, value: float) -> float | None:
        self._test.update(clipped(value, self._largest))
        return value if self._test.drift_detected else None

    def __repr__(self) -> str:
        return f"Adwin(largest={self._largest}, test={self._test!r})"
