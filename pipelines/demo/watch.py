"""What the database says of a fault: the alert, the decision, the effect."""

from dataclasses import dataclass

from clickhouse_connect.driver.exceptions import Error

from actuators.records import Action, DecisionEvent, Event, Verdict
from detectors.records import Alert, Cause
from pipelines.demo.faults import Fault
from pipelines.demo.table import Outcome
from pipelines.facts import Facts

# Whatever else a decision ends with, another about the same alert may follow and act.
_ENDED = frozenset({Event.KEPT, Event.ROLLED_BACK, Event.FAILED, Event.REJECTED})


@dataclass(slots=True)
class Story:
    """Follows one decision through the database, and tells each of its events once.

    Parameters
    ----------
    cause
        Of the decision, which is the newest of its kind.
    last
        With which event it has ended.
    """

    facts: Facts
    cause: str
    last: Event
    event: DecisionEvent | None = None

    def news(self) -> list[str]:
        """Return what has become known since the last call; empty while the database is away."""
        try:
            about = [d for d in self.facts.decisions() if d.cause == self.cause]
            if not about:
                return []
            events = self.facts.events(about[0].decision_id)
        except Error:
            return []
        known = 0 if self.event is None else self.event.sequence
        self.event = events[-1]
        return [f"{e.event}: {e.reason}" for e in events if e.sequence > known]

    @property
    def ended(self) -> bool:
        return self.event is not None and self.event.event is self.last

    @property
    def improved(self) -> bool:
        effect = None if self.event is None else self.event.effect
        return self.ended and effect is not None and effect.verdict is Verdict.IMPROVED


@dataclass(slots=True)
class Watch:
    """Follows one fault through the database, and tells each thing once."""

    fault: Fault
    facts: Facts
    alert: Alert | None = None
    decision: DecisionEvent | None = None

    def news(self) -> list[str]:
        """Return what has become known since the last call; empty while the database is away."""
        try:
            return [*self._alert_news(), *self._decision_news()]
        except Error:
            return []

    @property
    def ended(self) -> bool:
        return self.decision is not None and self.decision.event in _ENDED

    def outcome(self) -> Outcome:
        alert, event = self.alert, self.decision
        if alert is None:
            return Outcome(fault=self.fault)
        effect = None if event is None else event.effect
        measured = effect is not None and effect.verdict is not Verdict.UNKNOWN
        return Outcome(
            fault=self.fault,
            delay_seconds=(alert.detected_ns - self.fault.started_ns) / 1e9,
            component=alert.component,
            cause=alert.cause,
            decision_id="" if event is None else event.decision_id,
            action=_told(None if event is None else event.action),
            objective="" if effect is None else f"{effect.component} {effect.metric}",
            healthy=effect.healthy if effect and measured else None,
            before=effect.before if effect and measured else None,
            after=effect.after if effect and measured else None,
            verdict="" if effect is None else effect.verdict,
        )

    def _alert_news(self) -> list[str]:
        since = [
            alert
            for alert in self.facts.alerts()
            if alert.detected_ns >= self.fault.started_ns
            and alert.cause is not Cause.TELEMETRY_FAULT
        ]
        # The one on the right component if there is one; else the first that was told.
        right = [alert for alert in since if alert.component == self.fault.component]
        newest = min(right or since, key=lambda alert: alert.detected_ns, default=None)
        if newest is None or (self.alert and newest.alert_id == self.alert.alert_id):
            return []
        self.alert, self.decision = newest, None
        delay_seconds = (newest.detected_ns - self.fault.started_ns) / 1e9
        return [
            f"alert after {delay_seconds:.1f} s: {newest.component} {newest.cause} "
            f"({newest.confidence:.0%} confident, {len(newest.evidence)} detections)"
        ]

    def _decision_news(self) -> list[str]:
        if self.alert is None:
            return []
        about = [d for d in self.facts.decisions() if d.alert_id == self.alert.alert_id]
        if not about:
            return []
        newest = about[0]
        events = self.facts.events(newest.decision_id)
        known = 0
        if self.decision and self.decision.decision_id == newest.decision_id:
            known = self.decision.sequence
        self.decision = events[-1]
        return [f"{e.event}: {e.reason}" for e in events if e.sequence > known]


def _told(action: Action | None) -> str:
    if action is None:
        return ""
    change = f"{action.parameter} {action.from_value} -> {action.to_value}"
    return f"{action.kind} {action.target} {change}"
