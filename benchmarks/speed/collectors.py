"""The collectors that are compared: how each is started, and how what it delivered is counted."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnmi_pb import gnmi_pb2 as gnmi
from kafka import KafkaConsumer, TopicPartition

from pipelines.messages.frames import FrameDecoder
from pipelines.topics import FRAMES


@dataclass(frozen=True, slots=True)
class Started:
    """A running collector; ``count`` tells what Kafka has: broker, window from and until in ms."""

    process: subprocess.Popen[bytes]
    count: Callable[[str, float, float], int]


def start_trimtab(home: Path, bootstrap: str, addresses: list[str]) -> Started:
    targets = "".join(
        f'[[collect.gnmi]]\nname = "leaf{n}"\naddress = "{address}"\ncell = "pod1"\n'
        'subscriptions = ["ports"]\nencoding = "proto"\ninsecure = true\n'
        for n, address in enumerate(addresses)
    )
    (home / "topology.toml").write_text("")
    config = home / "trimtab.toml"
    config.write_text(
        f'[broker]\nurl = "kafka://{bootstrap}"\n[database]\nurl = "http://127.0.0.1:1"\n'
        '[collect.job_channel]\naddress = "127.0.0.1:0"\n'
        '[collect.subscriptions.ports]\npaths = ["/interfaces/interface/state/counters"]\n'
        f"interval_seconds = 1.0\n{targets}"
    )
    argv = [str(Path(sys.executable).parent / "trimtab"), "collect", "--config", str(config)]
    decoder = FrameDecoder()
    sequences: Counter[str] = Counter()

    def samples(message: Any) -> int:
        frame = decoder.decode(message.value)
        sequences[frame.source] += 1
        if frame.sequence != sequences[frame.source]:
            raise ValueError(f"frame {sequences[frame.source]} of {frame.source!r} is lost")
        return frame.samples

    return Started(
        _spawn(home / "trimtab.log", argv),
        lambda broker, start, end: _count(broker, FRAMES, start, end, samples),
    )


def start_gnmic(
    home: Path, binary: str, bootstrap: str, addresses: list[str], form: str
) -> Started:
    config = home / f"gnmic-{form}.yaml"
    config.write_text(
        json.dumps(
            {
                "insecure": True,
                "encoding": "proto",
                "targets": {
                    f"leaf{n}": {"address": address, "outputs": ["kafka"]}
                    for n, address in enumerate(addresses)
                },
                "subscriptions": {
                    "ports": {
                        "paths": ["/interfaces/interface/state/counters"],
                        "stream-mode": "sample",
                        "sample-interval": "1s",
                    }
                },
                "outputs": {
                    "kafka": {
                        "type": "kafka",
                        "address": bootstrap,
                        "topic": "gnmic",
                        "format": form,
                        "buffer-size": 1000,
                    }
                },
            }
        )
    )
    count = _event_values if form == "event" else _proto_updates
    argv = [binary, "--config", str(config), "subscribe", "--quiet"]
    return Started(
        _spawn(home / f"{form}.log", argv),
        lambda broker, start, end: _count(broker, "gnmic", start, end, count),
    )


def _event_values(message: Any) -> int:
    return sum(len(event.get("values", ())) for event in json.loads(message.value))


def _proto_updates(message: Any) -> int:
    return len(gnmi.SubscribeResponse.FromString(message.value).update.update)


def _count(
    bootstrap: str, topic: str, from_ms: float, until_ms: float, count: Callable[[Any], int]
) -> int:
    """Return how many updates are in a topic, of messages made within the window."""
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        fetch_max_bytes=64 * 1024 * 1024,
        max_partition_fetch_bytes=16 * 1024 * 1024,
        max_poll_records=5000,
    )
    try:
        partitions = consumer.partitions_for_topic(topic) or set()
        consumer.assign([TopicPartition(topic, partition) for partition in partitions])
        found, idle = 0, 0
        while idle < 3:
            some = consumer.poll(timeout_ms=1000)
            idle = 0 if some else idle + 1
            for messages in some.values():
                for message in messages:
                    is_within = from_ms <= message.timestamp < until_ms
                    # A frame's layout may be in an earlier one.
                    if is_within or topic == FRAMES:
                        found += count(message) * is_within
        return found
    finally:
        consumer.close()


def _spawn(log: Path, argv: list[str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        return subprocess.Popen(argv, stdout=file, stderr=file)
