"""What endpoints are told: alerts' revisions and decisions' events, by their event types."""

import hashlib
from dataclasses import dataclass
from typing import Final

from actuators.records import DecisionEvent, Event
from detectors.records import Alert, AlertState, Cause

_OF_ALERT: Final = {
    AlertState.OPENED: "degradation.detected",
    AlertState.UPDATED: "degradation.updated",
    AlertState.RESOLVED: "degradation.resolved",
}
_OF_TELEMETRY: Final = {
    AlertState.OPENED: "telemetry.stale",
    AlertState.UPDATED: "telemetry.stale",
    AlertState.RESOLVED: "telemetry.recovered",
}
# Events that are not here are steps nobody outside waits for.
_OF_DECISION: Final = {
    Event.PROPOSED: "action.proposed",
    Event.APPROVAL_REQUESTED: "action.approval_requested",
    Event.APPROVED: "action.approved",
    Event.REJECTED: "action.rejected",
    Event.EXPIRED: "action.expired",
    Event.INVOKED: "action.executing",
    Event.SUCCEEDED: "action.succeeded",
    Event.FAILED: "action.failed",
    Event.ROLLED_BACK: "action.rolled_back",
    Event.SKIPPED_BREAKER: "breaker.tripped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing to tell.

    Attributes
    ----------
    number
        Revision of the alert, or sequence of the decision's event.
    place
        Topic, partition and offset it was read from.
    """

    event_type: str
    subject_id: str
    number: int
    at_ns: int
    cell: str
    told: Alert | DecisionEvent
    place: tuple[str, int, int]

    def webhook_id(self, endpoint: str) -> str:
        """Return the id of its delivery to an endpoint: the same for every attempt, ever."""
        parts = (endpoint, self.subject_id, str(self.number), self.event_type)
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16)
        return f"msg_{digest.hexdigest()}"


def notice_of_alert(alert: Alert, place: tuple[str, int, int]) -> Notice:
    types = _OF_TELEMETRY if alert.cause is Cause.TELEMETRY_FAULT else _OF_ALERT
    return Notice(
        event_type=types[alert.state],
        subject_id=alert.alert_id,
        number=alert.revision,
        at_ns=alert.revised_ns,
        cell=alert.cell,
        told=alert,
        place=place,
    )


def notice_of_decision(event: DecisionEvent, place: tuple[str, int, int]) -> Notice | None:
    """Return what is told of an event; None for a step that nobody outside waits for."""
    event_type = _OF_DECISION.get(event.event)
    if event_type is None:
        return None
    return Notice(
        event_type=event_type,
        subject_id=event.decision_id,
        number=event.sequence,
        at_ns=event.at_ns,
        cell=event.cell,
        told=event,
        place=place,
    )
