from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client
from kafka import KafkaProducer

from pipelines import topics
from pipelines.agents.record_consumer import GROUP, TOPICS, Recorder, open_consumer, topic_epochs
from pipelines.config.services import BrokerConfig, DatabaseConfig
from pipelines.embedded.broker import EmbeddedBroker, start_broker
from pipelines.embedded.database import EmbeddedDatabase
from pipelines.storage.client import open_client
from pipelines.storage.migrate import migrate
from pipelines.storage.store import Store
from pipelines.topics_admin import TopicSpec, create_topics
from tests.record.messages import NOW_NS
from tests.services import database, scratch_database

__all__ = ["database", "scratch_database"]


class FixedClock:
    def __init__(self, at_ns: int = NOW_NS) -> None:
        self.at_ns = at_ns

    def now_ns(self) -> int:
        return self.at_ns


@pytest.fixture
def client(database: EmbeddedDatabase, scratch_database: str) -> Iterator[Client]:
    """Client of a migrated database that only this test uses."""
    made = open_client(database.url, database=scratch_database)
    migrate(made, DatabaseConfig(name=scratch_database))
    yield made
    made.close()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    """Broker of its own: offsets start at 0."""
    started = start_broker(log_path=tmp_path / "broker.log")
    create_topics(started.bootstrap, [TopicSpec(name=t, partitions=1) for t in topics.ALL])
    yield started
    started.stop()


@dataclass
class Bench:
    """A recorder on real services, started and killed as a test likes."""

    broker: EmbeddedBroker
    client: Client

    def config(self) -> BrokerConfig:
        return BrokerConfig(
            url=f"kafka://{self.broker.bootstrap}", session_timeout_seconds=1.5, partitions=1
        )

    def recorder(self, store: Store | None = None) -> Recorder:
        return Recorder(
            consumer=open_consumer(self.config(), group=GROUP),
            store=store or Store(self.client),
            clock=FixedClock(),
            epochs=lambda: topic_epochs(self.broker.bootstrap, TOPICS),
        )

    def send(self, topic: str, *values: bytes, cell: str = "pod1") -> None:
        producer = KafkaProducer(bootstrap_servers=self.broker.bootstrap, acks="all")
        for value in values:
            producer.send(topic, key=cell.encode(), value=value)
        producer.flush()
        producer.close()

    def count(self, table: str) -> int:
        return int(self.client.query(f"SELECT count() FROM {table}").first_row[0])

    def until(self, recorder: Recorder, reached: Callable[[], bool], *, steps: int = 200) -> None:
        for _ in range(steps):
            recorder.step(timeout_ms=100)
            if reached():
                return
        raise AssertionError(f"not reached in {steps} steps")


@pytest.fixture
def bench(broker: EmbeddedBroker, client: Client) -> Bench:
    return Bench(broker, client)
