"""``trimtab act``: a Faust worker from alerts to decisions, actions and their effects."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import structlog
from faust.types import AppT, ChannelT, StreamT
from google.protobuf.message import DecodeError as ProtobufError

from actuators.view import View
from pipelines import topics
from pipelines.agents.act_drivers import open_drivers
from pipelines.agents.act_feed import Feed
from pipelines.agents.act_memory import Memory
from pipelines.agents.act_outbox import Outbox
from pipelines.agents.act_restore import read_history
from pipelines.agents.act_warm import warm_placement
from pipelines.agents.act_worker import Worker
from pipelines.agents.app import (
    Progress,
    build_app,
    bytes_topic,
    guarded,
    run_app,
    send,
    watch_progress,
)
from pipelines.agents.letters import DeadLetters
from pipelines.clock import Clock
from pipelines.config.load import Loaded
from pipelines.errors import DecodeError
from pipelines.health import Health, serve_health
from pipelines.messages.alerts import decode_alert
from pipelines.messages.decisions import decode_approval
from pipelines.messages.frames import FrameDecoder
from pipelines.metrics import FRAMES_READ
from pipelines.wire import jobs_pb2

log = structlog.get_logger()

_WORKER = "act"
_TICK_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """What the agents read: topics, or in tests channels of the app."""

    alerts: ChannelT[bytes]
    approvals: ChannelT[bytes]
    jobs: ChannelT[bytes]
    frames: ChannelT[bytes]


class Handlers:
    """What is done with one message of each topic; errors leave as exceptions."""

    def __init__(self, worker: Worker, decoder: FrameDecoder | None = None) -> None:
        self._worker = worker
        self._decoder = decoder or FrameDecoder()

    async def alert(self, message: Any) -> None:
        alert = decode_alert(message.value)
        cell = await self._worker.cell(alert.cell)
        # Kafka's time stamp is the sender's clock; seconds.
        await cell.on_alert(alert, sent_ns=int(message.timestamp * 1e9))

    async def approval(self, message: Any) -> None:
        approval = decode_approval(message.value)
        cell = await self._worker.cell(approval.cell)
        await cell.on_approval(approval)

    async def job(self, message: Any) -> None:
        try:
            event = jobs_pb2.JobEvent.FromString(message.value)
        except ProtobufError as error:
            raise DecodeError("not_a_job_event", str(error)) from error
        self._worker.feed.take_job(event)
        await self._worker.hold(event.cell)

    async def frame(self, message: Any) -> None:
        try:
            frame = self._decoder.decode(message.value)
        except DecodeError as error:
            # The detect worker tells of frames that cannot be read; here they tell nothing.
            log.debug("frame not read", reason=error.reason, detail=str(error))
            return
        FRAMES_READ.labels(_WORKER).inc()
        self._worker.feed.take(frame)


def attach_agents(
    app: AppT,
    channels: Channels,
    handlers: Handlers,
    letters: DeadLetters,
    progress: Progress | None = None,
) -> None:
    """Attach one agent per topic."""
    wanted = (
        ("alerts", channels.alerts, handlers.alert),
        ("approvals", channels.approvals, handlers.approval),
        ("jobs", channels.jobs, handlers.job),
        ("frames", channels.frames, handlers.frame),
    )
    for name, channel, handle in wanted:
        app.agent(channel, name=f"act-{name}")(_reader(handle, letters, progress))


def _reader(
    handle: Callable[[Any], Awaitable[None]], letters: DeadLetters, progress: Progress | None
) -> Callable[[StreamT[bytes]], Awaitable[None]]:
    async def read(stream: StreamT[bytes]) -> None:
        async for event in stream.events():
            await guarded(event.message, handle, letters)
            if progress is not None:
                progress.saw(event.message)

    return read


async def run(loaded: Loaded, *, clock: Clock, stop: asyncio.Event) -> None:
    """Run until ``stop``: decide, act, measure, keep or take back."""
    act = loaded.config.act
    app = build_app(_WORKER, loaded)

    async def deliver(message: topics.Outgoing) -> None:
        await send(app, message)

    outbox = Outbox(deliver)
    feed = Feed(loaded.topology, act.objectives, slide_seconds=act.effect.slide_seconds)
    memory = Memory(loaded.state_dir / "act-memory.json")
    decoder = FrameDecoder()
    memory.bring_back(feed, decoder)
    opened = open_drivers(loaded, clock)
    bootstrap = loaded.config.broker.bootstrap
    worker = Worker(
        config=act,
        state_dir=loaded.state_dir,
        view=View(topology=loaded.topology, jobs=feed.jobs, levels=feed.levels),
        feed=feed,
        drivers=opened.drivers,
        clock=clock,
        put=outbox.put,
        flush=outbox.flush,
        read_history=lambda partitions: read_history(bootstrap, partitions),
    )
    health = Health(clock=clock, ready_when=frozenset({"partitions", "history"}))
    progress = watch_progress(app, health, _WORKER)
    letters = DeadLetters(worker=_WORKER, clock=clock, deliver=deliver)
    channels = Channels(
        alerts=bytes_topic(app, topics.ALERTS),
        approvals=bytes_topic(app, topics.APPROVALS),
        jobs=bytes_topic(app, topics.JOBS),
        frames=bytes_topic(app, topics.FRAMES),
    )
    attach_agents(app, channels, Handlers(worker, decoder), letters, progress)
    _follow_assignment(app, worker, health)
    tasks = _start(loaded, outbox.run(), _tick(worker, health), memory.keep(feed))
    server = await serve_health(health, loaded.config.deployment.health_ports.act)
    try:
        await run_app(app, stop=stop)
    finally:
        await worker.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await opened.close()
        await server.cleanup()


def _start(loaded: Loaded, *work: Coroutine[Any, Any, None]) -> list[asyncio.Task[None]]:
    """Start what runs beside the agents."""
    planning = (warm_placement(),) if loaded.topology.source_port_rules else ()
    return [asyncio.create_task(each) for each in (*work, *planning)]


def _follow_assignment(app: AppT, worker: Worker, health: Health) -> None:
    """Own the cells of the alert partitions that are assigned.

    Reading the past takes a while, which must not hold up the group's rebalance.
    """
    restoring: set[asyncio.Task[None]] = set()

    async def restore(partitions: set[int]) -> None:
        health.not_ready("history")
        await worker.assign(partitions)
        health.ready("history")

    @app.on_partitions_assigned.connect
    async def assigned(_: Any, /, *args: Any, signal: Any = None, **__: Any) -> None:
        partitions = {tp.partition for tp in args[0] if tp.topic == topics.ALERTS}
        task = asyncio.create_task(restore(partitions))
        restoring.add(task)
        task.add_done_callback(restoring.discard)


async def _tick(worker: Worker, health: Health) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        await worker.tick()
        health.beat("ticker")


__all__ = ["Channels", "Handlers", "attach_agents", "run"]
