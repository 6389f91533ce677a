"""The collect process: everything that delivers telemetry, and the way to Kafka."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import structlog
from kafka.errors import KafkaError

from cluster.component import kind_of
from cluster.frame import Frame
from pipelines.clock import Clock
from pipelines.collect.frames import Frames
from pipelines.collect.gnmi import GnmiSubscriber
from pipelines.collect.jobs import JobChannel, serve_job_channel
from pipelines.collect.letters import Letters
from pipelines.collect.scrape import Scraper
from pipelines.config.load import Loaded, read_secret
from pipelines.errors import ConfigError
from pipelines.health import Health, serve_health
from pipelines.kafka_producer import Producer
from pipelines.topics import FRAMES, Outgoing
from pipelines.topics_admin import TopicMismatchError, create_topics, topic_specs

log = structlog.get_logger()

_STOP_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 2.0
_REPEAT_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What every collector of this process delivers to."""

    loaded: Loaded
    clock: Clock
    producer: Producer
    frames: Frames
    letters: Letters
    health: Health


async def run(loaded: Loaded, *, clock: Clock, stop: asyncio.Event) -> None:
    """Collect until `stop` is set; then send what waits, within a bound (10 s).

    Raises
    ------
    ConfigError
        The job channel's address or token cannot be used.
    """
    parts = _parts(loaded, clock)
    parts.producer.start()
    runner = await serve_health(parts.health, loaded.config.deployment.health_ports.collect)
    try:
        async with _job_channel(parts), aiohttp.ClientSession() as session:
            await _until_stopped(stop, _tasks(parts, session))
    finally:
        parts.frames.flush()
        await parts.producer.stop(timeout_seconds=_STOP_SECONDS)
        await runner.cleanup()


def _parts(loaded: Loaded, clock: Clock) -> _Parts:
    config = loaded.config.collect

    def lost(topic: str) -> None:
        if topic == FRAMES:
            frames.repeat_layouts()

    producer = Producer(
        loaded.config.broker.bootstrap, queue_messages=config.queue_frames, on_lost=lost
    )

    def send(message: Outgoing, frame: Frame) -> None:
        producer.send(
            message,
            frame.received_ns,
            samples=frame.samples,
            source_kind=kind_of(frame.source),
        )

    frames = Frames(send=send, clock=clock, layout_every_frames=config.layout_every_frames)
    return _Parts(
        loaded=loaded,
        clock=clock,
        producer=producer,
        frames=frames,
        letters=Letters(send=producer.send, clock=clock),
        health=Health(clock, frozenset({"broker", "topics"})),
    )


def _tasks(parts: _Parts, session: aiohttp.ClientSession) -> list[Coroutine[Any, Any, None]]:
    config = parts.loaded.config.collect
    shared: dict[str, Any] = {
        "frames": parts.frames,
        "letters": parts.letters,
        "clock": parts.clock,
    }
    subscribers = [
        GnmiSubscriber(
            target, name, config.subscriptions[name], resolve=parts.loaded.resolve, **shared
        ).run()
        for target in config.gnmi
        for name in target.subscriptions
    ]
    scrapers = [Scraper(target, **shared).run(session) for target in config.scrape]
    log.info("collecting", subscriptions=len(subscribers), scrapes=len(scrapers))
    return [
        _ensure_topics(parts),
        _watch(parts),
        parts.frames.run(config.flush_seconds),
        *subscribers,
        *scrapers,
    ]


async def _until_stopped(stop: asyncio.Event, tasks: list[Coroutine[Any, Any, None]]) -> None:
    """Run the tasks; a failure of one is a bug, and ends the process for its supervisor."""
    async with asyncio.TaskGroup() as group:
        started = [group.create_task(task) for task in tasks]
        await stop.wait()
        for task in started:
            task.cancel()


@contextlib.asynccontextmanager
async def _job_channel(parts: _Parts) -> AsyncIterator[None]:
    config = parts.loaded.config.collect.job_channel
    token = read_secret(parts.loaded.resolve(config.token_file)) if config.token_file else ""
    channel = JobChannel(
        frames=parts.frames, send=parts.producer.send, clock=parts.clock, token=token
    )
    try:
        server, port = await serve_job_channel(channel, config.address)
    except RuntimeError as error:
        raise ConfigError(
            f"collect.job_channel.address: cannot listen on {config.address!r}"
        ) from error
    log.info("job channel listens", port=port, directives=bool(token))
    repeating = asyncio.create_task(channel.repeat(_REPEAT_SECONDS))
    try:
        yield
    finally:
        repeating.cancel()
        await server.stop(1.0)


async def _ensure_topics(parts: _Parts) -> None:
    """Create the topics that are missing; while the broker is away, try again."""
    broker = parts.loaded.config.broker
    while not parts.producer.connected.is_set():  # noqa: ASYNC110 - another thread sets it
        await asyncio.sleep(0.1)
    while True:
        try:
            created = await asyncio.to_thread(
                create_topics, broker.bootstrap, topic_specs(broker), timeout_seconds=10.0
            )
        except (KafkaError, OSError) as error:
            log.warning("topics not created, tried again", error=f"{error}")
            await asyncio.sleep(_RETRY_SECONDS)
        except TopicMismatchError as error:
            # They work as they are; how many there should be is for a person to settle.
            log.warning("topics differ from the configuration", error=f"{error}")
            break
        else:
            log.info("topics are there", created=created)
            break
    parts.health.ready("topics")


async def _watch(parts: _Parts) -> None:
    """Tell health whether the broker is there and the loop goes round."""
    while True:
        parts.health.beat("loop")
        if parts.producer.connected.is_set():
            parts.health.ready("broker")
        else:
            parts.health.not_ready("broker")
        await asyncio.sleep(1.0)
