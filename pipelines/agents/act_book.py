"""The decisions of one cell: recorded on disk first, then told on Kafka."""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import structlog

from actuators.decision import UNDER_WAY, Decision, Stage, chain_fault
from actuators.guard import Situation
from actuators.proposal import proposal_of
from actuators.records import DecisionEvent, Effect, Event, Mode, ReasonCode
from actuators.view import View
from detectors.records import Alert, AlertState
from pipelines import topics
from pipelines.agents.act_journal import ALERT, EVENT, Entry, Journal
from pipelines.clock import Clock
from pipelines.errors import DecodeError
from pipelines.messages.alerts import decode_alert, encode_alert
from pipelines.messages.decisions import decode_event, encode_event, event_hash
from pipelines.metrics import DECISION_EVENTS

log = structlog.get_logger()

_KEPT = 1000
_STAMP = struct.Struct("<q")
_HOUR_NS = 3_600_000_000_000


@dataclass(slots=True)
class Book:
    """Decisions and alerts of one cell.

    Attributes
    ----------
    sent_ns, heard_ns
        When an alert's newest revision was put on its topic, and when it was last told that the
        alert stands; by alert.
    put
        Hands a message to Kafka; it may be sent more than once, its CloudEvents id is the same.
    """

    cell: str
    journal: Journal
    put: Callable[[topics.Outgoing], None]
    clock: Clock
    decisions: dict[str, Decision] = field(default_factory=dict)
    alerts: dict[str, Alert] = field(default_factory=dict)
    sent_ns: dict[str, int] = field(default_factory=dict)
    heard_ns: dict[str, int] = field(default_factory=dict)

    def restore(self, told: Iterable[DecisionEvent]) -> None:
        """Take up what the journal here and the topic know; the longer history of each holds.

        What the topic does not have is told again.
        """
        journaled = self._read()
        on_topic = _histories(told)
        for decision_id in sorted({*journaled, *on_topic}):
            here, there = journaled.get(decision_id, []), on_topic.get(decision_id, [])
            events = there if len(there) > len(here) else here
            fault = chain_fault(events, event_hash)
            if fault is not None:
                log.error("decision history is broken", decision_id=decision_id, fault=fault)
                continue
            self.decisions[decision_id] = Decision(event_hash, list(events))
            for event in events[len(there) :]:
                self.put(_outgoing(event))
        self._forget_old()
        self.journal.rewrite(self._entries())

    def add(self, decision: Decision) -> None:
        """Record a decision that has just begun."""
        if len(self.decisions) > 2 * _KEPT:
            self._forget_old()
        self.decisions[decision.decision_id] = decision
        self._write(decision.last)

    def record(
        self,
        decision: Decision,
        event: Event,
        code: ReasonCode,
        reason: str,
        *,
        actor: str = "trimtab",
        mode: Mode | None = None,
        effect: Effect | None = None,
        checked: tuple[str, ...] | None = None,
    ) -> None:
        """Record the next event of a decision."""
        self._write(
            decision.record(
                event,
                code,
                reason,
                at_ns=self.clock.now_ns(),
                actor=actor,
                mode=mode,
                effect=effect,
                constraints_checked=checked,
            )
        )

    def note_alert(self, alert: Alert, sent_ns: int) -> bool:
        """Remember an alert's revision; False when a newer one is known already."""
        known = self.alerts.get(alert.alert_id)
        if known is not None and known.revision > alert.revision:
            return False
        heard_ns = self.heard_ns.get(alert.alert_id, sent_ns)
        self.heard_ns[alert.alert_id] = max(sent_ns, heard_ns)
        if known is None or known.revision < alert.revision:
            self.alerts[alert.alert_id] = alert
            self.sent_ns[alert.alert_id] = sent_ns
            self.journal.append(ALERT, _stamped(alert, sent_ns))
        return True

    def is_open(self, alert_id: str) -> bool:
        alert = self.alerts.get(alert_id)
        return alert is not None and alert.state is not AlertState.RESOLVED

    def of_alert(self, alert_id: str) -> list[Decision]:
        """Return the decisions about an alert, the newest last."""
        return [d for d in self.decisions.values() if d.last.alert_id == alert_id]

    def at_stage(self, *stages: Stage) -> Iterator[Decision]:
        return iter([d for d in self.decisions.values() if d.stage in stages])

    def situation(
        self,
        view: View,
        *,
        alert_sent_ns: int | None,
        objective: str,
        objective_received_ns: int | None,
        besides: str = "",
    ) -> Situation:
        """Return what the guard must know; the decision ``besides`` is left out."""
        now_ns = self.clock.now_ns()
        others = [d for d in self.decisions.values() if d.decision_id != besides]
        acted: dict[str, int] = {}
        for decision in others:
            for component, at_ns in _touched_at(decision, view):
                acted[component] = max(at_ns, acted.get(component, 0))
        open_now = [d for d in others if d.stage in UNDER_WAY and d.action is not None]
        invoked = (d.at_ns(Event.INVOKED) for d in others)
        return Situation(
            now_ns=now_ns,
            alert_sent_ns=alert_sent_ns,
            objective=objective,
            objective_received_ns=objective_received_ns,
            acted_ns=acted,
            actions_ns=tuple(at for at in invoked if at is not None and at > now_ns - _HOUR_NS),
            open_scopes={d.decision_id: _scope(d, view) for d in open_now},
            open_touched=frozenset(
                c.target for d in open_now if d.action for c in d.action.changes
            ),
        )

    def _write(self, event: DecisionEvent) -> None:
        self.journal.append(EVENT, encode_event(event))
        self.put(_outgoing(event))
        DECISION_EVENTS.labels(event.event).inc()
        log.info(
            "decision recorded",
            decision_id=event.decision_id,
            event_name=event.event,
            reason_code=event.reason_code,
            reason=event.reason,
        )

    def _forget_old(self) -> None:
        ended = sorted(
            (d for d in self.decisions.values() if d.stage is Stage.ENDED),
            key=lambda decision: decision.last.at_ns,
        )
        for decision in ended[:-_KEPT]:
            del self.decisions[decision.decision_id]
        about = {decision.last.alert_id for decision in self.decisions.values()}
        self.alerts = {
            alert_id: alert
            for alert_id, alert in self.alerts.items()
            if alert_id in about or alert.state is not AlertState.RESOLVED
        }
        for times in (self.sent_ns, self.heard_ns):
            for alert_id in times.keys() - self.alerts.keys():
                del times[alert_id]

    def _read(self) -> dict[str, list[DecisionEvent]]:
        events = []
        for entry in self.journal.load():
            try:
                if entry.kind == ALERT:
                    alert = decode_alert(entry.payload[_STAMP.size :])
                    self.alerts[alert.alert_id] = alert
                    (sent_ns,) = _STAMP.unpack_from(entry.payload)
                    self.sent_ns[alert.alert_id] = self.heard_ns[alert.alert_id] = sent_ns
                else:
                    events.append(decode_event(entry.payload))
            except DecodeError as error:
                log.warning("journal entry not read", detail=str(error))
        return _histories(events)

    def _entries(self) -> Iterator[Entry]:
        for alert in self.alerts.values():
            yield Entry(ALERT, _stamped(alert, self.sent_ns[alert.alert_id]))
        for decision in self.decisions.values():
            for event in decision.events:
                yield Entry(EVENT, encode_event(event))


def _stamped(alert: Alert, sent_ns: int) -> bytes:
    return _STAMP.pack(sent_ns) + encode_alert(alert)


def _histories(events: Iterable[DecisionEvent]) -> dict[str, list[DecisionEvent]]:
    """Return the events by decision, in order, each once, up to the first that is missing."""
    found: dict[str, dict[int, DecisionEvent]] = {}
    for event in events:
        found.setdefault(event.decision_id, {})[event.sequence] = event
    return {
        decision_id: [by_sequence[n] for n in range(1, len(by_sequence) + 1) if n in by_sequence]
        for decision_id, by_sequence in found.items()
    }


def _touched_at(decision: Decision, view: View) -> Iterator[tuple[str, int]]:
    """Yield what a decision changed and when it did so last, taking back included."""
    action = decision.action
    times: Mapping[Event, int | None] = {
        event: decision.at_ns(event) for event in (Event.INVOKED, Event.ROLLED_BACK)
    }
    at_ns = max((at for at in times.values() if at is not None), default=None)
    if action is not None and at_ns is not None:
        for component in proposal_of(action, view).scope:
            yield component, at_ns


def _scope(decision: Decision, view: View) -> frozenset[str]:
    action, effect = decision.action, decision.last.effect
    scope = frozenset() if action is None else frozenset(proposal_of(action, view).scope)
    return scope if effect is None else scope | {effect.component}


def _outgoing(event: DecisionEvent) -> topics.Outgoing:
    return topics.outgoing(
        topics.DECISIONS,
        cell=event.cell,
        value=encode_event(event),
        source="act",
        subject=event.component,
        at_ns=event.at_ns,
        event_id=f"{event.decision_id}-{event.sequence}",
    )
