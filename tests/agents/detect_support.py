"""A detect worker of its own process, and what it read and told on a real broker."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tomli_w
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from pipelines import topics
from pipelines.config.load import Loaded, load
from pipelines.topics_admin import TopicSpec, create_topics
from tests.detectors.world import SETTINGS, topology

PARTITIONS = 2


def deployment(folder: Path, bootstrap: str, *, snapshot_seconds: float) -> Loaded:
    """Write a configuration with topics of its own name space and return it."""
    config = {
        "deployment": {"name": folder.name, "health_ports": {"detect": 0}},
        "broker": {"url": f"kafka://{bootstrap}", "session_timeout_seconds": 6.0},
        "database": {"url": "http://127.0.0.1:1"},
        "detect": SETTINGS.model_dump() | {"snapshot_seconds": snapshot_seconds},
    }
    (folder / "topology.toml").write_text(tomli_w.dumps(topology().model_dump()))
    path = folder / "trimtab.toml"
    path.write_text(tomli_w.dumps(config))
    create_topics(bootstrap, [TopicSpec(name=name, partitions=PARTITIONS) for name in topics.ALL])
    return load(path)


def start(loaded: Loaded) -> subprocess.Popen[bytes]:
    with (loaded.path.parent / "detect.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "pipelines.cli.main", "detect", "--config", str(loaded.path)],
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        )


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(10)


def produce(bootstrap: str, topic: str, values: list[bytes], *, cell: str = "pod1") -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    for value in values:
        producer.send(topic, key=cell.encode(), value=value)
    producer.flush()
    producer.close()


def consume(
    bootstrap: str, topic: str, until: Callable[[bytes], bool] = bool, within_seconds: float = 30.0
) -> list[bytes]:
    """Return a topic's messages from its beginning to the first that `until` is true of."""
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap, group_id=None, auto_offset_reset="earliest"
    )
    logs = [TopicPartition(topic, partition) for partition in range(PARTITIONS)]
    consumer.assign(logs)
    consumer.seek_to_beginning(*logs)
    found: list[bytes] = []
    end = time.monotonic() + within_seconds
    while not any(until(value) for value in found) and time.monotonic() < end:
        for messages in consumer.poll(timeout_ms=200).values():
            found += [message.value for message in messages]
    consumer.close()
    return found
