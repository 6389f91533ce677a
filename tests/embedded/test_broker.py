"""The embedded broker, and topics on it, through kafka-python."""

import socket
import subprocess
import sys
import uuid

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from pipelines.embedded.broker import BrokerStartError, start_broker
from pipelines.topics_admin import TopicMismatchError, TopicSpec, create_topics


def _name() -> str:
    return f"test.{uuid.uuid4().hex}"


def test_topics_are_created_once(broker_bootstrap: str) -> None:
    first, second = _name(), _name()
    specs = [
        TopicSpec(name=first, partitions=3, configs={"cleanup.policy": "compact"}),
        TopicSpec(name=second, partitions=1, configs={"retention.ms": "60000"}),
    ]
    assert create_topics(broker_bootstrap, specs[:1]) == [first]
    assert create_topics(broker_bootstrap, specs) == [second]
    assert create_topics(broker_bootstrap, specs) == []
    admin = KafkaAdminClient(bootstrap_servers=broker_bootstrap)
    described = admin.describe_topics([first, second])
    admin.close()
    assert {t["name"]: len(t["partitions"]) for t in described} == {first: 3, second: 1}


def test_other_partition_count_is_told(broker_bootstrap: str) -> None:
    name = _name()
    create_topics(broker_bootstrap, [TopicSpec(name=name, partitions=2)])
    with pytest.raises(TopicMismatchError, match=f"'{name}' has 2 partitions.* says 4"):
        create_topics(broker_bootstrap, [TopicSpec(name=name, partitions=4)])


def test_messages_come_back_in_order_with_their_headers(broker_bootstrap: str) -> None:
    name = _name()
    create_topics(broker_bootstrap, [TopicSpec(name=name, partitions=1)])
    producer = KafkaProducer(bootstrap_servers=broker_bootstrap, acks="all", linger_ms=5)
    sent = [b"%d" % number for number in range(500)]
    for value in sent:
        producer.send(name, key=b"cell", value=value, headers=[("ce_type", b"t")])
    producer.flush()
    producer.close()
    consumer = KafkaConsumer(
        bootstrap_servers=broker_bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=5000
    )
    consumer.assign([TopicPartition(name, 0)])
    read = [next(consumer) for _ in sent]
    consumer.close()
    assert [(r.offset, r.key, r.value, r.headers) for r in read] == [
        (offset, b"cell", value, [("ce_type", b"t")]) for offset, value in enumerate(sent)
    ]


def test_every_start_has_its_own_cluster_id() -> None:
    ids = []
    for _ in range(2):
        broker = start_broker()
        admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
        ids.append(admin.describe_cluster()["cluster_id"])
        admin.close()
        broker.stop()
        assert broker.process.poll() is not None
    assert len(set(ids)) == 2


def test_taken_port_is_told() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(BrokerStartError, match=f"cannot listen on 127.0.0.1:{port}"):
            start_broker(port=port)


def test_command_serves_until_sigterm() -> None:
    argv = [sys.executable, "-m", "pipelines.embedded.broker", "--port", "0"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    bootstrap = process.stdout.readline().removeprefix("embedded broker: ").strip()
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    assert admin.list_topics() == []
    admin.close()
    process.terminate()
    assert process.wait(10) == 0
    process.stdout.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(bootstrap.split(":"), timeout=1)
