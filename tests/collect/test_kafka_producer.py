"""Against the real embedded broker; an outage is the broker's process stopped by a signal."""

import asyncio
import gc
import logging
import signal
import threading

import pytest
from kafka import KafkaConsumer, TopicPartition
from structlog.testing import capture_logs

from pipelines import topics
from pipelines.embedded.broker import start_broker
from pipelines.kafka_producer import Producer
from pipelines.topics_admin import TopicSpec, create_topics
from tests.collect.fakes import SECOND_NS

RECEIVED_NS = 1_700_000_000 * SECOND_NS + 5_000_000
TOPICS = [TopicSpec(name=name, partitions=1) for name in (topics.FRAMES, topics.JOBS)]


def message(number, topic=topics.FRAMES):
    return topics.outgoing(
        topic,
        cell="pod1",
        value=b"%d" % number,
        source="c1",
        subject="switch/leaf1",
        at_ns=RECEIVED_NS,
        event_id=f"c1:{number}",
    )


@pytest.fixture
def broker(tmp_path):
    broker = start_broker(log_path=tmp_path / "broker.log")
    create_topics(broker.bootstrap, TOPICS)
    yield broker
    broker.process.send_signal(signal.SIGCONT)
    broker.stop()


def read(bootstrap, topic, count):
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    consumer.assign([TopicPartition(topic, 0)])
    records = []
    for _ in range(40):
        for batch in consumer.poll(timeout_ms=250).values():
            records += batch
        if len(records) >= count:
            break
    consumer.close()
    return records


async def test_messages_arrive_once_with_key_headers_and_receive_time(broker):
    """C49 to C52, C55: the record's time is our receive time in ms."""
    producer = Producer(broker.bootstrap)
    producer.start()
    for number in range(200):
        producer.send(message(number), RECEIVED_NS, samples=3, source_kind="switch")
    assert await producer.stop() == 0

    records = await asyncio.to_thread(read, broker.bootstrap, topics.FRAMES, 200)
    assert [int(record.value) for record in records] == list(range(200))
    first = records[0]
    assert (first.key, first.timestamp) == (b"pod1", RECEIVED_NS // 1_000_000)
    assert dict(first.headers) == {
        "ce_specversion": b"1.0",
        "ce_type": b"trimtab.telemetry.frames.v1",
        "ce_source": b"trimtab/c1",
        "ce_id": b"c1:0",
        "ce_time": b"2023-11-14T22:13:20.005000000Z",
        "ce_subject": b"switch/leaf1",
        "content-type": b"application/protobuf",
    }
    assert (producer.sent, producer.lost) == ({topics.FRAMES: 200}, {})


async def test_outage_costs_the_oldest_frames_and_each_is_counted(broker):
    """C17: the sender is never held up; newest wins, and facts outlive frames."""
    lost = []
    producer = Producer(broker.bootstrap, queue_messages=50, on_lost=lost.append)
    producer.start()
    assert await asyncio.to_thread(producer.connected.wait, 20)
    broker.process.send_signal(signal.SIGSTOP)
    producer.send(message(0, topics.JOBS), RECEIVED_NS)
    # More than Kafka's client holds (1000) and the queue behind it.
    for number in range(3000):
        producer.send(message(number), RECEIVED_NS)
    broker.process.send_signal(signal.SIGCONT)
    assert await producer.stop(timeout_seconds=60) == 0

    delivered = producer.sent[topics.FRAMES]
    frames = await asyncio.to_thread(read, broker.bootstrap, topics.FRAMES, delivered)
    jobs = await asyncio.to_thread(read, broker.bootstrap, topics.JOBS, 1)
    numbers = [int(record.value) for record in frames]
    assert len(jobs) == 1
    assert numbers == sorted(set(numbers))
    assert numbers[-50:] == list(range(2950, 3000))
    assert producer.lost == {(topics.FRAMES, "queue_full"): 3000 - len(numbers)}
    assert len(lost) == 3000 - len(numbers) > 0


# Kafka's client leaves the socket of a refused connection to the garbage collector, and pytest
# keeps it alive with the log records that name the error.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_broker_that_lost_its_memory_is_sent_to_again(broker, tmp_path, caplog):
    caplog.set_level(logging.CRITICAL, logger="kafka")
    port = int(broker.bootstrap.rpartition(":")[2])
    producer = Producer(broker.bootstrap)
    producer.start()
    producer.send(message(1), RECEIVED_NS)
    await asyncio.to_thread(_wait_sent, producer, 1)
    broker.stop()
    again = await asyncio.to_thread(start_broker, port=port, log_path=tmp_path / "again.log")
    try:
        create_topics(again.bootstrap, TOPICS)
        producer.send(message(2), RECEIVED_NS)
        assert await producer.stop(timeout_seconds=30) == 0
        records = await asyncio.to_thread(read, again.bootstrap, topics.FRAMES, 1)
        assert [record.value for record in records] == [b"2"]
    finally:
        again.stop()
        del producer
        gc.collect()


async def test_topic_that_is_not_there_yet_is_waited_for_and_not_made(broker):
    producer = Producer(broker.bootstrap)
    producer.start()
    producer.send(message(1, topics.ALERTS), RECEIVED_NS)
    producer.send(message(2), RECEIVED_NS)
    assert await asyncio.to_thread(producer.connected.wait, 20)
    create_topics(broker.bootstrap, [TopicSpec(name=topics.ALERTS, partitions=2)])
    assert await producer.stop(timeout_seconds=30) == 0
    assert producer.sent == {topics.ALERTS: 1, topics.FRAMES: 1}


async def test_stop_without_a_broker_ends_in_time_and_tells_what_was_not_sent():
    producer = Producer("127.0.0.1:1", queue_messages=5)
    producer.start()
    for number in range(3):
        producer.send(message(number), RECEIVED_NS, samples=2)
    with capture_logs() as logs:
        assert await producer.stop(timeout_seconds=0.2) == 3
    assert producer.lost == {(topics.FRAMES, "stopped"): 3}
    assert logs[-1] == {
        "event": "producer stopped",
        "log_level": "error",
        "unsent": 3,
        "sent": 0,
        "lost": 3,
    }


def _wait_sent(producer, count):
    done = threading.Event()
    for _ in range(300):
        if producer.sent.total() >= count or done.wait(0.1):
            return
    raise AssertionError(f"sent {producer.sent}, lost {producer.lost}")
