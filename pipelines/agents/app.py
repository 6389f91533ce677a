"""The Faust app that the detect and act workers attach their agents to, and how it runs.

An exception that leaves a Faust agent acknowledges and loses the message, so nothing leaves ours:
`guarded` sends what cannot be processed to the dead letters, and the next message goes on.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import faust
import structlog
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.types import TP, AppT, TopicT
from mode.threads import ServiceThread, WorkerThread

from pipelines import topics
from pipelines.agents.letters import DeadLetters
from pipelines.config.load import Loaded
from pipelines.errors import DecodeError
from pipelines.health import Health
from pipelines.metrics import OFFSET

log = structlog.get_logger()

_LARGEST_MESSAGE_BYTES = 16 * 1024 * 1024
_STOP_SECONDS = 10.0
_CONSUMING = "consuming"


class AppCrashedError(Exception):
    """The app stopped by itself; its supervisor starts the process again."""


class _DaemonThread(WorkerThread):
    """A consumer's thread that does not keep the process alive once the time to stop is up."""

    def __init__(self, service: ServiceThread, **kwargs: Any) -> None:
        super().__init__(service, **kwargs)
        self.daemon = True

    def run(self) -> None:
        try:
            super().run()
        except BaseException as error:  # noqa: BLE001 - the thread ends here, with its loop
            log.warning("consumer thread ended", reason=repr(error))


def build_app(worker: str, loaded: Loaded) -> AppT:
    """Return an app with no agents; the consumer group is ``<deployment>-<worker>``.

    Call it inside the running loop. Messages are bytes, topics exist already, and the partitions
    with the same number of every topic are assigned to the same worker.
    """
    broker = loaded.config.broker
    session_seconds = broker.session_timeout_seconds
    loaded.state_dir.mkdir(parents=True, exist_ok=True)
    # mode's threads are no daemons: one that waits for a broker that is away would outlive us.
    AIOKafkaConsumerThread.Worker = _DaemonThread
    return faust.App(
        f"{loaded.config.deployment.name}-{worker}",
        broker=[f"aiokafka://{address}" for address in broker.bootstrap.split(",")],
        store="memory://",
        datadir=str(loaded.state_dir / f"faust-{worker}"),
        autodiscover=False,
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        key_serializer="raw",
        value_serializer="raw",
        consumer_auto_offset_reset="earliest",
        consumer_max_fetch_size=_LARGEST_MESSAGE_BYTES,
        producer_acks=-1,
        producer_max_request_size=_LARGEST_MESSAGE_BYTES,
        producer_linger=0.0,
        broker_session_timeout=session_seconds,
        broker_heartbeat_interval=session_seconds / 4,
        broker_request_timeout=max(30.0, 2 * session_seconds),
        broker_commit_every=1000,
        broker_commit_interval=1.0,
        stream_wait_empty=False,
    )


def bytes_topic(app: AppT, name: str) -> TopicT:
    """Return a topic whose keys and values are bytes."""
    return app.topic(
        name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw"
    )


async def send(app: AppT, message: topics.Outgoing) -> None:
    """Return when Kafka has acknowledged the message."""
    sent = await bytes_topic(app, message.topic).send(
        key=message.key, value=message.value, headers=list(message.headers)
    )
    await sent


async def guarded(
    message: Any,
    process: Callable[[Any], Awaitable[None]],
    letters: DeadLetters,
    *,
    retries: int = 0,
) -> bool:
    """Process a Faust message; what fails goes to the dead letters. Return whether it succeeded.

    A message that does not decode is not tried again: its sender cannot mend it.
    """
    for attempt in range(retries + 1):
        try:
            await process(message)
        except DecodeError as error:
            await letters.send(message, reason=error.reason, detail=str(error))
            return False
        except Exception as error:
            if attempt == retries:
                log.exception("message not processed", topic=message.topic)
                await letters.send(
                    message, reason="processing_failed", detail=f"{type(error).__name__}: {error}"
                )
                return False
            await asyncio.sleep(min(0.1 * 2**attempt, 2.0))
        else:
            return True
    return False


@dataclass(slots=True)
class Progress:
    """Liveness by offsets: the process is alive while what it reads moves, or nothing is left."""

    app: AppT
    health: Health
    worker: str
    _next: dict[TP, int]

    def saw(self, message: Any) -> None:
        """Note that a message was processed."""
        tp = TP(message.topic, message.partition)
        self._next[tp] = message.offset + 1
        OFFSET.labels(self.worker, tp.topic, str(tp.partition)).set(message.offset + 1)
        self.health.beat(_CONSUMING)

    def check(self) -> None:
        """Beat when nothing waits in the broker, as far as the consumer knows."""
        if not any(self._behind(tp) for tp in self.app.consumer.assignment()):
            self.health.beat(_CONSUMING)

    def _behind(self, tp: TP) -> bool:
        read = self._next.get(tp)
        return read is not None and (self.app.consumer.highwater(tp) or 0) > read


def watch_progress(app: AppT, health: Health, worker: str) -> Progress:
    """Attach health: ready when partitions are assigned, alive while messages move on."""
    progress = Progress(app, health, worker, {})

    @app.on_partitions_assigned.connect
    async def assigned(*_: Any, **__: Any) -> None:
        health.ready("partitions")

    @app.timer(interval=1.0)
    async def check() -> None:
        with suppress(Exception):  # a consumer that is not started yet has no assignment
            progress.check()

    return progress


async def run_app(app: AppT, *, stop: asyncio.Event) -> None:
    """Run the app in this loop until `stop` is set; stop it within a bound (10 s).

    Raises
    ------
    AppCrashedError
        The app stopped by itself.
    """
    app.finalize()
    starting = asyncio.ensure_future(app.start())
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            await cast("faust.App", app).wait(stop.wait())
    finally:
        await _stopped(app)
        starting.cancel()
        stopping.cancel()
        await asyncio.gather(starting, stopping, return_exceptions=True)
    if not stop.is_set():
        raise AppCrashedError(f"{app.conf.id} stopped by itself")


async def _stopped(app: AppT) -> None:
    try:
        await asyncio.wait_for(app.stop(), _STOP_SECONDS)
    except TimeoutError:
        log.warning("stopped without the broker's answer; offsets not committed", app=app.conf.id)
