"""What the topics know of decisions and jobs, read from their beginning to their end at a start."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import structlog
from kafka import KafkaConsumer, TopicPartition
from kafka.partitioner.default import murmur2

from actuators.records import DecisionEvent
from pipelines import topics
from pipelines.errors import DecodeError
from pipelines.messages.decisions import decode_event
from pipelines.wire import jobs_pb2

log = structlog.get_logger()

_POLL_MS = 1000


@dataclass(slots=True)
class History:
    """What was told before: decision events, and of each job the last that was heard."""

    events: list[DecisionEvent] = field(default_factory=list)
    jobs: dict[str, jobs_pb2.JobEvent] = field(default_factory=dict)
    partitions: int = 1


def read_history(bootstrap: str, partitions: frozenset[int]) -> History:
    """Return what these partitions hold; blocks until their end is reached.

    Raises
    ------
    kafka.errors.KafkaError
        The broker is away.
    """
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap.split(","), group_id=None, enable_auto_commit=False
    )
    history = History()
    try:
        count = consumer.partitions_for_topic(topics.DECISIONS) or {0}
        history.partitions = len(count)
        for topic in (topics.DECISIONS, topics.JOBS):
            there = consumer.partitions_for_topic(topic) or set()
            for message in _messages(consumer, topic, sorted(there & partitions)):
                _take(history, topic, message)
    finally:
        consumer.close()
    return history


def partition_of(cell: str, partitions: int) -> int:
    """Return the partition of a cell's messages, as Kafka's clients choose it by key."""
    return int((murmur2(cell.encode()) & 0x7FFFFFFF) % partitions)


def _messages(consumer: Any, topic: str, partitions: list[int]) -> Iterator[Any]:
    """Yield every message of a topic.

    A broker may tell too small an end: it is the end only when nothing more comes.
    """
    assigned = [TopicPartition(topic, partition) for partition in partitions]
    if not assigned:
        return
    consumer.assign(assigned)
    consumer.seek_to_beginning(*assigned)
    ends = consumer.end_offsets(assigned)
    while True:
        polled = consumer.poll(timeout_ms=_POLL_MS)
        for messages in polled.values():
            yield from messages
        if not polled and all(consumer.position(tp) >= ends[tp] for tp in assigned):
            return


def _take(history: History, topic: str, message: Any) -> None:
    try:
        if topic == topics.DECISIONS:
            history.events.append(decode_event(message.value))
        else:
            event = jobs_pb2.JobEvent.FromString(message.value)
            history.jobs[event.job_id] = event
    except (DecodeError, ValueError) as error:
        log.warning("message of the past not read", topic=topic, detail=str(error))
