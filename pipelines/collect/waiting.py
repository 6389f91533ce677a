"""Readings that wait for the next frames of their source, by column."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Joined(NamedTuple):
    """Readings as cells of a table.

    Attributes
    ----------
    times_ns
        Device time of each row, in order.
    rows, numbers, values
        Of each reading: its row, its column, what it is.
    """

    times_ns: NDArray[np.int64]
    rows: NDArray[np.intp]
    numbers: NDArray[np.int64]
    values: NDArray[np.float64]

    def only(self, chosen: NDArray[np.intp]) -> "Joined":
        """Return these readings; rows that have none of them are left out."""
        used, rows = np.unique(self.rows[chosen], return_inverse=True)
        return Joined(self.times_ns[used], rows, self.numbers[chosen], self.values[chosen])


class Waiting:
    """Readings of one window; a column has at most one at a device time."""

    def __init__(self) -> None:
        self._times: list[NDArray[np.int64]] = []
        self._counts: list[NDArray[np.int64]] = []
        self._numbers: list[NDArray[np.int64]] = []
        self._values: list[NDArray[np.float64]] = []
        self._singles: list[tuple[int, int, float]] = []
        self._places: set[tuple[int, int]] = set()
        self._placed = 0
        self._many = 0

    def __len__(self) -> int:
        return self._many + len(self._singles)

    def add(
        self,
        times_ns: NDArray[np.int64],
        counts: NDArray[np.int64],
        numbers: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> None:
        """Take readings; each time has so many of them."""
        if len(numbers):
            self._times.append(times_ns)
            self._counts.append(counts)
            self._numbers.append(numbers)
            self._values.append(values)
            self._many += len(numbers)

    def add_one(self, time_ns: int, number: int, value: float) -> None:
        self._singles.append((time_ns, number, value))
        self._places.add((time_ns, number))

    def has(self, time_ns: int, number: int) -> bool:
        """Tell whether a column has a reading of that time; costs most when first asked."""
        for i in range(self._placed, len(self._numbers)):
            times = np.repeat(self._times[i], self._counts[i]).tolist()
            self._places.update(zip(times, self._numbers[i].tolist(), strict=True))
        self._placed = len(self._numbers)
        return (time_ns, number) in self._places

    def columns(self) -> NDArray[np.int64]:
        """Return the columns that have readings."""
        singles = np.array([number for _, number, _ in self._singles], np.int64)
        return np.unique(np.concatenate([*self._numbers, singles]))

    def renumber(self, moved: NDArray[np.int64]) -> None:
        """Give each column the number that stands at its old one."""
        self._numbers = [moved[numbers] for numbers in self._numbers]
        self._singles = [(t, int(moved[n]), value) for t, n, value in self._singles]
        self._places = {(time_ns, number) for time_ns, number, _ in self._singles}
        self._placed = 0

    def joined(self) -> Joined:
        """Return all readings; there must be one."""
        if self._singles:
            times, numbers, values = zip(*self._singles, strict=True)
            self.add(
                np.array(times, np.int64),
                np.ones(len(times), np.int64),
                np.array(numbers, np.int64),
                np.array(values, np.float64),
            )
            self._singles = []
        each = np.concatenate(self._times)
        rows = np.unique(each)
        of_message = np.searchsorted(rows, each)
        return Joined(
            rows,
            np.repeat(of_message, np.concatenate(self._counts)),
            np.concatenate(self._numbers),
            np.concatenate(self._values),
        )
