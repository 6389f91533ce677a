"""Readings of one series, with the time of the device and of the collector."""

from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import NamedTuple

_KEPT = 4096


class Reading(NamedTuple):
    """One reading: device time, collector's time, value; all finite."""

    time_ns: int
    received_ns: int
    value: float


class Readings:
    """The newest readings of a series, bounded."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._readings: deque[Reading] = deque(maxlen=kept)

    def __iter__(self) -> Iterator[Reading]:
        return iter(self._readings)

    def __len__(self) -> int:
        return len(self._readings)

    def append(self, reading: Reading) -> None:
        self._readings.append(reading)

    @property
    def newest(self) -> Reading | None:
        return self._readings[-1] if self._readings else None

    def before(self, device_ns: int) -> list[float]:
        """Return the values whose device time is before a moment."""
        return [r.value for r in self._readings if r.time_ns < device_ns]

    def since(self, device_ns: int, *, until_received_ns: int) -> list[float]:
        """Return the values from a device time on that had come in by a moment of our clock."""
        return [
            r.value
            for r in self._readings
            if r.time_ns >= device_ns and r.received_ns <= until_received_ns
        ]

    def received_after(self, received_ns: int) -> list[Reading]:
        return [r for r in self._readings if r.received_ns > received_ns]

    def level(self, last: int = 5) -> float | None:
        """Return the median of the last few values."""
        values = [r.value for r in self._readings][-last:]
        return median(values) if values else None

    def rate(self) -> float | None:
        """Return a counter's median rate per second of device time.

        None before two readings that do not fall.
        """
        rates = [
            (b.value - a.value) * 1e9 / (b.time_ns - a.time_ns)
            for a, b in pairwise(self._readings)
            if b.time_ns > a.time_ns and b.value >= a.value
        ]
        return median(rates) if rates else None
