"""One source's series and the readings that wait for its next frame."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cluster.catalogue import series_metric
from cluster.frame import Layout, SeriesKey
from pipelines.collect.checked import BAD_TIME, COLLISION, REPEATED, TOO_MANY_SERIES, refusal
from pipelines.collect.columns import Columns
from pipelines.collect.shapes import Readings
from pipelines.collect.slots import SlotNumbers, Slots
from pipelines.collect.waiting import Joined, Waiting

# Below this share of filled cells a large block is cut by component, so that rows of many ports,
# each with a device time of its own, do not travel as a matrix of blanks. A small one is not: a
# message costs its readers more than a few thousand blanks.
_LEAST_FILLED: Final = 1 / 8
_SMALL_CELLS: Final = 16 * 1024
_LARGEST_CELLS: Final = 64 * 1024

# What the database's seconds can hold: 1970 to 2106.
_EARLIEST_NS: Final = 1
_LATEST_NS: Final = (2**32 - 1) * 1_000_000_000
# Below so many readings arrays cost more than they save.
_FEW: Final = 48

Reading = tuple[SeriesKey, float]


class Block(NamedTuple):
    """Readings by column: what a frame carries."""

    layout: Layout
    time_ns: NDArray[np.int64]
    values: NDArray[np.float64]
    ended_columns: tuple[int, ...] = ()


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
        self._columns = Columns()
        self._waiting = Waiting()
        self._window = 0
        self._numbers = SlotNumbers()
        self._whole: Layout | None = None
        self._parts: dict[str, tuple[Layout, NDArray[np.int64]]] = {}

    @property
    def series(self) -> int:
        return self._columns.size

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def take(self, time_ns: int, readings: Iterable[Reading], received_ns: int) -> int:
        """Take readings of one device time; return how many were accepted.

        The others are counted by reason in the counter given at construction.
        """
        self.received_ns = received_ns
        some = list(readings)
        if not _EARLIEST_NS <= time_ns <= _LATEST_NS:
            self._refused[BAD_TIME] += len(some)
            return 0
        numbers, values = [], []
        for key, value in some:
            number = self._number(key, value)
            if number >= 0:
                numbers.append(number)
                values.append(value)
        if len(numbers) < _FEW or len(set(numbers)) < len(numbers):
            return self._take_few(time_ns, numbers, values, received_ns)
        return self._take_many(
            np.array([time_ns]),
            np.array([len(numbers)]),
            np.array(numbers),
            np.array(values, np.float64),
            received_ns,
        )

    def take_columns(self, slots: Slots, readings: Readings, received_ns: int) -> int:
        """Take readings of several device times, no series twice, as `take` takes those of one."""
        self.received_ns = received_ns
        times, counts, numbered, values = readings
        if times.min() < _EARLIEST_NS or times.max() > _LATEST_NS:
            good = np.repeat((times >= _EARLIEST_NS) & (times <= _LATEST_NS), counts)
            self._refused[BAD_TIME] += int(np.count_nonzero(~good))
            times, counts, numbered, values = _only(readings, good)
        numbers = self._numbers.of(slots, numbered)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            for place in unknown.tolist():
                slot = int(numbered[place])
                number = self._number(slots.keys[slot], float(values[place]))
                self._numbers.put(slot, number)
                numbers[place] = number
            readings = Readings(times, counts, numbers, values)
            times, counts, numbers, values = _only(readings, numbers >= 0)
        return self._take_many(times, counts, numbers, values, received_ns)

    def blocks(self) -> Iterator[Block]:
        """Hand out what waits."""
        waiting, self._waiting = self._waiting, Waiting()
        self._window += 1
        if not waiting:
            return
        joined = waiting.joined()
        cells = len(joined.times_ns) * self._columns.size
        if cells <= _SMALL_CELLS or len(joined.values) >= cells * _LEAST_FILLED:
            yield from _cut(self._whole_layout(), joined)
            return
        components = self._columns.component[joined.numbers]
        order = np.argsort(components, kind="stable")
        _, firsts = np.unique(components, return_index=True)
        bounds = np.searchsorted(components[order], components[firsts], side="right").tolist()
        parts = np.split(order, bounds[:-1])
        for i in np.argsort(firsts).tolist():
            part = joined.only(parts[i])
            component = self._columns.keys[part.numbers[0]].component
            layout, numbers = self._part(component)
            places = np.searchsorted(numbers, part.numbers)
            yield from _cut(layout, part._replace(numbers=places))

    def end(self, keys: Iterable[SeriesKey]) -> Iterator[Block]:
        """Hand out what waits, then the end of these series; they are forgotten."""
        index = self._columns.index
        ended = sorted({index[key] for key in keys if key in index})
        yield from self.blocks()
        for component in dict.fromkeys(self._columns.keys[n].component for n in ended):
            layout, numbers = self._part(component)
            places = tuple(np.flatnonzero(np.isin(numbers, ended)).tolist())
            none = np.empty((0, len(numbers)))
            yield Block(layout, np.empty(0, np.int64), none, places)
        self._forget(np.array(ended, np.int64))

    def evict(self, older_than_ns: int) -> int:
        """Forget series that have not come since; return how many."""
        idle = np.flatnonzero(self._columns.received_ns[: self.series] < older_than_ns)
        gone = np.setdiff1d(idle, self._waiting.columns())
        self._forget(gone)
        return len(gone)

    def _number(self, key: SeriesKey, value: float) -> int:
        """Return a series' column; -1 where it has none and its value cannot open one."""
        number = self._columns.index.get(key)
        if number is not None:
            return number
        reason = refusal(series_metric(key.metric), value)
        if not reason and self.series >= self._most_series:
            reason = TOO_MANY_SERIES
        if reason:
            self._refused[reason] += 1
            return -1
        self._whole = None
        self._parts.pop(key.component, None)
        return self._columns.add(key)

    def _take_few(
        self, time_ns: int, numbers: Sequence[int], values: Sequence[float], received_ns: int
    ) -> int:
        accepted = 0
        for number, value in zip(numbers, values, strict=True):
            reason = self._take_one(time_ns, number, value, received_ns)
            if reason:
                self._refused[reason] += 1
            else:
                accepted += 1
        return accepted

    def _take_one(self, time_ns: int, number: int, value: float, received_ns: int) -> str:
        """Take a reading; return why it is refused, else an empty string."""
        columns = self._columns
        if not columns.lowest[number] <= value <= columns.highest[number]:
            return refusal(series_metric(columns.keys[number].metric), value)
        if columns.last_time_ns[number] == time_ns and columns.last_value[number] != value:
            return COLLISION
        newest = columns.newest_ns[number]
        if time_ns == newest:
            is_there = bool(columns.newest_window[number] == self._window)
        else:
            is_there = time_ns < newest and self._waiting.has(time_ns, number)
        if is_there:
            return REPEATED
        if time_ns >= newest:
            columns.newest_ns[number], columns.newest_window[number] = time_ns, self._window
        columns.last_time_ns[number], columns.last_value[number] = time_ns, value
        columns.received_ns[number] = received_ns
        self._waiting.add_one(time_ns, number, value)
        return ""

    def _take_many(
        self,
        times: NDArray[np.int64],
        counts: NDArray[np.int64],
        numbers: NDArray[np.int64],
        values: NDArray[np.float64],
        received_ns: int,
    ) -> int:
        """Take readings of different columns; those that follow all before them by array."""
        columns = self._columns
        each = np.repeat(times, counts)
        plain = (values >= columns.lowest[numbers]) & (values <= columns.highest[numbers])
        plain &= each > columns.newest_ns[numbers]
        accepted = 0
        if not plain.all():
            for i in np.flatnonzero(~plain).tolist():
                one = ([int(numbers[i])], [float(values[i])])
                accepted += self._take_few(int(each[i]), *one, received_ns)
            chosen = _only(Readings(times, counts, numbers, values), plain)
            times, counts, numbers, values = chosen
            each = each[plain]
        columns.newest_ns[numbers] = columns.last_time_ns[numbers] = each
        columns.newest_window[numbers] = self._window
        columns.last_value[numbers] = values
        columns.received_ns[numbers] = received_ns
        self._waiting.add(times, counts, numbers, values)
        return accepted + len(numbers)

    def _forget(self, numbers: NDArray[np.int64]) -> None:
        if not len(numbers):
            return
        kept = np.setdiff1d(np.arange(self.series), numbers)
        moved = np.full(self.series, -1)
        moved[kept] = np.arange(len(kept))
        self._waiting.renumber(moved)
        self._columns.keep(kept)
        self._numbers = SlotNumbers()
        self._whole = None
        self._parts.clear()

    def _whole_layout(self) -> Layout:
        if self._whole is None:
            self._whole = Layout(tuple(self._columns.keys))
        return self._whole

    def _part(self, component: str) -> tuple[Layout, NDArray[np.int64]]:
        part = self._parts.get(component)
        if part is None:
            keys = self._columns.keys
            numbers = [n for n, key in enumerate(keys) if key.component == component]
            layout = Layout(tuple(keys[n] for n in numbers))
            part = self._parts[component] = (layout, np.array(numbers, np.int64))
        return part


def _only(readings: Readings, chosen: NDArray[np.bool_]) -> Readings:
    times, counts, slots, values = readings
    message = np.repeat(np.arange(len(times)), counts)[chosen]
    kept = np.bincount(message, minlength=len(times))
    return Readings(times[kept > 0], kept[kept > 0], slots[chosen], values[chosen])


def _cut(layout: Layout, readings: Joined) -> Iterator[Block]:
    """Yield the rows in order of device time, in blocks that fit a Kafka message."""
    width = len(layout.columns)
    step = max(1, _LARGEST_CELLS // max(1, width))
    times, rows, numbers, values = readings
    if len(times) > step:
        order = np.argsort(rows, kind="stable")
        rows, numbers, values = rows[order], numbers[order], values[order]
    for start in range(0, len(times), step):
        first, end = 0, len(rows)
        if len(times) > step:
            first, end = np.searchsorted(rows, [start, start + step]).tolist()
        block = np.full((len(times[start : start + step]), width), np.nan)
        block[rows[first:end] - start, numbers[first:end]] = values[first:end]
        yield Block(layout, times[start : start + step], block)
