"""Where baselines are kept: a compacted topic, and a file a cell beside it.

The file outlives a broker that keeps nothing, the topic outlives the machine; the newest is taken.
"""

from pathlib import Path
from urllib.parse import quote

import structlog
from google.protobuf.message import DecodeError as ProtobufError
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition

from pipelines import topics
from pipelines.wire import telemetry_pb2 as pb

log = structlog.get_logger()

_POLL_MS = 500
_LARGEST_BYTES = 16 * 1024 * 1024


class SnapshotFiles:
    """One file a cell; replaced as a whole, so that a crash leaves the old one or the new one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, snapshot: pb.BaselineSnapshot) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(snapshot.cell)
        partial = path.with_suffix(".partial")
        partial.write_bytes(snapshot.SerializeToString())
        partial.replace(path)

    def read(self, cell: str) -> pb.BaselineSnapshot | None:
        """Return the cell's snapshot; None when there is none, or it cannot be read."""
        try:
            snapshot = pb.BaselineSnapshot.FromString(self._path(cell).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ProtobufError) as error:
            log.warning("baseline file cannot be read", cell=cell, reason=str(error))
            return None
        return snapshot if snapshot.cell == cell else None

    def _path(self, cell: str) -> Path:
        return self._folder / f"{quote(cell, safe='')}.snapshot"


class Snapshots:
    """Snapshots as this worker knows them: what the topic held, and the files."""

    def __init__(self, files: SnapshotFiles) -> None:
        self.files = files
        self._from_topic: dict[str, pb.BaselineSnapshot] = {}

    def take(self, found: dict[str, pb.BaselineSnapshot]) -> None:
        """Take in what the topic holds for the partitions of this worker."""
        self._from_topic |= found

    def newest(self, cell: str) -> pb.BaselineSnapshot | None:
        """Return the newer of a cell's two snapshots."""
        found = [self.files.read(cell), self._from_topic.get(cell)]
        there = [snapshot for snapshot in found if snapshot is not None]
        return max(there, key=lambda snapshot: snapshot.at_ns, default=None)


def read_topic(bootstrap: str, partitions: set[int]) -> dict[str, pb.BaselineSnapshot]:
    """Return the newest snapshot by cell from these partitions of the baselines topic.

    Raises
    ------
    kafka.errors.KafkaError
        The broker is away.
    """
    logs = [TopicPartition(topics.BASELINES, partition) for partition in sorted(partitions)]
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap.split(","),
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=_LARGEST_BYTES,
        request_timeout_ms=10_000,
    )
    newest: dict[str, pb.BaselineSnapshot] = {}
    try:
        consumer.assign(logs)
        consumer.seek_to_beginning(*logs)
        ends = consumer.end_offsets(logs)
        # The embedded broker's end offsets are low when a batch held several messages, so one
        # empty answer after them ends the reading.
        while True:
            batch = consumer.poll(timeout_ms=_POLL_MS)
            for message in (m for messages in batch.values() for m in messages):
                _keep_newest(newest, message.value)
            if not batch and all(consumer.position(tp) >= ends[tp] for tp in logs):
                return newest
    finally:
        consumer.close()


def broker_epoch(bootstrap: str) -> str:
    """Return the id of the broker's cluster: the embedded broker has a new one at every start.

    Raises
    ------
    kafka.errors.KafkaError
        The broker is away.
    """
    admin = KafkaAdminClient(bootstrap_servers=bootstrap.split(","), request_timeout_ms=10_000)
    try:
        return str(admin.describe_cluster()["cluster_id"])
    finally:
        admin.close()


def _keep_newest(newest: dict[str, pb.BaselineSnapshot], value: bytes | None) -> None:
    if value is None:
        return
    try:
        snapshot = pb.BaselineSnapshot.FromString(value)
    except ProtobufError:
        log.warning("a message on the baselines topic is no snapshot", bytes=len(value))
        return
    known = newest.get(snapshot.cell)
    if known is None or known.at_ns <= snapshot.at_ns:
        newest[snapshot.cell] = snapshot
