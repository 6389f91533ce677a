"""Replays recorded telemetry through the same frames, producer and topics as live collection."""

import asyncio
import csv
import heapq
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from cluster.component import kind_of
from cluster.frame import Frame
from pipelines.clock import Clock
from pipelines.collect.frames import Frames
from pipelines.collect.letters import Letters
from pipelines.config.load import Loaded
from pipelines.errors import DecodeError
from pipelines.kafka_producer import Producer
from pipelines.replay.batch import Batch
from pipelines.replay.formats import files_below, open_recording
from pipelines.replay.report import UNREADABLE, FileReport, ReplayReport
from pipelines.topics import Outgoing

log = structlog.get_logger()

# Without a speed, readings of this much device time travel together.
_WINDOW_NS: Final = 10_000_000_000
_WINDOW_READINGS: Final = 50_000
# Far fewer than the half of the queue that `Producer.room` waits for.
_HANDED_AT_ONCE: Final = 100
_QUEUE_MESSAGES: Final = 2000
_STOP_SECONDS: Final = 120.0
_BROKEN: Final = (OSError, EOFError, UnicodeDecodeError, csv.Error)


class _RecordedTime:
    """The collector's clock of a replay: a reading came in when it was recorded.

    What counts time by it, such as how long an alert's evidence has been back to normal, so counts
    the recording's seconds, however fast it is replayed; and nobody takes the past for the present.
    """

    def __init__(self, now_ns: int) -> None:
        self.ns = now_ns

    def now_ns(self) -> int:
        return self.ns


class _Timed(NamedTuple):
    """A batch with its time and its file, in the order of replay."""

    time_ns: int
    file: int
    place: int
    batch: Batch


async def replay(
    loaded: Loaded,
    files: Sequence[Path],
    *,
    cell: str = "",
    clock: Clock,
    speed: float = 0.0,
    stop: asyncio.Event | None = None,
) -> ReplayReport:
    """Replay files, and those below folders, merged by device time.

    Parameters
    ----------
    cell
        Cell of all files; empty: of each file the name of its folder, so that recordings of the
        same devices at different times stay apart.
    speed
        Seconds of recording per second; 0 = as fast as Kafka takes it. Nothing is dropped: the
        replay waits for the producer.
    stop
        When set, what was read so far is sent and the report is of that.
    """
    producer = Producer(loaded.config.broker.bootstrap, queue_messages=_QUEUE_MESSAGES)
    producer.start()
    run = _Replay(loaded, producer, cell=cell, clock=clock)
    try:
        await run.all(files_below(list(files)), speed=speed, stop=stop or asyncio.Event())
        await run.send_letters()
    finally:
        run.report.unsent = await producer.stop(timeout_seconds=_STOP_SECONDS)
    return run.report


class _Replay:
    def __init__(self, loaded: Loaded, producer: Producer, *, cell: str, clock: Clock) -> None:
        self._producer = producer
        self._cell = cell
        self._clock = clock
        self._run_id = uuid.uuid4().hex[:8]
        self._layout_every_frames = loaded.config.collect.layout_every_frames
        self._recorded = _RecordedTime(clock.now_ns())
        self._frames: list[Frames] = []
        self._waiting: set[int] = set()
        # One for each file and reason already: no rate is needed.
        self._letters = Letters(send=self._send_letter, clock=clock, per_minute=1_000_000)
        self._letter_id = ""
        self._examples: dict[tuple[int, str], str] = {}
        self._outbox: list[tuple[Outgoing, int, int, str]] = []
        self.report = ReplayReport()

    async def all(self, paths: list[Path], *, speed: float, stop: asyncio.Event) -> None:
        batches = heapq.merge(*[self._batches(i, path) for i, path in enumerate(paths)])
        pace = _Pace(speed)
        pending = 0
        window_ns = 0
        for timed in batches:
            if stop.is_set():
                break
            is_full = pending >= _WINDOW_READINGS or timed.time_ns >= window_ns + pace.window_ns
            if is_full and pending:
                await self._flush()
                pending = 0
            if not pending:
                window_ns = timed.time_ns
                await pace.wait(timed.time_ns, stop)
            pending += self._take(timed)
        await self._flush()

    async def send_letters(self) -> None:
        """Send one dead letter for each file and reason, with how many samples it stands for."""
        for number, file in enumerate(self.report.files):
            if file.error:
                file.refused[UNREADABLE] += 1
                self._examples.setdefault((number, UNREADABLE), file.error)
            for reason, count in file.refused.items():
                self._letter(file, reason, count, self._examples.get((number, reason), ""))
        await self._drain()

    def _letter(self, file: FileReport, reason: str, count: int, example: str) -> None:
        told = "cannot be read" if reason == UNREADABLE else f"{count} samples"
        self._letters.refuse(
            what="replay",
            reason=reason,
            detail=f"{told} of {file.path.name}; first: {example[:200]}",
            source=file.path.name,
            cell=file.cell,
            payload=example.encode(),
            samples=0 if reason == UNREADABLE else count,
        )
        file.letter_ids.append(self._letter_id)

    def _batches(self, number: int, path: Path) -> Iterator[_Timed]:
        """Return a file's batches; what is wrong with the file goes to its report."""
        file = FileReport(
            path=path,
            collector=f"replay-{self._run_id}-{number}",
            cell=self._cell or path.absolute().parent.name,
        )
        self.report.files.append(file)
        self._frames.append(
            Frames(
                send=self._send_frame,
                clock=self._recorded,
                layout_every_frames=self._layout_every_frames,
                collector=file.collector,
            )
        )
        return self._read(number, file)

    def _read(self, number: int, file: FileReport) -> Iterator[_Timed]:
        now_ns = self._clock.now_ns()
        try:
            recording = open_recording(file.path, now_ns)
            file.format = recording.format
            latest_ns = 0
            for place, batch in enumerate(recording.batches):
                # The order within a file stays as it was written, whatever its stamps say.
                latest_ns = max(latest_ns, batch.time_ns)
                yield _Timed(latest_ns or now_ns, number, place, batch)
        except (*_BROKEN, DecodeError) as error:
            file.error = str(error) or type(error).__name__
            log.warning("file not read", file=str(file.path), error=file.error)

    def _take(self, timed: _Timed) -> int:
        """Take a batch; return how many readings were accepted."""
        batch, file = timed.batch, self.report.files[timed.file]
        for reason, count in batch.refused.items():
            file.refused[reason] += count
            self._examples.setdefault((timed.file, reason), batch.examples.get(reason, ""))
        frames = self._frames[timed.file]
        time_ns = self._recorded.ns = batch.time_ns or timed.time_ns
        place = (batch.source, file.cell)
        if batch.ended:
            frames.end(*place, batch.ended, group=batch.group)
        if not batch.readings:
            return 0
        before = frames.refused.copy()
        accepted = frames.take(*place, time_ns, batch.readings, group=batch.group)
        if accepted < len(batch.readings):
            file.refused.update(frames.refused - before)
        if accepted:
            self._waiting.add(timed.file)
            file.took(accepted, time_ns)
        return accepted

    async def _flush(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for number in sorted(waiting):
            self._frames[number].flush()
        await self._drain()

    async def _drain(self) -> None:
        """Hand everything to the producer, which drops what it has no room for: so wait for it."""
        outbox, self._outbox = self._outbox, []
        for number, (message, received_ns, samples, source_kind) in enumerate(outbox):
            if number % _HANDED_AT_ONCE == 0:
                # Also lets the loop go round, so that a signal to stop is heard.
                await asyncio.to_thread(self._producer.room)
            self._producer.send(message, received_ns, samples=samples, source_kind=source_kind)

    def _send_frame(self, message: Outgoing, frame: Frame) -> None:
        self.report.frames += 1
        kind = kind_of(frame.source)
        # Kafka keeps a message for a time from its stamp: that is when it was sent.
        self._outbox.append((message, self._clock.now_ns(), frame.samples, kind))

    def _send_letter(self, message: Outgoing, received_ns: int) -> None:
        self.report.letters += 1
        self._letter_id = dict(message.headers)["ce_id"].decode()
        self._outbox.append((message, received_ns, 0, ""))


class _Pace:
    """Holds the replay to so many seconds of recording a second."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._began: tuple[int, float] | None = None
        self.window_ns = int(min(_WINDOW_NS, 0.5e9 * speed)) if speed else _WINDOW_NS

    async def wait(self, time_ns: int, stop: asyncio.Event) -> None:
        """Return when a sample of this device time is due."""
        if not self._speed:
            return
        now = asyncio.get_running_loop().time()
        if self._began is None:
            self._began = (time_ns, now)
        first_ns, began = self._began
        due = began + (time_ns - first_ns) / 1e9 / self._speed
        if due > now:
            stopping = asyncio.ensure_future(stop.wait())
            await asyncio.wait({stopping}, timeout=due - now)
            stopping.cancel()
