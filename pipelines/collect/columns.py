"""The series of one source as columns: what each may be, and the last reading that was taken."""

from sys import float_info
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cluster.catalogue import series_metric
from cluster.frame import SeriesKey

_FIRST_ROOM: Final = 16
_NUMBERS: Final = ("lowest", "highest", "last_value")
_COUNTS: Final = ("last_time_ns", "newest_ns", "newest_window", "received_ns", "component")


class Columns:
    """One entry a series in every array; beyond ``size`` they are room to grow.

    Attributes
    ----------
    lowest, highest
        What a reading may be.
    last_time_ns, last_value
        Of the last reading that was taken; time -1 before the first.
    newest_ns, newest_window
        The latest device time that was taken, and in which window of frames.
    component
        Columns of one component have one number.
    """

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    last_value: NDArray[np.float64]
    last_time_ns: NDArray[np.int64]
    newest_ns: NDArray[np.int64]
    newest_window: NDArray[np.int64]
    received_ns: NDArray[np.int64]
    component: NDArray[np.int64]

    def __init__(self) -> None:
        self.keys: list[SeriesKey] = []
        self.index: dict[SeriesKey, int] = {}
        self._components: dict[str, int] = {}
        self._room = _FIRST_ROOM
        for name in _NUMBERS:
            setattr(self, name, np.zeros(_FIRST_ROOM))
        for name in _COUNTS:
            setattr(self, name, np.zeros(_FIRST_ROOM, np.int64))

    @property
    def size(self) -> int:
        return len(self.keys)

    def add(self, key: SeriesKey) -> int:
        """Return the number of a new column."""
        number = len(self.keys)
        if number == self._room:
            self._room *= 2
            for name in (*_NUMBERS, *_COUNTS):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
        metric = series_metric(key.metric)
        most = float_info.max
        self.lowest[number] = -most if metric is None else metric.lowest
        self.highest[number] = most if metric is None else min(metric.highest, most)
        self.last_time_ns[number] = self.newest_ns[number] = self.newest_window[number] = -1
        self.component[number] = self._components.setdefault(key.component, len(self._components))
        self.keys.append(key)
        self.index[key] = number
        return number

    def keep(self, numbers: NDArray[np.int64]) -> None:
        """Keep these columns only, in this order; their numbers become 0, 1 and so on."""
        for name in (*_NUMBERS, *_COUNTS):
            kept = getattr(self, name)[numbers]
            setattr(self, name, np.concatenate([kept, np.zeros(_FIRST_ROOM, kept.dtype)]))
        self._room = len(numbers) + _FIRST_ROOM
        self.keys = [self.keys[number] for number in numbers.tolist()]
        self.index = {key: number for number, key in enumerate(self.keys)}
        self._components = {}
        for number, key in enumerate(self.keys):
            place = self._components.setdefault(key.component, len(self._components))
            self.component[number] = place
