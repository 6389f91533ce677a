"""Readings in, frames out: by source, by column, a few times a second."""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Iterable

from cluster.component import kind_of
from cluster.frame import Frame, SeriesKey
from pipelines.clock import Clock
from pipelines.collect.shapes import Readings
from pipelines.collect.slots import Slots
from pipelines.collect.source import Block, Reading, SourceReadings
from pipelines.messages.frames import encode_frame
from pipelines.metrics import LIVE_SERIES, REFUSED
from pipelines.topics import FRAMES, Outgoing, outgoing

# A series that has not come for this long is forgotten here; should it return, it is a new column.
IDLE_SECONDS = 900.0
MOST_SERIES = 50_000
_EVICT_EVERY_SECONDS = 60.0
# Readings of one source do not wait for the next flush when they are so many, and two rows of it.
_MOST_WAITING = 16 * 1024

SendFrame = Callable[[Outgoing, Frame], None]
Feeder = Callable[[], None]


class Frames:
    """Builds frames of what sources deliver; not thread-safe.

    Parameters
    ----------
    send
        Gets every frame as a message and as what it says; must not block.
    layout_every_frames
        A layout travels with its first frame and then with every so many.
    collector
        Name of this run, unlike any other; empty makes one.
    """

    def __init__(
        self,
        *,
        send: SendFrame,
        clock: Clock,
        layout_every_frames: int = 30,
        most_series: int = MOST_SERIES,
        idle_seconds: float = IDLE_SECONDS,
        collector: str = "",
    ) -> None:
        self.collector = collector or f"collect-{uuid.uuid4().hex[:12]}"
        self.refused: Counter[str] = Counter()
        self._send = send
        self._clock = clock
        self._layout_every_frames = layout_every_frames
        self._most_series = most_series
        self._idle_seconds = idle_seconds
        self._sources: dict[tuple[str, str, str], SourceReadings] = {}
        self._sequences: Counter[str] = Counter()
        self._told: dict[tuple[str, int], int] = {}
        self._counted: Counter[str] = Counter()
        self._feeders: list[Feeder] = []

    def feed_before_flush(self, feeder: Feeder) -> None:
        """Call this before every flush: what it holds back must not wait for the next."""
        self._feeders.append(feeder)

    def take(
        self,
        source: str,
        cell: str,
        time_ns: int,
        readings: Iterable[Reading],
        *,
        group: str = "",
        received_ns: int | None = None,
    ) -> int:
        """Take readings of one device time; return how many were accepted.

        What a source delivers with one rhythm is a ``group``: groups have layouts of their own.
        They were received now, where ``received_ns`` is not given.
        """
        readings_of = self._readings_of(source, cell, group)
        at_ns = self._clock.now_ns() if received_ns is None else received_ns
        return readings_of.take(time_ns, readings, at_ns)

    def take_columns(
        self,
        source: str,
        cell: str,
        slots: Slots,
        readings: Readings,
        *,
        received_ns: int,
        group: str = "",
    ) -> int:
        """Take readings of several messages by column; return how many were accepted."""
        readings_of = self._readings_of(source, cell, group)
        accepted = readings_of.take_columns(slots, readings, received_ns)
        if readings_of.waiting >= max(_MOST_WAITING, 2 * readings_of.series):
            self._emit_waiting(source, cell, readings_of)
        return accepted

    def end(self, source: str, cell: str, keys: Iterable[SeriesKey], *, group: str = "") -> None:
        """Tell that the source deleted these series; their detectors are closed."""
        readings_of = self._sources.get((source, cell, group))
        if readings_of is not None:
            for block in readings_of.end(keys):
                self._emit(source, cell, block, self._clock.now_ns())

    def flush(self) -> None:
        """Make frames of everything that waits."""
        for feed in self._feeders:
            feed()
        for (source, cell, _), readings in self._sources.items():
            self._emit_waiting(source, cell, readings)
        for reason, count in (self.refused - self._counted).items():
            REFUSED.labels("samples", reason).inc(count)
        self._counted = self.refused.copy()

    def repeat_layouts(self) -> None:
        """Send every layout again with its next frame: a frame that carried one was lost."""
        self._told.clear()

    def evict(self) -> int:
        """Forget series that have paused for too long, and sources with none left."""
        older_than_ns = self._clock.now_ns() - int(self._idle_seconds * 1e9)
        evicted = sum(readings.evict(older_than_ns) for readings in self._sources.values())
        self._sources = {k: r for k, r in self._sources.items() if r.series or r.waiting}
        by_kind: Counter[str] = Counter()
        for (source, _, _), readings in self._sources.items():
            by_kind[kind_of(source)] += readings.series
        for kind, count in by_kind.items():
            LIVE_SERIES.labels(kind).set(count)
        if evicted:
            self._told.clear()
        return evicted

    async def run(self, flush_seconds: float) -> None:
        """Flush again and again, until cancelled."""
        rounds_to_evict = max(1, int(_EVICT_EVERY_SECONDS / flush_seconds))
        rounds = 0
        while True:
            await asyncio.sleep(flush_seconds)
            self.flush()
            rounds += 1
            if rounds % rounds_to_evict == 1:
                self.evict()

    def _readings_of(self, source: str, cell: str, group: str) -> SourceReadings:
        place = (source, cell, group)
        readings = self._sources.get(place)
        if readings is None:
            readings = SourceReadings(most_series=self._most_series, refused=self.refused)
            self._sources[place] = readings
        return readings

    def _emit_waiting(self, source: str, cell: str, readings: SourceReadings) -> None:
        for block in readings.blocks():
            self._emit(source, cell, block, readings.received_ns)

    def _emit(self, source: str, cell: str, block: Block, received_ns: int) -> None:
        self._sequences[source] += 1
        frame = Frame(
            source=source,
            cell=cell,
            layout=block.layout,
            time_ns=block.time_ns,
            values=block.values,
            received_ns=received_ns,
            collector=self.collector,
            sequence=self._sequences[source],
            ended_columns=block.ended_columns,
        )
        message = outgoing(
            FRAMES,
            cell=cell,
            value=encode_frame(frame, with_layout=self._layout_is_due(cell, block)),
            source=self.collector,
            subject=source,
            at_ns=frame.received_ns,
            event_id=f"{self.collector}:{source}:{frame.sequence}",
        )
        self._send(message, frame)

    def _layout_is_due(self, cell: str, block: Block) -> bool:
        key = (cell, block.layout.layout_id)
        sent = self._told.get(key, 0)
        self._told[key] = sent + 1
        return sent % self._layout_every_frames == 0
