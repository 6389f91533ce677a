"""A real Apache Kafka broker (KRaft, one node) on loopback, from its official jars."""

import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from pipelines.children import spawn, terminate
from tests.paths import ROOT

JARS = ROOT / ".cache" / "kafka"
_START_SECONDS = 60.0

_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={logs}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApacheKafka:
    """A running broker; ``start`` again after ``kill`` goes on with the same logs."""

    bootstrap: str
    process: "subprocess.Popen[bytes]"

    def stop(self) -> None:
        terminate(self.process, 20.0)


def start(folder: Path) -> ApacheKafka:
    """Format storage below an empty folder and start a broker that answers.

    Raises
    ------
    RuntimeError
        Java or the jars are missing, or there is no answer within 60 s; the log's end is told.
    """
    if shutil.which("java") is None or not any(JARS.glob("kafka_2.13-*.jar")):
        raise RuntimeError("java or the jars are missing: `make test-kafka` fetches the jars")
    port, controller = _free_ports()
    properties = folder / "server.properties"
    properties.write_text(
        _PROPERTIES.format(port=port, controller=controller, logs=folder / "logs")
    )
    tool = _java("kafka.tools.StorageTool", "random-uuid")
    cluster = subprocess.run(tool, check=True, capture_output=True, text=True).stdout.split()[-1]
    format_ = ["format", "--standalone", "-t", cluster, "-c", str(properties)]
    subprocess.run(_java("kafka.tools.StorageTool", *format_), check=True, capture_output=True)
    log_path = folder / "broker.log"
    process = spawn(_java("kafka.Kafka", str(properties)), log_path=log_path)
    broker = ApacheKafka(bootstrap=f"127.0.0.1:{port}", process=process)
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _answers(broker.bootstrap):
            return broker
        time.sleep(0.3)
    broker.stop()
    raise RuntimeError(f"Kafka did not start: {log_path.read_text()[-2000:]}")


def _java(main: str, *arguments: str) -> list[str]:
    return ["java", "-Xmx512m", "-cp", f"{JARS}/*", main, *arguments]


def _answers(bootstrap: str) -> bool:
    host, _, port = bootstrap.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1.0).close()
        KafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=3000).close()
    except (OSError, KafkaError):
        return False
    return True


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]), int(two.getsockname()[1])
