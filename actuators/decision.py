"""The life of a decision: which event may follow which, and what each means for what comes next.

::

    proposed -> nothing | skipped_* | advised -> measured
    proposed -> approval_requested -> approved | rejected | expired
    proposed | approved -> invoked -> [in_progress] -> succeeded -> verified -> measured -> kept
    measured | kept | verified | failed -> in_progress (reverting) -> rolled_back | failed
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from actuators.records import (
    Action,
    Alternative,
    DecisionEvent,
    Effect,
    Event,
    Mode,
    ReasonCode,
)
from detectors.records import Alert, Detection

Hash = Callable[[DecisionEvent], str]


class Stage(StrEnum):
    """What a decision waits for."""

    PROPOSED = "proposed"
    WAITING = "waiting"
    READY = "ready"
    WRITING = "writing"
    MEASURING = "measuring"
    CONCLUDING = "concluding"
    REVERTING = "reverting"
    WATCHING = "watching"
    ENDED = "ended"


UNDER_WAY: Final = frozenset(
    {Stage.READY, Stage.WRITING, Stage.MEASURING, Stage.CONCLUDING, Stage.REVERTING}
)
_RETRYABLE: Final = frozenset({Event.SKIPPED_CONFLICT, Event.SKIPPED_COOLDOWN, Event.SKIPPED_STALE})
_DECISIONS_PER_ALERT: Final = 20

_REVERTING: Final = frozenset(
    {ReasonCode.EFFECT_WORSE, ReasonCode.REVERTED_BY_PERSON, ReasonCode.RECOVERED}
)
_STAGES: Final = {
    Event.PROPOSED: Stage.PROPOSED,
    Event.ADVISED: Stage.WATCHING,
    Event.APPROVAL_REQUESTED: Stage.WAITING,
    Event.APPROVED: Stage.READY,
    Event.INVOKED: Stage.WRITING,
    Event.IN_PROGRESS: Stage.WRITING,
    Event.SUCCEEDED: Stage.WRITING,
    Event.VERIFIED: Stage.MEASURING,
    Event.MEASURED: Stage.CONCLUDING,
}
_SKIPS: Final = frozenset(
    {
        Event.NOTHING,
        Event.SKIPPED_NO_CHANGE,
        Event.SKIPPED_STALE,
        Event.SKIPPED_COOLDOWN,
        Event.SKIPPED_BREAKER,
        Event.SKIPPED_CONFLICT,
        Event.EXPIRED,
    }
)
_NEXT: Final = {
    Event.PROPOSED: _SKIPS | {Event.ADVISED, Event.APPROVAL_REQUESTED, Event.INVOKED},
    Event.ADVISED: frozenset({Event.MEASURED}),
    Event.APPROVAL_REQUESTED: frozenset({Event.APPROVED, Event.REJECTED, Event.EXPIRED}),
    Event.APPROVED: _SKIPS | {Event.INVOKED},
    Event.INVOKED: frozenset(
        {Event.IN_PROGRESS, Event.SUCCEEDED, Event.VERIFIED, Event.FAILED, Event.SKIPPED_NO_CHANGE}
    ),
    Event.IN_PROGRESS: frozenset(
        {Event.IN_PROGRESS, Event.SUCCEEDED, Event.VERIFIED, Event.FAILED, Event.ROLLED_BACK}
    ),
    Event.SUCCEEDED: frozenset({Event.IN_PROGRESS, Event.VERIFIED, Event.FAILED}),
    Event.VERIFIED: frozenset({Event.MEASURED, Event.IN_PROGRESS}),
    Event.MEASURED: frozenset({Event.KEPT, Event.IN_PROGRESS}),
    Event.KEPT: frozenset({Event.IN_PROGRESS, Event.MEASURED}),
    Event.FAILED: frozenset({Event.IN_PROGRESS}),
}


class TransitionError(Exception):
    """An event that cannot follow the last one."""


@dataclass(slots=True)
class Decision:
    """One decision with all its events; `record` is the only way on.

    Events that were recorded before, by this worker or another, are passed in to go on from.
    """

    hash_of: Hash
    events: list[DecisionEvent] = field(default_factory=list)

    @property
    def last(self) -> DecisionEvent:
        return self.events[-1]

    @property
    def decision_id(self) -> str:
        return self.last.decision_id

    @property
    def action(self) -> Action | None:
        return self.last.action

    @property
    def stage(self) -> Stage:
        last = self.last
        if last.event is Event.IN_PROGRESS and last.reason_code in _REVERTING:
            return Stage.REVERTING
        if last.event is Event.MEASURED and last.mode is Mode.ADVISE:
            return Stage.ENDED
        return _STAGES.get(last.event, Stage.ENDED)

    @property
    def can_be_reverted(self) -> bool:
        """Whether its changes are in force, as far as is known."""
        written = any(event.event is Event.INVOKED for event in self.events)
        return (
            written
            and self.stage not in {Stage.WRITING, Stage.REVERTING}
            and self.last.event not in {Event.ROLLED_BACK, Event.SKIPPED_NO_CHANGE}
        )

    def at_ns(self, event: Event) -> int | None:
        """Return when an event happened last, None when it did not."""
        return next((e.at_ns for e in reversed(self.events) if e.event is event), None)

    def effect_at(self, event: Event) -> Effect | None:
        """Return the effect that an event carried."""
        return next((e.effect for e in reversed(self.events) if e.event is event), None)

    def record(
        self,
        event: Event,
        reason_code: ReasonCode,
        reason: str,
        *,
        at_ns: int,
        actor: str = "trimtab",
        mode: Mode | None = None,
        effect: Effect | None = None,
        constraints_checked: Sequence[str] | None = None,
    ) -> DecisionEvent:
        """Append an event and return it; what is not given stays as it was.

        Raises
        ------
        TransitionError
            The event cannot follow the last one.
        """
        last = self.last
        if event not in _NEXT.get(last.event, frozenset()):
            raise TransitionError(f"{event} after {last.event} in {last.decision_id}")
        following = replace(
            last,
            sequence=last.sequence + 1,
            at_ns=at_ns,
            event=event,
            reason_code=reason_code,
            reason=reason,
            actor=actor,
            mode=mode or last.mode,
            effect=effect or last.effect,
            constraints_checked=last.constraints_checked
            if constraints_checked is None
            else tuple(constraints_checked),
            previous_hash=last.event_hash,
            event_hash="",
        )
        return self._append(following)

    def _append(self, event: DecisionEvent) -> DecisionEvent:
        hashed = replace(event, event_hash=self.hash_of(event))
        self.events.append(hashed)
        return hashed


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a decision is about that answers no alert: traffic that jobs announced."""

    cell: str
    component: str
    cause: str = "placement"
    alert_id: str = ""
    evidence: tuple[Detection, ...] = ()


def begin(
    alert: Alert | Review,
    *,
    decision_id: str,
    event: Event,
    reason_code: ReasonCode,
    reason: str,
    at_ns: int,
    mode: Mode,
    config_hash: str,
    hash_of: Hash,
    action: Action | None = None,
    effect: Effect | None = None,
    constraints_checked: Sequence[str] = (),
    rejected_alternatives: Sequence[Alternative] = (),
) -> Decision:
    """Return a decision with its first event: ``proposed``, or an end without an action."""
    first = DecisionEvent(
        decision_id=decision_id,
        alert_id=alert.alert_id,
        cell=alert.cell,
        component=alert.component,
        cause=alert.cause,
        sequence=1,
        at_ns=at_ns,
        event=event,
        reason_code=reason_code,
        reason=reason,
        mode=mode,
        action=action,
        effect=effect,
        constraints_checked=tuple(constraints_checked),
        rejected_alternatives=tuple(rejected_alternatives),
        evidence_ids=tuple(detection.detection_id for detection in alert.evidence),
        config_hash=config_hash,
    )
    return Decision(hash_of, [replace(first, event_hash=hash_of(first))])


def decision_id(alert_id: str, ordinal: int) -> str:
    """Return the id of the ``ordinal``-th decision (from 1) about an alert."""
    return f"{alert_id}-{ordinal}"


def may_be_decided_again(decided: Sequence[Decision], *, passing: Container[ReasonCode]) -> bool:
    """Tell whether the last decision about an alert ended for a reason that may have passed."""
    last = decided[-1].last
    return (
        len(decided) < _DECISIONS_PER_ALERT
        and (last.event in _RETRYABLE or last.event is Event.NOTHING)
        and last.reason_code in passing
    )


def chain_fault(events: Sequence[DecisionEvent], hash_of: Hash) -> str | None:
    """Return where the chain of a decision's events is broken, None when it is whole."""
    previous = ""
    for position, event in enumerate(events, start=1):
        if event.sequence != position:
            return f"event {position} is missing"
        if event.previous_hash != previous:
            return f"event {position} does not follow event {position - 1}"
        if hash_of(event) != event.event_hash:
            return f"event {position} was changed"
        previous = event.event_hash
    return None
