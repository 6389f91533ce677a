"""The recorder's whole process: waiting for services, migrating, recording, webhooks, stopping."""

import asyncio
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from pipelines import topics
from pipelines.agents.record import run
from pipelines.clock import SystemClock
from pipelines.config.load import Loaded, load
from pipelines.embedded.broker import EmbeddedBroker
from pipelines.embedded.database import EmbeddedDatabase
from pipelines.messages.alerts import encode_alert
from tests.notify.conftest import Receiver, receiver
from tests.record.conftest import Bench
from tests.record.messages import ALERT

__all__ = ["receiver"]

CONFIG = """
[deployment]
health_ports = {{ record = {port} }}
[broker]
url = "kafka://{bootstrap}"
session_timeout_seconds = 1.5
[database]
url = "{database_url}"
name = "{name}"
[[webhooks]]
name = "ops"
url = "{webhook_url}"
secret_file = "secret"
allow_private = true
"""
TOPOLOGY = """
[[switches]]
name = "leaf1"
cell = "pod1"
tier = 1
[[switches]]
name = "spine1"
cell = "pod1"
tier = 2
[[links]]
lower = "leaf1:Ethernet1"
upper = "spine1:Ethernet1"
capacity_bits_per_second = 800.0
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def loaded(
    tmp_path: Path,
    broker: EmbeddedBroker,
    database: EmbeddedDatabase,
    scratch_database: str,
    receiver: Receiver,
) -> Loaded:
    (tmp_path / "secret").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    (tmp_path / "topology.toml").write_text(TOPOLOGY)
    path = tmp_path / "trimtab.toml"
    path.write_text(
        CONFIG.format(
            port=free_port(),
            bootstrap=broker.bootstrap,
            database_url=database.url,
            name=scratch_database,
            webhook_url=receiver.url,
        )
    )
    return load(path)


async def until(reached: Callable[[], bool]) -> None:
    for _ in range(300):
        if await asyncio.to_thread(reached):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("not reached")


async def test_process_records_and_tells(
    loaded: Loaded, broker: EmbeddedBroker, client: Client, receiver: Receiver
) -> None:
    bench = Bench(broker, client)
    bench.send(topics.ALERTS, encode_alert(ALERT))
    stop = asyncio.Event()
    process = asyncio.create_task(run(loaded, clock=SystemClock(), stop=stop))
    await until(lambda: bench.count("alerts") == 1 and bench.count("deliveries") == 1)
    stop.set()
    await process
    assert [json.loads(body)["type"] for _, body in receiver.got] == ["degradation.detected"]
    delivery = client.query("SELECT endpoint, state, status, attempt FROM deliveries").first_row
    assert delivery == ("ops", "delivered", 204, 1)
    topology = client.query("SELECT component, cell FROM topology ORDER BY component").result_rows
    assert [tuple(row) for row in topology] == [
        ("link/leaf1:Ethernet1", "pod1"),
        ("switch/leaf1", "pod1"),
        ("switch/spine1", "pod1"),
    ]


async def test_process_waits_for_a_database_that_is_away_and_can_be_stopped(
    loaded: Loaded,
) -> None:
    away = loaded.with_urls(
        broker_url=loaded.config.broker.url, database_url=f"http://127.0.0.1:{free_port()}"
    )
    stop = asyncio.Event()
    process = asyncio.create_task(run(away, clock=SystemClock(), stop=stop))
    await asyncio.sleep(0.3)
    assert not process.done()
    stop.set()
    await process
