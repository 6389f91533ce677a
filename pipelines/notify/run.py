"""The notifier as a part of the recorder's process."""

import asyncio
from random import Random

import structlog
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from pipelines.agents.record_consumer import open_consumer
from pipelines.clock import Clock
from pipelines.config.load import Loaded
from pipelines.facts import Facts
from pipelines.health import Health
from pipelines.kafka_producer import Producer
from pipelines.notify.endpoint import open_endpoints
from pipelines.notify.gate import Containers, Gate
from pipelines.notify.notifier import Notifier

log = structlog.get_logger(__name__)

# A delivery is retried for a bit more than three days.
_EARLIER = """
SELECT delivery_id, state, attempts FROM delivery_states
WHERE last_at > now64() - INTERVAL 5 DAY
"""


async def notify(
    loaded: Loaded, client: Client, *, clock: Clock, health: Health, stop: asyncio.Event
) -> None:
    """Send webhooks until told to stop; nothing to do where none is configured.

    Raises
    ------
    ConfigError
        A secret file is missing, or holds no secret.
    """
    endpoints = open_endpoints(loaded, clock)
    if not endpoints:
        await stop.wait()
        return
    producer = Producer(loaded.config.broker.bootstrap)
    producer.start()
    notifier = Notifier(
        consumer=await asyncio.to_thread(
            open_consumer, loaded.config.broker, group=f"{loaded.config.deployment.name}-notify"
        ),
        endpoints=endpoints,
        sink=producer,
        clock=clock,
        random=Random(clock.now_ns()),  # noqa: S311 - spreads retries, nothing secret
        gate=await asyncio.to_thread(_gate, loaded, client),
        earlier=await asyncio.to_thread(_earlier, client),
    )
    try:
        while not stop.is_set():
            await notifier.round()
            health.beat("notify")
    finally:
        await notifier.close()
        await producer.stop()


def _gate(loaded: Loaded, client: Client) -> Gate:
    gate = Gate(containers=Containers(loaded.topology), silences=loaded.config.silences)
    try:
        gate.saw_all(Facts(client).open_alerts())
    except ClickHouseError as error:
        # They are told again on their topic in a moment.
        log.warning("earlier alerts unknown", error=str(error)[:300])
    return gate


def _earlier(client: Client) -> dict[str, tuple[str, int]]:
    try:
        rows = client.query(_EARLIER).result_rows
    except ClickHouseError as error:
        # Receivers tell a repeated webhook by its id.
        log.warning("earlier deliveries unknown", error=str(error)[:300])
        return {}
    return {delivery_id: (state, attempts) for delivery_id, state, attempts in rows}
