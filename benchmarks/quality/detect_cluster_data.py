"""Recorded clusters as frames in time order; what happened in them stays with the scorer."""

import csv
import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.data import data_root
from cluster.frame import Frame, Layout, SeriesKey
from pipelines.replay.formats import open_recording

CELL = "recorded"
_SECOND = 1_000_000_000
_Reading = tuple[SeriesKey, float]


@dataclass(slots=True)
class _Round:
    """What one source delivers in one poll: rows of several components, read shortly after."""

    source: str
    time_ns: int = 0
    values: dict[SeriesKey, float] = field(default_factory=dict)

    def frame(self, layouts: dict[tuple[SeriesKey, ...], Layout]) -> Frame:
        columns = tuple(self.values)
        layout = layouts.setdefault(columns, Layout(columns))
        return Frame(
            source=self.source,
            cell=CELL,
            layout=layout,
            time_ns=np.array([self.time_ns], dtype=np.int64),
            values=np.array([list(self.values.values())]),
            received_ns=self.time_ns,
        )


def frames_of(paths: Iterable[Path]) -> list[Frame]:
    """Return all files' frames, one a source and poll, in the order they would have come."""
    layouts: dict[tuple[SeriesKey, ...], Layout] = {}
    found = [each.frame(layouts) for path in sorted(paths) for each in _rounds(path) if each.values]
    return sorted(found, key=lambda frame: (frame.received_ns, frame.source))


def frames_of_rows(rows: Iterable[tuple[int, str, list[_Reading]]]) -> list[Frame]:
    """Return frames of (device time, source, readings) rows."""
    layouts: dict[tuple[SeriesKey, ...], Layout] = {}
    found = [
        _Round(source, time_ns, dict(readings)).frame(layouts)
        for time_ns, source, readings in rows
        if readings
    ]
    return sorted(found, key=lambda frame: (frame.received_ns, frame.source))


def read_csv(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def folder(name: str) -> Path:
    return data_root() / name


def hours(frames: list[Frame]) -> float:
    """Return how long the frames last."""
    return (frames[-1].received_ns - frames[0].received_ns) / 3.6e12 if frames else 0.0


def _rounds(path: Path) -> Iterator[_Round]:
    held: _Round | None = None
    for batch in open_recording(path, 0).batches:
        fresh = held is None or any(key in held.values for key, _ in batch.readings)
        if held is None or fresh or batch.time_ns - held.time_ns > 2 * _SECOND:
            if held is not None:
                yield held
            held = _Round(batch.source)
        held.time_ns = max(held.time_ns, batch.time_ns)
        held.values.update(batch.readings)
    if held is not None:
        yield held
