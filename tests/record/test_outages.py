"""The services under the recorder end and come back while it runs."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from pipelines import topics
from pipelines.config.services import DatabaseConfig
from pipelines.embedded.broker import EmbeddedBroker, start_broker
from pipelines.embedded.database import start_database
from pipelines.messages.frames import encode_frame
from pipelines.storage.client import open_client
from pipelines.storage.migrate import migrate
from pipelines.topics_admin import TopicSpec, create_topics
from tests.record.conftest import Bench
from tests.record.messages import frame

# kafka-python leaves the sockets of refused connections to the collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect this test's sockets before the next test's warnings are errors."""
    yield
    gc.collect()


def frames(first: int, last: int) -> list[bytes]:
    return [
        encode_frame(frame([[1.0, 2.0, 3.0]], sequence=n), with_layout=True)
        for n in range(first, last + 1)
    ]


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def test_broker_that_comes_back_empty_starts_a_new_epoch(
    broker: EmbeddedBroker, client: Client, tmp_path: Path
) -> None:
    """Offsets start at 0 again: the same offsets are other frames now.

    The reader is started anew, as the supervisor does: one that stays can be in its own way.
    """
    bench = Bench(broker, client)
    bench.send(topics.FRAMES, *frames(1, 5))
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("frames") == 5)
    broker.stop()
    recorder.step()
    recorder.close()
    again = start_broker(port=port_of(broker.bootstrap), log_path=tmp_path / "again.log")
    try:
        create_topics(again.bootstrap, [TopicSpec(name=t, partitions=1) for t in topics.ALL])
        bench.send(topics.FRAMES, *frames(6, 8))
        recorder = bench.recorder()
        bench.until(recorder, lambda: bench.count("frames") == 8, steps=400)
        recorder.close()
        assert bench.count("samples") == 24
    finally:
        again.stop()


def test_database_that_ends_and_comes_back_gets_everything_once(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    first = start_database(tmp_path / "data", log_path=tmp_path / "first.log")
    client = open_client(first.url, database="trimtab")
    migrate(client, DatabaseConfig())
    bench = Bench(broker, client)
    bench.send(topics.FRAMES, *frames(1, 2))
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("frames") == 2)
    first.stop()
    bench.send(topics.FRAMES, *frames(3, 6))
    bench.until(recorder, lambda: recorder.is_waiting)
    again = start_database(tmp_path / "data", port=first.port, log_path=tmp_path / "again.log")
    try:
        bench.until(recorder, lambda: bench.count("frames") == 6, steps=400)
        recorder.close()
        assert bench.count("samples") == 18
        client.close()
    finally:
        again.stop()
