"""Kafka topics, and the CloudEvents headers of every message on them."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

FRAMES = "telemetry.frames"
JOBS = "telemetry.jobs"
DETECTIONS = "telemetry.detections"
ALERTS = "telemetry.alerts"
DECISIONS = "telemetry.decisions"
APPROVALS = "telemetry.approvals"
DELIVERIES = "telemetry.deliveries"
DEAD_LETTERS = "telemetry.dead-letters"
BASELINES = "telemetry.baselines"

ALL = (
    FRAMES,
    JOBS,
    DETECTIONS,
    ALERTS,
    DECISIONS,
    APPROVALS,
    DELIVERIES,
    DEAD_LETTERS,
    BASELINES,
)

# Only the newest message of a key matters on these.
COMPACTED = frozenset({BASELINES})

CONTENT_TYPE = b"application/protobuf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message on its way to Kafka: topic, key (the cell), value and headers."""

    topic: str
    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


def outgoing(
    topic: str,
    *,
    cell: str,
    value: bytes,
    source: str,
    subject: str,
    at_ns: int,
    event_id: str | None = None,
) -> Outgoing:
    """Return a message with CloudEvents 1.0 binary-mode headers.

    ``event_id`` is the fact's own id where it has one, so that (source, id) stays the same
    when the fact is sent again; otherwise a new one is made.
    """
    stamp = datetime.fromtimestamp(at_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    headers = (
        ("ce_specversion", b"1.0"),
        ("ce_type", f"trimtab.{topic}.v1".encode()),
        ("ce_source", f"trimtab/{source}".encode()),
        ("ce_id", (event_id or uuid.uuid4().hex).encode()),
        ("ce_time", f"{stamp}.{at_ns % 1_000_000_000:09d}Z".encode()),
        ("ce_subject", subject.encode()),
        ("content-type", CONTENT_TYPE),
    )
    return Outgoing(topic=topic, key=cell.encode(), value=value, headers=headers)
