"""Numbers for series, so that readings can travel by column before they have a layout."""

import numpy as np
from numpy.typing import NDArray

from cluster.frame import SeriesKey


class Slots:
    """Gives each series a number, the same for ever; the owner starts anew when there are many."""

    def __init__(self) -> None:
        self.keys: list[SeriesKey] = []
        self._numbers: dict[SeriesKey, int] = {}

    def __len__(self) -> int:
        return len(self.keys)

    def of(self, key: SeriesKey) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.keys)
            self.keys.append(key)
        return number


class SlotNumbers:
    """What number the slots have elsewhere: -1 until it is put."""

    def __init__(self) -> None:
        self._slots: Slots | None = None
        self._numbers = np.empty(0, np.int64)

    def of(self, slots: Slots, numbered: NDArray[np.int64]) -> NDArray[np.int64]:
        if slots is not self._slots:
            self._slots = slots
            self._numbers = np.empty(0, np.int64)
        missing = len(slots) - len(self._numbers)
        if missing:
            self._numbers = np.concatenate([self._numbers, np.full(missing, -1)])
        return self._numbers[numbered]

    def put(self, slot: int, number: int) -> None:
        self._numbers[slot] = number
