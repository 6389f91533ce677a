"""The detect worker: frames and job events in, detections and alerts out.

Offsets are acknowledged only when a stored snapshot covers them; after a crash what lies between
is read again and gives the same detections and alerts, with the same ids.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import structlog
from faust.types import AppT, EventT
from google.protobuf.message import DecodeError as ProtobufError
from kafka.errors import KafkaError

from detectors.cell import Output
from pipelines import topics
from pipelines.agents.app import (
    Progress,
    build_app,
    bytes_topic,
    guarded,
    run_app,
    send,
    watch_progress,
)
from pipelines.agents.detect_cells import Cells, place_of
from pipelines.agents.detect_snapshots import SnapshotFiles, Snapshots, broker_epoch, read_topic
from pipelines.agents.letters import DeadLetters
from pipelines.clock import Clock
from pipelines.config.load import Loaded
from pipelines.errors import DecodeError
from pipelines.health import Health, serve_health
from pipelines.messages.alerts import encode_alert, encode_detection
from pipelines.messages.frames import FrameDecoder
from pipelines.metrics import ALERTS, DETECTIONS, FRAMES_READ
from pipelines.wire import jobs_pb2

log = structlog.get_logger()

_WORKER = "detect"
_RETRY_SECONDS = 2.0
_STORE_SECONDS = 8.0


@dataclass(slots=True)
class Worker:
    """Detection on one Faust app.

    The lock keeps a snapshot from falling between a state's change and the sending of what it
    told.
    """

    app: AppT
    cells: Cells
    snapshots: Snapshots
    letters: DeadLetters
    clock: Clock
    bootstrap: str
    _unacked: list[EventT[Any]] = field(default_factory=list)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def attach(self, *, snapshot_seconds: float, retell_seconds: float, progress: Progress) -> None:
        """Attach agents, the timers, and what happens when partitions move."""
        self._agent(topics.FRAMES, self._frame, progress)
        self._agent(topics.JOBS, self._job, progress)
        self.app.timer(interval=snapshot_seconds)(self._snapshot_round)
        self.app.timer(interval=retell_seconds)(self._retell)
        self.app.on_partitions_assigned.connect(self._assigned, weak=False)
        self.app.on_partitions_revoked.connect(self._revoked, weak=False)

    async def store(self, partitions: set[int] | None = None) -> None:
        """Store snapshots, in the file first, and acknowledge what they cover."""
        async with self._lock:
            taken = self.cells.snapshots(self.clock.now_ns(), partitions)
            covered, self._unacked = self._unacked, []
        try:
            for snapshot in taken:
                await asyncio.to_thread(self.snapshots.files.write, snapshot)
                await send(
                    self.app,
                    topics.outgoing(
                        topics.BASELINES,
                        cell=snapshot.cell,
                        value=snapshot.SerializeToString(),
                        source=_WORKER,
                        subject=snapshot.cell,
                        at_ns=snapshot.at_ns,
                    ),
                )
        except BaseException:
            self._unacked = covered + self._unacked
            self.cells.dirty_again({snapshot.cell for snapshot in taken})
            raise
        for event in covered:
            event.ack()

    def _agent(self, topic: str, process: Any, progress: Progress) -> None:
        @self.app.agent(bytes_topic(self.app, topic), name=f"{_WORKER}-{topic}")
        async def agent(stream: Any) -> None:
            async for event in stream.noack().events():
                async with self._lock:
                    await guarded(event.message, process, self.letters)
                    self._unacked.append(event)
                progress.saw(event.message)

    async def _frame(self, message: Any) -> None:
        FRAMES_READ.labels(_WORKER).inc()
        output = self.cells.frame(message.value or b"", _cell_of(message), place_of(message))
        await self._tell(output)

    async def _job(self, message: Any) -> None:
        try:
            event = jobs_pb2.JobEvent.FromString(message.value or b"")
        except ProtobufError as error:
            raise DecodeError("not_a_job_event", str(error)) from error
        self.cells.job_event(event, _cell_of(message), place_of(message))

    async def _tell(self, output: Output) -> None:
        for message in messages_of(output):
            await send(self.app, message)
        for detection in output.detections:
            DETECTIONS.labels(detection.scope).inc()
        for alert in output.alerts:
            ALERTS.labels(alert.state).inc()
            log.info(
                "alert",
                state=alert.state,
                component=alert.component,
                cause=alert.cause,
                confidence=alert.confidence,
                alert_id=alert.alert_id,
            )

    async def _retell(self) -> None:
        """Tell open alerts again, word for word: they stand, and a broker may have lost them."""
        try:
            async with self._lock:
                for message in messages_of(Output(alerts=tuple(self.cells.standing()))):
                    await send(self.app, message)
        except Exception:
            log.exception("open alerts not told again; tried in the next round")

    async def _snapshot_round(self) -> None:
        try:
            await self.store()
        except Exception:
            log.exception("snapshot not stored; tried again in the next round")

    async def _assigned(self, *args: Any, **_: Any) -> None:
        assigned = args[-1]
        partitions = {tp.partition for tp in assigned if tp.topic == topics.FRAMES}
        if not partitions:
            return
        try:
            self.snapshots.take(await asyncio.to_thread(read_topic, self.bootstrap, partitions))
        except KafkaError:
            log.exception("baselines topic not read; files only")

    async def _revoked(self, *args: Any, **_: Any) -> None:
        revoked = args[-1]
        partitions = {tp.partition for tp in revoked if tp.topic == topics.FRAMES}
        try:
            await asyncio.wait_for(self.store(partitions), _STORE_SECONDS)
        except Exception:
            log.exception("snapshot not stored before partitions moved")
        self._unacked = [e for e in self._unacked if e.message.partition not in partitions]
        self.cells.drop(partitions)


def messages_of(output: Output) -> list[topics.Outgoing]:
    """Return what is sent for a frame's detections and alerts; the same facts, the same ids."""
    return [
        *(
            topics.outgoing(
                topics.DETECTIONS,
                cell=detection.cell,
                value=encode_detection(detection),
                source=_WORKER,
                subject=detection.series.component,
                at_ns=detection.detected_ns,
                event_id=detection.detection_id,
            )
            for detection in output.detections
        ),
        *(
            topics.outgoing(
                topics.ALERTS,
                cell=alert.cell,
                value=encode_alert(alert),
                source=_WORKER,
                subject=alert.component,
                at_ns=alert.revised_ns,
                event_id=f"{alert.alert_id}-{alert.revision}",
            )
            for alert in output.alerts
        ),
    ]


async def run(loaded: Loaded, *, clock: Clock, stop: asyncio.Event) -> None:
    """Run the detect worker until told to stop.

    Raises
    ------
    AppCrashedError
        It stopped by itself.
    """
    deployment = loaded.config.deployment
    health = Health(clock=clock, ready_when=frozenset({"broker", "partitions"}))
    runner = await serve_health(health, deployment.health_ports.detect)
    try:
        epoch = await _epoch(loaded.config.broker.bootstrap, stop)
        if epoch is None:
            return
        health.ready("broker")
        await _work(loaded, clock=clock, stop=stop, health=health, epoch=epoch)
    finally:
        await runner.cleanup()


async def _work(
    loaded: Loaded, *, clock: Clock, stop: asyncio.Event, health: Health, epoch: str
) -> None:
    app = build_app(_WORKER, loaded)
    snapshots = Snapshots(SnapshotFiles(loaded.state_dir / "baselines"))
    worker = Worker(
        app=app,
        cells=Cells(
            topology=loaded.topology,
            settings=loaded.config.detect,
            decoder=FrameDecoder(),
            newest_snapshot=snapshots.newest,
            broker_epoch=epoch,
        ),
        snapshots=snapshots,
        letters=DeadLetters(
            worker=_WORKER, clock=clock, deliver=lambda message: send(app, message)
        ),
        clock=clock,
        bootstrap=loaded.config.broker.bootstrap,
    )
    worker.attach(
        snapshot_seconds=loaded.config.detect.snapshot_seconds,
        retell_seconds=loaded.config.detect.retell_seconds,
        progress=watch_progress(app, health, _WORKER),
    )
    stored = asyncio.Event()
    last_store = asyncio.create_task(_store_at_stop(worker, stop, stored))
    try:
        await run_app(app, stop=stored)
    finally:
        last_store.cancel()


async def _store_at_stop(worker: Worker, stop: asyncio.Event, stored: asyncio.Event) -> None:
    await stop.wait()
    try:
        await asyncio.wait_for(worker.store(), _STORE_SECONDS)
    except Exception:
        log.exception("last snapshot not stored; what it covers is read again")
    stored.set()


async def _epoch(bootstrap: str, stop: asyncio.Event) -> str | None:
    """Return the broker's epoch as soon as it answers; None when told to stop before."""
    while not stop.is_set():
        try:
            return await asyncio.to_thread(broker_epoch, bootstrap)
        except KafkaError as error:
            log.warning("broker does not answer, trying again", broker=bootstrap, reason=str(error))
        try:
            await asyncio.wait_for(stop.wait(), _RETRY_SECONDS)
        except TimeoutError:
            continue
    return None


def _cell_of(message: Any) -> str:
    return (message.key or b"").decode(errors="replace")
