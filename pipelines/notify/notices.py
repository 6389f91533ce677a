"""What endpoints are told: alerts' revisions and decisions' events, by their event types."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from actuators.records import DecisionEvent, Event
from detectors.records import Alert, AlertState, Cause, Severity

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
_BY_SEVERITY: Final = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)

Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing to tell.

    Attributes
    ----------
    number
        Revision of the alert, or sequence of the decision's event.
    place
        Topic, partition and offset it was read from.
    repeat
        0 = told for the first time; then counts how often a lasting alert is told again.
    """

    event_type: str
    subject_id: str
    number: int
    at_ns: int
    cell: str
    told: Alert | DecisionEvent
    place: Place
    repeat: int = 0

    @property
    def places(self) -> tuple[Place, ...]:
        """Messages whose deliveries end with this one; a repetition stands for none."""
        return () if self.repeat else (self.place,)

    @property
    def is_firing(self) -> bool:
        return isinstance(self.told, Alert) and self.told.state is not AlertState.RESOLVED

    def webhook_id(self, endpoint: str) -> str:
        """Return the id of its delivery to an endpoint: the same for every attempt, ever."""
        parts = [endpoint, self.subject_id, str(self.number), self.event_type]
        return _message_id([*parts, f"repeat {self.repeat}"] if self.repeat else parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Several notices told in one message, the current state first.

    Attributes
    ----------
    kind
        ``group``: alerts that the endpoint wants together; ``digest``: what waited for it while it
        did not answer.
    notices
        The newest of each alert and decision.
    """

    kind: Literal["group", "digest"]
    key: str
    notices: tuple[Notice, ...]

    @property
    def event_type(self) -> str:
        return f"degradation.{self.kind}"

    @property
    def subject_id(self) -> str:
        return f"{self.kind}:{self.key}"

    @property
    def at_ns(self) -> int:
        return max(notice.at_ns for notice in self.notices)

    @property
    def cell(self) -> str:
        return self.notices[0].cell

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(place for notice in self.notices for place in notice.places)

    def webhook_id(self, endpoint: str) -> str:
        """Return an id that only this very set of notices has."""
        return _message_id([endpoint, *sorted(n.webhook_id(endpoint) for n in self.notices)])


Message = Notice | Bundle


def members(message: Message) -> tuple[Notice, ...]:
    return message.notices if isinstance(message, Bundle) else (message,)


def newest_first(notices: Iterable[Notice]) -> tuple[list[Notice], list[Notice]]:
    """Return the newest notice of each subject, what lasts before what is over; and the others.

    Among what lasts the worst comes first, then the oldest.
    """
    newest: dict[str, Notice] = {}
    superseded = []
    for notice in notices:
        other = newest.get(notice.subject_id)
        if other is not None:
            older, notice = sorted((other, notice), key=lambda n: (n.number, n.repeat))  # noqa: PLW2901
            superseded.append(older)
        newest[notice.subject_id] = notice
    return sorted(newest.values(), key=_rank), superseded


def _rank(notice: Notice) -> tuple[int, int, int]:
    told = notice.told
    if isinstance(told, Alert):
        return (0 if notice.is_firing else 2, _BY_SEVERITY.index(told.severity), told.onset_ns)
    return (1, 0, -notice.at_ns)


def notice_of_alert(alert: Alert, place: Place, *, repeat: int = 0) -> Notice:
    types = _OF_TELEMETRY if alert.cause is Cause.TELEMETRY_FAULT else _OF_ALERT
    return Notice(
        event_type=types[alert.state],
        subject_id=alert.alert_id,
        number=alert.revision,
        at_ns=alert.revised_ns,
        cell=alert.cell,
        told=alert,
        place=place,
        repeat=repeat,
    )


def notice_of_decision(event: DecisionEvent, place: Place) -> Notice | None:
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


def _message_id(parts: list[str]) -> str:
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16)
    return f"msg_{digest.hexdigest()}"
