"""Decision events and approvals on the wire."""

import hashlib

from google.protobuf.message import DecodeError as ProtobufError

from actuators.records import (
    Action,
    ActionKind,
    Alternative,
    Approval,
    Change,
    DecisionEvent,
    Effect,
    Event,
    Mode,
    ReasonCode,
    Verdict,
)
from pipelines.errors import DecodeError
from pipelines.wire import telemetry_pb2 as pb


def event_hash(event: DecisionEvent) -> str:
    """Return the SHA-256 over the event's content and its predecessor's hash, as hex digits."""
    message = _event_message(event)
    message.event_hash = ""
    return hashlib.sha256(message.SerializeToString(deterministic=True)).hexdigest()


def encode_event(event: DecisionEvent) -> bytes:
    return _event_message(event).SerializeToString(deterministic=True)


def decode_event(data: bytes) -> DecisionEvent:
    """Return the decision event.

    Raises
    ------
    DecodeError
        ``not_a_decision``: no such message, or a word outside the closed catalogues.
    """
    try:
        return _event(pb.DecisionEvent.FromString(data))
    except (ProtobufError, ValueError) as error:
        raise DecodeError("not_a_decision", str(error)) from error


def encode_approval(approval: Approval) -> bytes:
    return pb.Approval(
        request_id=approval.request_id,
        decision_id=approval.decision_id,
        cell=approval.cell,
        verb=approval.verb,
        who=approval.who,
        why=approval.why,
        at_ns=approval.at_ns,
    ).SerializeToString()


def decode_approval(data: bytes) -> Approval:
    """Return the approval.

    Raises
    ------
    DecodeError
        ``not_an_approval``: no such message, or a verb that is not approve, reject or revert.
    """
    try:
        message = pb.Approval.FromString(data)
    except ProtobufError as error:
        raise DecodeError("not_an_approval", str(error)) from error
    if message.verb not in {"approve", "reject", "revert"}:
        raise DecodeError("not_an_approval", f"verb is {message.verb!r}")
    return Approval(
        request_id=message.request_id,
        decision_id=message.decision_id,
        cell=message.cell,
        verb=message.verb,
        who=message.who,
        why=message.why,
        at_ns=message.at_ns,
    )


def _event_message(event: DecisionEvent) -> pb.DecisionEvent:
    return pb.DecisionEvent(
        decision_id=event.decision_id,
        alert_id=event.alert_id,
        cell=event.cell,
        component=event.component,
        cause=event.cause,
        sequence=event.sequence,
        at_ns=event.at_ns,
        event=event.event,
        reason_code=event.reason_code,
        reason=event.reason,
        mode=event.mode,
        actor=event.actor,
        action=None if event.action is None else _action_message(event.action),
        effect=None if event.effect is None else _effect_message(event.effect),
        constraints_checked=event.constraints_checked,
        rejected_alternatives=[
            pb.Alternative(action_kind=a.action_kind, target=a.target, reason=a.reason)
            for a in event.rejected_alternatives
        ],
        evidence_ids=event.evidence_ids,
        config_hash=event.config_hash,
        previous_hash=event.previous_hash,
        event_hash=event.event_hash,
    )


def _action_message(action: Action) -> pb.Action:
    return pb.Action(
        action_id=action.action_id,
        kind=action.kind,
        target=action.target,
        parameter=action.parameter,
        from_value=action.from_value,
        to_value=action.to_value,
        changes=[
            pb.Change(target=c.target, path=c.path, from_value=c.from_value, to_value=c.to_value)
            for c in action.changes
        ],
        expected_gain_ratio=action.expected_gain_ratio,
        expected_cost_seconds=action.expected_cost_seconds,
        driver=action.driver,
    )


def _effect_message(effect: Effect) -> pb.Effect:
    return pb.Effect(
        component=effect.component,
        metric=effect.metric,
        better=effect.better,
        healthy=effect.healthy,
        before=effect.before,
        after=effect.after,
        gain_low_ratio=effect.gain_low_ratio,
        gain_high_ratio=effect.gain_high_ratio,
        samples=effect.samples,
        verdict=effect.verdict,
    )


def _event(message: pb.DecisionEvent) -> DecisionEvent:
    return DecisionEvent(
        decision_id=message.decision_id,
        alert_id=message.alert_id,
        cell=message.cell,
        component=message.component,
        cause=message.cause,
        sequence=message.sequence,
        at_ns=message.at_ns,
        event=Event(message.event),
        reason_code=ReasonCode(message.reason_code),
        reason=message.reason,
        mode=Mode(message.mode),
        actor=message.actor,
        action=_action(message.action) if message.HasField("action") else None,
        effect=_effect(message.effect) if message.HasField("effect") else None,
        constraints_checked=tuple(message.constraints_checked),
        rejected_alternatives=tuple(
            Alternative(action_kind=ActionKind(a.action_kind), target=a.target, reason=a.reason)
            for a in message.rejected_alternatives
        ),
        evidence_ids=tuple(message.evidence_ids),
        config_hash=message.config_hash,
        previous_hash=message.previous_hash,
        event_hash=message.event_hash,
    )


def _action(message: pb.Action) -> Action:
    return Action(
        action_id=message.action_id,
        kind=ActionKind(message.kind),
        target=message.target,
        parameter=message.parameter,
        from_value=message.from_value,
        to_value=message.to_value,
        changes=tuple(
            Change(target=c.target, path=c.path, from_value=c.from_value, to_value=c.to_value)
            for c in message.changes
        ),
        expected_gain_ratio=message.expected_gain_ratio,
        expected_cost_seconds=message.expected_cost_seconds,
        driver=message.driver,
    )


def _effect(message: pb.Effect) -> Effect:
    return Effect(
        component=message.component,
        metric=message.metric,
        better=message.better,
        healthy=message.healthy,
        before=message.before,
        after=message.after,
        gain_low_ratio=message.gain_low_ratio,
        gain_high_ratio=message.gain_high_ratio,
        samples=message.samples,
        verdict=Verdict(message.verdict),
    )
