"""What every change detector offers."""

import math
from typing import Protocol

from detectors.hot import Test


class Detector(Protocol):
    """Is given one standardised value at a time, and answers with the shift when it finds one.

    Only finite values: one NaN would silence River's tests for good, so it is refused. It knows no
    time and draws no random numbers, can be pickled at any value, and begins anew after it told.
    """

    def update(self, value: float) -> float | None:
        """Return the shift in sigmas at the value that tells it, else None.

        Raises
        ------
        ValueError
            The value is not finite; the state is as before.
        """
        ...


class Builds(Protocol):
    """A detector's settings."""

    def build(self) -> Detector: ...

    def test(self) -> Test | None:
        """Return the sums over all series that tell what `build` does; None where there are none.

        They are kept as arrays, a hundred times faster than an object for every series.
        """
        ...


def require_finite(value: float) -> None:
    """Raise ValueError unless the value is finite."""
    if not math.isfinite(value):
        raise ValueError(f"value is {value!r}, a detector takes finite values only")


def clipped(value: float, largest: float) -> float:
    """Return a finite value, no further from zero than `largest`."""
    require_finite(value)
    return max(-largest, min(largest, value))
