"""Reads all topics in ranges that can be read again, and has each range written once."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from clickhouse_connect.driver.exceptions import ClickHouseError
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.errors import KafkaConnectionError, KafkaError
from kafka.structs import OffsetAndMetadata

from pipelines import topics
from pipelines.agents.record_write import RangeWriter
from pipelines.clock import Clock
from pipelines.config.services import BrokerConfig
from pipelines.metrics import OFFSET
from pipelines.reach import listens
from pipelines.storage.store import Claim, Store

log = structlog.get_logger(__name__)

GROUP = "trimtab-record"
TOPICS = tuple(topic for topic in topics.ALL if topic != topics.BASELINES)

# A block of a million readings is eight megabytes of values.
_RANGE_BYTES = 8 << 20
_RANGE_MESSAGES = 5000
# What is held of a partition before it is paused.
_HELD_BYTES = 4 * _RANGE_BYTES
_FRAMES_WAIT_SECONDS = 1.0
_FACTS_WAIT_SECONDS = 0.2
_LONGEST_BACKOFF_SECONDS = 30.0
# Longer than any rebalance; then another process may have more luck.
_JOIN_SECONDS = 60.0
_KAFKA_ANSWER_MS = 10_000


@dataclass(slots=True)
class _Reading:
    """What is held of one partition.

    Attributes
    ----------
    first
        Offset that the next range starts from; None until the committed one was asked for.
    claim
        Range that must be written next; it may reach further than what is held.
    since
        Monotonic seconds when the oldest held message came.
    """

    first: int | None = None
    claim: Claim | None = None
    held: deque[Any] = field(default_factory=deque)
    held_bytes: int = 0
    since: float = 0.0

    def add(self, messages: list[Any], now: float) -> None:
        if not self.held:
            self.since = now
        self.held.extend(messages)
        self.held_bytes += sum(len(m.value or b"") for m in messages)

    def range_end(self) -> int:
        """Return the offset after the last message of a range that fits one block."""
        size = 0
        until: int = self.held[0].offset + 1
        for count, message in enumerate(self.held):
            size += len(message.value or b"")
            if count and (size > _RANGE_BYTES or count >= _RANGE_MESSAGES):
                break
            until = message.offset + 1
        return until

    def drop_before(self, until: int) -> None:
        while self.held and self.held[0].offset < until:
            self.held_bytes -= len(self.held.popleft().value or b"")


class Recorder(ConsumerRebalanceListener):  # type: ignore[misc]
    """Moves messages from Kafka to the database; ``step`` does one round of it.

    Offsets are committed after the range before them is stored. After a crash at any point the
    same ranges are read again and stored once (`Store.claim`).
    """

    def __init__(
        self,
        *,
        consumer: KafkaConsumer,
        store: Store,
        clock: Clock,
        epochs: Callable[[], Mapping[str, str]],
    ) -> None:
        self._consumer = consumer
        self._store = store
        self._writer = RangeWriter(store, clock)
        self._clock = clock
        self._ask_epochs = epochs
        self._epochs: Mapping[str, str] = {}
        self._readings: dict[TopicPartition, _Reading] = {}
        self._retry_at = 0.0
        self._backoff_seconds = 0.0
        self._left_at: float | None = time.monotonic()
        consumer.subscribe(TOPICS, listener=self)

    @property
    def is_waiting(self) -> bool:
        """Whether the database did not take the last range; it is tried again."""
        return self._backoff_seconds > 0.0

    @property
    def is_left_out(self) -> bool:
        """Whether the group has not let it in for too long; a member without partitions is in."""
        return self._left_at is not None and time.monotonic() - self._left_at > _JOIN_SECONDS

    def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
        self._left_at = time.monotonic()
        for partition in revoked:
            self._readings.pop(partition, None)

    def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        # A broker that lost everything hands out partitions anew, with offsets from 0.
        self._epochs = {}
        self._left_at = None
        for partition in assigned:
            self._readings[partition] = _Reading()

    def step(self, *, timeout_ms: int = 200) -> None:
        """Read what has come, write what is due; errors of broker and database are waited out."""
        self._hold_back()
        try:
            polled = self._consumer.poll(timeout_ms=timeout_ms)
        except KafkaError as error:
            log.warning("broker did not answer", error=repr(error))
            return
        now = time.monotonic()
        for partition, messages in polled.items():
            reading = self._readings.get(partition)
            if reading is not None:
                reading.add(messages, now)
        if now >= self._retry_at:
            self._write_due(now)

    def drain(self) -> None:
        """Write what is held, however little, unless the database is away."""
        if not self.is_waiting:
            self._write_due(float("inf"))

    def close(self) -> None:
        self._consumer.close(autocommit=False, timeout_ms=_KAFKA_ANSWER_MS)

    def _hold_back(self) -> None:
        """Pause what is held enough of; polling goes on, so the group keeps this member."""
        full = {p for p, r in self._readings.items() if r.held_bytes >= _HELD_BYTES}
        paused = self._consumer.paused()
        if new := full - paused:
            self._consumer.pause(*new)
        if free := paused - full:
            self._consumer.resume(*free)

    def _write_due(self, now: float) -> None:
        try:
            for partition, reading in list(self._readings.items()):
                while self._is_due(partition, reading, now) and self._write(partition, reading):
                    pass
        except ClickHouseError as error:
            self._back_off(error)
        except KafkaError as error:
            log.warning("broker did not answer", error=repr(error))
        else:
            if self.is_waiting:
                log.info("database takes rows again")
            self._backoff_seconds = 0.0

    def _is_due(self, partition: TopicPartition, reading: _Reading, now: float) -> bool:
        if not reading.held:
            return False
        is_frames = partition.topic == topics.FRAMES
        wait_seconds = _FRAMES_WAIT_SECONDS if is_frames else _FACTS_WAIT_SECONDS
        return (
            now - reading.since >= wait_seconds
            or reading.held_bytes >= _RANGE_BYTES
            or len(reading.held) >= _RANGE_MESSAGES
        )

    def _write(self, partition: TopicPartition, reading: _Reading) -> bool:
        """Write one range; False when not all of its messages have come yet."""
        if reading.claim is None:
            reading.claim = self._claim(partition, reading)
        claim = reading.claim
        if reading.held[-1].offset + 1 < claim.until and not self._is_past(partition, claim):
            return False
        # What retention took away in the meantime cannot be told any more.
        self._writer.write(claim, [m for m in reading.held if m.offset < claim.until])
        reading.drop_before(claim.until)
        reading.first, reading.claim = claim.until, None
        reading.since = time.monotonic()
        self._commit(partition, claim.until)
        return True

    def _is_past(self, partition: TopicPartition, claim: Claim) -> bool:
        position = self._consumer.position(partition, timeout_ms=_KAFKA_ANSWER_MS)
        return position is not None and position >= claim.until

    def _claim(self, partition: TopicPartition, reading: _Reading) -> Claim:
        if not self._epochs:
            self._epochs = self._ask_epochs()
        if reading.first is None:
            committed = self._consumer.committed(partition, timeout_ms=_KAFKA_ANSWER_MS)
            reading.first = 0 if committed is None or committed < 0 else committed
        return self._store.claim(
            epoch=self._epochs[partition.topic],
            topic=partition.topic,
            partition=partition.partition,
            first=reading.first,
            until=reading.range_end(),
            now_ns=self._clock.now_ns(),
        )

    def _commit(self, partition: TopicPartition, offset: int) -> None:
        OFFSET.labels("record", partition.topic, partition.partition).set(offset)
        try:
            self._consumer.commit(
                {partition: OffsetAndMetadata(offset, "", -1)}, timeout_ms=_KAFKA_ANSWER_MS
            )
        except KafkaError as error:
            # The range is stored: whoever reads it again stores nothing twice.
            log.warning("offset not committed", topic=partition.topic, error=repr(error))

    def _back_off(self, error: ClickHouseError) -> None:
        doubled = max(0.5, self._backoff_seconds * 2)
        self._backoff_seconds = min(doubled, _LONGEST_BACKOFF_SECONDS)
        self._retry_at = time.monotonic() + self._backoff_seconds
        log.warning(
            "database did not take rows, they are kept",
            error=str(error)[:300],
            retry_seconds=self._backoff_seconds,
        )


def open_consumer(config: BrokerConfig, *, group: str) -> KafkaConsumer:
    """Return a consumer that commits by hand and starts at the beginning.

    Raises
    ------
    kafka.errors.KafkaError
        No broker listens: asked first, because a client that finds none leaks its sockets.
    """
    if not listens(config.bootstrap):
        raise KafkaConnectionError(f"nothing listens at {config.bootstrap}")
    session_ms = int(config.session_timeout_seconds * 1000)
    consumer = KafkaConsumer(
        bootstrap_servers=config.bootstrap,
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=max(500, session_ms // 4),
        # Until the topics are there, they are looked for this often.
        metadata_max_age_ms=10_000,
    )
    # kafka-python takes `allow_auto_create_topics` and does not hand it on: asking for a topic
    # would create it, with the broker's number of partitions.
    consumer._cluster.config["allow_auto_create_topics"] = False  # noqa: SLF001
    return consumer


def topic_epochs(bootstrap: str, names: Iterable[str] = TOPICS) -> dict[str, str]:
    """Return what tells one life of a topic from another: its cluster's id and its own.

    Raises
    ------
    kafka.errors.KafkaError
        The broker is away.
    """
    admin = KafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=_KAFKA_ANSWER_MS)
    try:
        cluster = admin.describe_cluster()["cluster_id"]
        described = admin.describe_topics(list(names))
        return {t["name"]: f"{cluster}/{t.get('topic_id') or ''}" for t in described}
    finally:
        admin.close()
