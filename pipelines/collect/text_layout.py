"""The lines of a scrape that do not change: all but the values, if a scrape is like the last."""

from collections.abc import Callable, Iterable, Sequence
from operator import getitem, itemgetter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_NO_TIMES: Final = np.empty(0, np.int64)


class Sample(NamedTuple):
    """Where a line's value begins, and whether a time follows it."""

    line: int
    start: int
    has_time: bool


class Numbers(NamedTuple):
    """Values of all samples, and their times in ms: 0 where one has none, empty where none has."""

    values: NDArray[np.float64]
    times_ms: NDArray[np.int64]

    def of(self, place: int) -> tuple[float, int]:
        time_ms = int(self.times_ms[place]) if len(self.times_ms) else 0
        return float(self.values[place]), time_ms


class TextLayout:
    """What stands before the values.

    Parameters
    ----------
    lines
        Of the scrape that it is taken from.
    samples
        Which of them are samples, in order; all others are comments or blank.
    """

    def __init__(self, lines: Sequence[str], samples: Sequence[Sample]) -> None:
        starts = {sample.line: sample.start for sample in samples}
        # A comment or a blank line must be the same as a whole.
        self._before = [slice(starts.get(i)) for i in range(len(lines))]
        self._fixed = list(map(getitem, lines, self._before))
        self._behind = [slice(sample.start, None) for sample in samples]
        self._picked = _picker([sample.line for sample in samples])
        self._has_time = [sample.has_time for sample in samples]
        self._times = np.flatnonzero(self._has_time)

    def read(self, lines: Sequence[str]) -> Numbers | None:
        """Return the numbers of a scrape; None if it is another one."""
        if len(lines) != len(self._fixed):
            return None
        if list(map(getitem, lines, self._before)) != self._fixed:
            return None
        tails: list[str] = list(map(getitem, self._picked(lines), self._behind))
        if "_" in "".join(tails):  # Python's own digit separator
            return None
        try:
            if len(self._times):
                return self._read_times(tails)
            return Numbers(np.fromiter(map(float, tails), np.float64, len(tails)), _NO_TIMES)
        except (ValueError, OverflowError):  # also of a time where there was none
            return None

    def _read_times(self, tails: Iterable[str]) -> Numbers | None:
        words = [tail.split() for tail in tails]
        if [len(some) > 1 for some in words] != self._has_time:
            return None
        if any(len(some) > 2 for some in words):  # noqa: PLR2004 - a value and a time
            return None
        times = np.zeros(len(words), np.int64)
        times[self._times] = [int(words[i][1]) for i in self._times.tolist()]
        return Numbers(np.array([float(some[0]) for some in words]), times)


def _picker(places: Sequence[int]) -> Callable[[Sequence[str]], Sequence[str]]:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda lines: [lines[place] for place in places]
