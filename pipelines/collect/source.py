"""One source's series and the readings that wait for its next frame."""

from collections import Counter
from collections.abc import Iterable, Iterator
from sys import float_info
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cluster.catalogue import series_metric
from cluster.frame import Layout, SeriesKey
from pipelines.collect.checked import BAD_TIME, COLLISION, REPEATED, TOO_MANY_SERIES, refusal

# Below this share of filled cells a large block is cut by component, so that rows of many ports,
# each with a device time of its own, do not travel as a matrix of blanks. A small one is not: a
# message costs its readers more than a few thousand blanks.
_LEAST_FILLED: Final = 1 / 8
_SMALL_CELLS: Final = 16 * 1024
_LARGEST_CELLS: Final = 64 * 1024

# What the database's seconds can hold: 1970 to 2106.
_EARLIEST_NS: Final = 1
_LATEST_NS: Final = (2**32 - 1) * 1_000_000_000

Rows = dict[int, dict[int, float]]
Reading = tuple[SeriesKey, float]


class Block(NamedTuple):
    """Readings by column: what a frame carries."""

    layout: Layout
    time_ns: NDArray[np.int64]
    values: NDArray[np.float64]
    ended_columns: tuple[int, ...] = ()


class _Column:
    """A series: its range, and the last reading that was taken."""

    __slots__ = ("highest", "key", "last_time_ns", "last_value", "lowest", "received_ns")

    def __init__(self, key: SeriesKey) -> None:
        metric = series_metric(key.metric)
        self.key = key
        self.lowest = -float_info.max if metric is None else metric.lowest
        self.highest = float_info.max if metric is None else min(metric.highest, float_info.max)
        self.last_time_ns = -1
        self.last_value = 0.0
        self.received_ns = 0


class SourceReadings:
    """Takes readings and hands them out as blocks with stable layouts.

    A layout has all columns of the source, or those of one component; it grows when a new series
    appears. Memory is bounded: beyond ``most_series`` new series are refused.

    Attributes
    ----------
    received_ns
        When readings were last taken, by the collector's clock.
    """

    def __init__(self, *, most_series: int, refused: Counter[str]) -> None:
        self.received_ns = 0
        self._most_series = most_series
        self._refused = refused
        self._columns: list[_Column] = []
        self._index: dict[SeriesKey, int] = {}
        self._rows: Rows = {}
        self._whole: Layout | None = None
        self._parts: dict[str, tuple[Layout, list[int]]] = {}

    @property
    def series(self) -> int:
        return len(self._columns)

    @property
    def waits(self) -> bool:
        return bool(self._rows)

    def take(self, time_ns: int, readings: Iterable[Reading], received_ns: int) -> int:
        """Take readings of one device time; return how many were accepted.

        The others are counted by reason in the counter given at construction.
        """
        self.received_ns = received_ns
        if not _EARLIEST_NS <= time_ns <= _LATEST_NS:
            self._refused[BAD_TIME] += len(list(readings))
            return 0
        row = self._rows.setdefault(time_ns, {})
        accepted = 0
        for key, value in readings:
            number = self._index.get(key)
            if number is None:
                number = self._new_column(key, value)
                if number is None:
                    continue
            column = self._columns[number]
            if (
                column.lowest <= value <= column.highest
                and number not in row
                and (column.last_time_ns != time_ns or column.last_value == value)
            ):
                row[number] = value
                column.last_time_ns, column.last_value = time_ns, value
                column.received_ns = received_ns
                accepted += 1
            else:
                self._refused[_why(column, time_ns, value)] += 1
        if not row:
            del self._rows[time_ns]
        return accepted

    def blocks(self) -> Iterator[Block]:
        """Hand out what waits."""
        rows, self._rows = self._rows, {}
        if not rows:
            return
        cells = len(rows) * len(self._columns)
        filled = sum(len(row) for row in rows.values())
        if cells <= _SMALL_CELLS or filled >= cells * _LEAST_FILLED:
            yield from _cut(self._whole_layout(), range(len(self._columns)), rows)
            return
        for component in dict.fromkeys(
            self._columns[number].key.component for row in rows.values() for number in row
        ):
            layout, numbers = self._part(component)
            wanted = set(numbers)
            part = {
                time_ns: {number: value for number, value in row.items() if number in wanted}
                for time_ns, row in rows.items()
            }
            yield from _cut(layout, numbers, {t: row for t, row in part.items() if row})

    def end(self, keys: Iterable[SeriesKey]) -> Iterator[Block]:
        """Hand out what waits, then the end of these series; they are forgotten."""
        ended = {self._index[key] for key in keys if key in self._index}
        yield from self.blocks()
        for component in dict.fromkeys(self._columns[n].key.component for n in sorted(ended)):
            layout, numbers = self._part(component)
            places = tuple(i for i, number in enumerate(numbers) if number in ended)
            none = np.empty((0, len(numbers)))
            yield Block(layout, np.empty(0, np.int64), none, places)
        self._forget(ended)

    def evict(self, older_than_ns: int) -> int:
        """Forget series that have not come since; return how many."""
        idle = {n for n, column in enumerate(self._columns) if column.received_ns < older_than_ns}
        waiting = {number for row in self._rows.values() for number in row}
        self._forget(idle - waiting)
        return len(idle - waiting)

    def _new_column(self, key: SeriesKey, value: float) -> int | None:
        reason = refusal(series_metric(key.metric), value)
        if not reason and len(self._columns) >= self._most_series:
            reason = TOO_MANY_SERIES
        if reason:
            self._refused[reason] += 1
            return None
        self._columns.append(_Column(key))
        self._whole = None
        self._parts.pop(key.component, None)
        number = self._index[key] = len(self._columns) - 1
        return number

    def _forget(self, numbers: set[int]) -> None:
        if not numbers:
            return
        kept = [n for n in range(len(self._columns)) if n not in numbers]
        moved = {old: new for new, old in enumerate(kept)}
        self._rows = {
            time_ns: {moved[n]: value for n, value in row.items()}
            for time_ns, row in self._rows.items()
        }
        self._columns = [self._columns[n] for n in kept]
        self._index = {column.key: n for n, column in enumerate(self._columns)}
        self._whole = None
        self._parts.clear()

    def _whole_layout(self) -> Layout:
        if self._whole is None:
            self._whole = Layout(tuple(column.key for column in self._columns))
        return self._whole

    def _part(self, component: str) -> tuple[Layout, list[int]]:
        part = self._parts.get(component)
        if part is None:
            numbers = [n for n, c in enumerate(self._columns) if c.key.component == component]
            layout = Layout(tuple(self._columns[n].key for n in numbers))
            part = self._parts[component] = (layout, numbers)
        return part


def _why(column: _Column, time_ns: int, value: float) -> str:
    """Return why a reading of a known series is refused."""
    if not column.lowest <= value <= column.highest:
        return refusal(series_metric(column.key.metric), value)
    is_same = column.last_time_ns != time_ns or column.last_value == value
    return REPEATED if is_same else COLLISION


def _cut(layout: Layout, numbers: Iterable[int], rows: Rows) -> Iterator[Block]:
    """Yield the rows in order of device time, in blocks that fit a Kafka message."""
    place = {number: i for i, number in enumerate(numbers)}
    times = sorted(rows)
    step = max(1, _LARGEST_CELLS // max(1, len(place)))
    for start in range(0, len(times), step):
        some = times[start : start + step]
        values = np.full((len(some), len(place)), np.nan)
        for i, time_ns in enumerate(some):
            row = rows[time_ns]
            values[i, [place[number] for number in row]] = list(row.values())
        yield Block(layout, np.array(some, np.int64), values)
