"""Sums over arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def summed(place: NDArray[Any], weight: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the sum of the weights at each place, shape (size,)."""
    return np.asarray(np.bincount(place, weight, minlength=size), dtype=np.float64)
