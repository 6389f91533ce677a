"""Frames as blocks of readings for the database."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cluster.frame import Frame, Layout
from pipelines.storage.native import Column, Numbers, Words, native_block

# What the roll-up's minutes can hold: 1970 to 2106.
EARLIEST_NS: Final = 1
LATEST_NS: Final = (2**32 - 1) * 1_000_000_000

_TIME: Final = "DateTime64(9, 'UTC')"
_EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A frame with its place in Kafka."""

    frame: Frame
    partition: int
    offset: int


@dataclass(slots=True)
class _Keys:
    """Words of one column, by place."""

    places: dict[str, int] = field(default_factory=dict)

    def place(self, word: str) -> int:
        return self.places.setdefault(word, len(self.places))

    def column(self, codes: list[NDArray[np.uint32]]) -> Words:
        return Words(keys=list(self.places), codes=np.concatenate(codes))


@dataclass(slots=True)
class _Identities:
    """Codes of component, metric and attributes by layout and column."""

    component: _Keys = field(default_factory=_Keys)
    metric: _Keys = field(default_factory=_Keys)
    attributes: _Keys = field(default_factory=_Keys)
    _by_layout: dict[int, NDArray[np.uint32]] = field(default_factory=dict)

    def codes(self, layout: Layout) -> NDArray[np.uint32]:
        """Return codes, shape (3, columns)."""
        found = self._by_layout.get(layout.layout_id)
        if found is None:
            found = np.array(
                [
                    [self.component.place(c.component) for c in layout.columns],
                    [self.metric.place(c.metric) for c in layout.columns],
                    [self.attributes.place(c.attributes) for c in layout.columns],
                ],
                dtype=np.uint32,
            )
            self._by_layout[layout.layout_id] = found
        return found


def bad_time_samples(frame: Frame) -> int:
    """Return how many readings have a device time that the database cannot hold."""
    return int(np.count_nonzero(~np.isnan(frame.values[~_good_rows(frame)])))


def samples_block(frames: Iterable[Recorded], *, stored: date) -> tuple[bytes, int]:
    """Return the readings in Native form and their number.

    NaN is not a reading; rows with a time that the database cannot hold are left out.
    """
    identities, cells, sources = _Identities(), _Keys(), _Keys()
    series: list[NDArray[np.uint32]] = []
    cell_codes: list[NDArray[np.uint32]] = []
    source_codes: list[NDArray[np.uint32]] = []
    numbers: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]] = []
    for recorded in frames:
        frame = recorded.frame
        rows, columns = np.nonzero(~np.isnan(frame.values) & _good_rows(frame)[:, None])
        count = len(rows)
        series.append(identities.codes(frame.layout)[:, columns])
        cell_codes.append(np.full(count, cells.place(frame.cell), dtype=np.uint32))
        source_codes.append(np.full(count, sources.place(frame.source), dtype=np.uint32))
        received = np.full(count, frame.received_ns, dtype=np.int64)
        numbers.append((frame.time_ns[rows], frame.values[rows, columns], received))
    total = sum(len(codes) for codes in cell_codes)
    if total == 0:
        return b"", 0
    times, values, received_ns = (np.concatenate(part) for part in zip(*numbers, strict=True))
    block: dict[str, Column] = {
        "metric": identities.metric.column([codes[1] for codes in series]),
        "component": identities.component.column([codes[0] for codes in series]),
        "attributes": identities.attributes.column([codes[2] for codes in series]),
        "time": Numbers(type_name=_TIME, values=times),
        "value": Numbers(type_name="Float64", values=values),
        "cell": cells.column(cell_codes),
        "source": sources.column(source_codes),
        "received": Numbers(type_name=_TIME, values=received_ns),
        "stored": _day(stored, total),
    }
    return native_block(block), total


FRAME_COLUMNS: Final = (
    *("collector", "source", "cell", "sequence", "samples", "first_time", "last_time"),
    *("received", "topic", "partition", "offset", "stored"),
)


def frame_row(recorded: Recorded, *, topic: str, stored: date) -> tuple[object, ...]:
    """Return the frame's row in the ledger."""
    frame = recorded.frame
    good = _good_rows(frame)
    times = frame.time_ns[good]
    samples = int(np.count_nonzero(~np.isnan(frame.values[good])))
    first_ns, last_ns = (int(times.min()), int(times.max())) if len(times) else (0, 0)
    return (
        *(frame.collector, frame.source, frame.cell, frame.sequence, samples, first_ns, last_ns),
        *(frame.received_ns, topic, recorded.partition, recorded.offset, stored),
    )


def _good_rows(frame: Frame) -> NDArray[np.bool_]:
    return (frame.time_ns >= EARLIEST_NS) & (frame.time_ns <= LATEST_NS)


def _day(stored: date, rows: int) -> Numbers:
    days = (stored - _EPOCH).days
    return Numbers(type_name="Date", values=np.full(rows, days, dtype=np.uint16))
