"""Messages of the event topics as rows of the database."""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Final

from google.protobuf.message import DecodeError as ProtobufError

from actuators.records import DecisionEvent
from pipelines import topics
from pipelines.errors import DecodeError
from pipelines.messages.alerts import decode_alert, decode_detection
from pipelines.messages.decisions import decode_approval, decode_event
from pipelines.storage import tables
from pipelines.storage.tables import FactTable
from pipelines.wire import jobs_pb2, telemetry_pb2

Row = tuple[object, ...]
Rows = Iterator[tuple[FactTable, Row]]

# Ids are looked up in the text of a query.
_LONGEST_ID = 500


def fact_rows(topic: str, value: bytes, stored: date) -> list[tuple[FactTable, Row]]:
    """Return the rows a message becomes, each with its table.

    Raises
    ------
    DecodeError
        ``not_a_...``: no such message, or a word outside the closed catalogues; ``bad_id``: no
        id, or one too long to be looked up.
    """
    rows = [(table, (*row, stored)) for table, row in _READERS[topic](value)]
    for table, row in rows:
        identity = str(table.key_of(row)[0])
        if not 0 < len(identity) <= _LONGEST_ID:
            raise DecodeError("bad_id", f"id of {len(identity)} characters for {table.name!r}")
    return rows


def _detection(value: bytes) -> Rows:
    d = decode_detection(value)
    yield (
        tables.DETECTIONS,
        (
            *(d.detection_id, d.cell, *d.series, d.detector, str(d.scope)),
            *(d.onset_ns, d.detected_ns, d.shift_sigmas, d.before, d.after),
        ),
    )


def _alert(value: bytes) -> Rows:
    a = decode_alert(value)
    yield (
        tables.ALERTS,
        (
            *(a.alert_id, a.revision, a.cell, a.component, str(a.cause), str(a.state)),
            *(str(a.severity), a.onset_ns, a.detected_ns, a.revised_ns, a.confidence),
            *(list(a.affected), [d.detection_id for d in a.evidence]),
            [f"{r.component} {r.cause}: {r.reason}" for r in a.ruled_out],
            *(a.summary, value),
        ),
    )


def _decision(value: bytes) -> Rows:
    e = decode_event(value)
    yield (
        tables.DECISIONS,
        (
            *(e.decision_id, e.sequence, e.event_hash, e.previous_hash, e.alert_id, e.cell),
            *(e.component, e.cause, e.at_ns, str(e.event), str(e.reason_code), e.reason),
            *(str(e.mode), e.actor, e.action.action_id if e.action else ""),
            list(e.constraints_checked),
            [f"{a.action_kind} {a.target}: {a.reason}" for a in e.rejected_alternatives],
            *(list(e.evidence_ids), e.config_hash, value),
        ),
    )
    yield from _action(e)
    yield from _effect(e)


def _action(e: DecisionEvent) -> Rows:
    if e.action is None:
        return
    a = e.action
    yield (
        tables.ACTIONS,
        (
            *(a.action_id, e.decision_id, e.sequence, e.event_hash, e.alert_id, e.cell),
            *(e.at_ns, str(e.event), str(a.kind), a.target, a.parameter),
            *(a.from_value, a.to_value),
            [(c.target, c.path, c.from_value, c.to_value) for c in a.changes],
            *(a.expected_gain_ratio, a.expected_cost_seconds, a.driver),
        ),
    )


def _effect(e: DecisionEvent) -> Rows:
    if e.effect is None:
        return
    f = e.effect
    yield (
        tables.EFFECTS,
        (
            *(e.decision_id, e.sequence, e.event_hash, e.action.action_id if e.action else ""),
            *(e.alert_id, e.cell, e.at_ns, str(e.event), f.component, f.metric, f.better),
            *(f.healthy, f.before, f.after, f.gain_low_ratio, f.gain_high_ratio),
            *(f.samples, str(f.verdict)),
        ),
    )


def _approval(value: bytes) -> Rows:
    a = decode_approval(value)
    row = (a.request_id, a.decision_id, a.cell, a.verb, a.who, a.why, a.at_ns)
    yield tables.APPROVALS, row


def _job(value: bytes) -> Rows:
    try:
        j = jobs_pb2.JobEvent.FromString(value)
    except ProtobufError as error:
        raise DecodeError("not_a_job_event", str(error)) from error
    told = j.announcement
    yield (
        tables.JOBS,
        (
            *(j.job_id, j.cell, j.event, j.at_ns, told.kind, told.priority),
            *([rank.gpu for rank in told.ranks], [rank.nic for rank in told.ranks]),
            [c.kind for c in told.collectives],
            [c.period_seconds for c in told.collectives],
            value,
        ),
    )


def _delivery(value: bytes) -> Rows:
    try:
        d = telemetry_pb2.Delivery.FromString(value)
    except ProtobufError as error:
        raise DecodeError("not_a_delivery", str(error)) from error
    duration_seconds = d.duration_seconds if math.isfinite(d.duration_seconds) else 0.0
    yield (
        tables.DELIVERIES,
        (
            *(d.delivery_id, d.attempt, d.endpoint, d.event_type, d.subject_id, d.cell),
            *(d.at_ns, d.state, d.status, d.detail, duration_seconds),
        ),
    )


def _dead_letter(value: bytes) -> Rows:
    try:
        d = telemetry_pb2.DeadLetter.FromString(value)
    except ProtobufError as error:
        raise DecodeError("not_a_dead_letter", str(error)) from error
    yield (
        tables.DEAD_LETTERS,
        (
            *(d.letter_id, d.reason, d.detail, d.source, d.cell, d.topic, d.partition),
            *(d.offset, d.at_ns, d.samples, d.payload),
        ),
    )


_READERS: Final[Mapping[str, Callable[[bytes], Rows]]] = {
    topics.JOBS: _job,
    topics.DETECTIONS: _detection,
    topics.ALERTS: _alert,
    topics.DECISIONS: _decision,
    topics.APPROVALS: _approval,
    topics.DELIVERIES: _delivery,
    topics.DEAD_LETTERS: _dead_letter,
}
