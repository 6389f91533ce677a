"""What every change detector offers."""

import math
from typing import Protocol


class Detector(Protocol):
    """Is given one standardised value at a time, and answers with the shift when it finds one.

    Only finite values: one NaN would silence River's tests for good, so it is refused.
    """

    def update(self, value: float) -> float | None:
        """Return the shift in sigmas at the value that tells it, else None.

        Raises
        ------
        ValueError
            The value is not finite; the state is as before.
        """
        ...


def require_finite(value: float) -> None:
    """Raise ValueError unless the value is finite."""
    if not math.isfinite(value):
        raise ValueError(f"value is {value!r}, a detector takes finite values only")
