"""The recorder's process: Kafka to ClickHouse, and webhooks beside it."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

import structlog
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError
from kafka import KafkaConsumer
from kafka.errors import KafkaError

from pipelines.agents.record_consumer import Recorder, open_consumer, topic_epochs
from pipelines.clock import Clock
from pipelines.config.load import Loaded
from pipelines.health import Health, serve_health
from pipelines.notify.run import notify
from pipelines.storage.client import connect
from pipelines.storage.migrate import migrate
from pipelines.storage.store import Store
from pipelines.storage.topology_rows import COLUMNS, topology_rows

log = structlog.get_logger(__name__)

_ASK_AGAIN_SECONDS = 2.0
# Longer than a write to the database may take.
_STUCK_SECONDS = 300.0

T = TypeVar("T")


async def run(loaded: Loaded, *, clock: Clock, stop: asyncio.Event) -> None:
    """Record everything and send webhooks until told to stop.

    What is missing at the start is waited for. What was read but not stored when it ends is read
    again by the next run.
    """
    health = Health(
        clock=clock,
        ready_when=frozenset({"broker", "database"}),
        stuck_after_seconds=_STUCK_SECONDS,
    )
    server = await serve_health(health, loaded.config.deployment.health_ports.record)
    try:
        client = await _when_there("database", lambda: _open_database(loaded, clock), stop)
        if client is None:
            return
        health.ready("database")
        group = f"{loaded.config.deployment.name}-record"
        consumer = await _when_there(
            "broker", lambda: open_consumer(loaded.config.broker, group=group), stop
        )
        if consumer is None:
            client.close()
            return
        health.ready("broker")
        await _work(loaded, client, consumer, clock=clock, health=health, stop=stop)
    finally:
        await server.cleanup()


async def _work(
    loaded: Loaded,
    client: Client,
    consumer: KafkaConsumer,
    *,
    clock: Clock,
    health: Health,
    stop: asyncio.Event,
) -> None:
    recorder = Recorder(
        consumer=consumer,
        store=Store(client),
        clock=clock,
        epochs=lambda: topic_epochs(loaded.config.broker.bootstrap),
    )
    stopping = threading.Event()
    recording = asyncio.create_task(asyncio.to_thread(_record, recorder, health, stopping))
    notifying = asyncio.create_task(notify(loaded, client, clock=clock, health=health, stop=stop))
    told = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait(
            {recording, notifying, told}, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        stopping.set()
        stop.set()
        results = await asyncio.gather(recording, notifying, told, return_exceptions=True)
        client.close()
    log.info("recorder stopped", because="told" if told in done else "a part of it ended")
    for result in results:
        if isinstance(result, BaseException):
            raise result


class LeftOutError(Exception):
    """The process must start anew: its consumer does not get into its group."""


def _record(recorder: Recorder, health: Health, stopping: threading.Event) -> None:
    try:
        while not stopping.is_set():
            recorder.step()
            if recorder.is_left_out:
                raise LeftOutError("the consumer group has not let the recorder in")
            health.beat("record")
            (health.not_ready if recorder.is_waiting else health.ready)("database")
        recorder.drain()
    finally:
        recorder.close()


def _open_database(loaded: Loaded, clock: Clock) -> Client:
    client = connect(loaded)
    migrate(client, loaded.config.database)
    now_ns = clock.now_ns()
    rows = topology_rows(loaded.topology, now_ns=now_ns)
    Store(client).insert_rows("topology", COLUMNS, rows, token=f"topology/{now_ns}")
    return client


async def _when_there(what: str, make: Callable[[], T], stop: asyncio.Event) -> T | None:
    """Return what could be made in the end; None when told to stop before."""
    while not stop.is_set():
        try:
            return await asyncio.to_thread(make)
        except (ClickHouseError, KafkaError) as error:
            log.warning("service not there yet", service=what, error=str(error)[:300])
        try:
            await asyncio.wait_for(stop.wait(), _ASK_AGAIN_SECONDS)
        except TimeoutError:
            continue
    return None
