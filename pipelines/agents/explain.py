"""One decision as a story that fits on a screen."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from actuators.decision import chain_fault
from actuators.records import Action, DecisionEvent, Effect, Event, Verdict
from detectors.records import Alert
from pipelines.messages.decisions import decode_event, event_hash

_WIDTH = 14
_EVIDENCE_SHOWN = 4
_TEXT_WIDTH = 118
_PATH_WIDTH = 90
# Their reasons are the story's basis and effect.
_TOLD_ABOVE = frozenset({Event.PROPOSED, Event.NOTHING, Event.MEASURED})
_PEOPLE = frozenset({Event.APPROVED, Event.REJECTED})


def event_of_row(message: bytes) -> DecisionEvent:
    """Return the event that a row of the table ``decisions`` keeps in its column ``message``.

    Raises
    ------
    DecodeError
        The row holds something else.
    """
    return decode_event(message)


def explain(events: Sequence[DecisionEvent], alert: Alert | None) -> str:
    """Return the story of a decision: context, evidence, basis, what was done, what came of it.

    Parameters
    ----------
    events
        Of one decision, in order; at least one.
    alert
        The newest revision of its alert, where it is known.
    """
    first = events[0]
    action = next((event.action for event in events if event.action is not None), None)
    lines = [
        f"Decision {first.decision_id}",
        *_field("about", f"{first.component}: {first.cause} (cell {first.cell})"),
        *_context(alert),
        *_field("decided", f"{_time(first.at_ns)}, mode {events[-1].mode}"),
        *_field("basis", first.reason),
        *_actions(action),
        *_alternatives(first),
        *_field("checked", *_checked(events)),
        *_people(events),
        *_effects(events),
        *_history(events),
        *_field("settings", first.config_hash),
        *_field("chain", _chain(events)),
    ]
    return "\n".join(lines)


def _context(alert: Alert | None) -> Iterator[str]:
    if alert is None:
        return
    yield from _field(
        "alert",
        f"{alert.severity}, {alert.confidence:.0%} confident, began {_time(alert.onset_ns)}, "
        f"now {alert.state}",
        *([alert.summary] if alert.summary else []),
    )
    if alert.affected:
        yield from _field("suffering", ", ".join(alert.affected))
    shown = [
        f"{d.series.component} {d.series.metric}: {d.before:.4g} -> {d.after:.4g} "
        f"({d.shift_sigmas:+.1f} sigmas, {d.detector} against {d.scope})"
        for d in alert.evidence[:_EVIDENCE_SHOWN]
    ]
    left = len(alert.evidence) - len(shown)
    yield from _field("evidence", *shown, *([f"and {left} more"] if left > 0 else []))
    yield from _field(
        "ruled out", *(f"{r.component} {r.cause}: {r.reason}" for r in alert.ruled_out)
    )


def _actions(action: Action | None) -> Iterator[str]:
    if action is None:
        yield from _field("action", "nothing")
        return
    yield from _field(
        "action",
        f"{action.kind} {action.target}: {action.parameter} "
        f"{action.from_value} -> {action.to_value} by {action.driver}",
        f"expected: {action.expected_gain_ratio:+.1%} for "
        f"{action.expected_cost_seconds:.3g} s of disturbance",
    )
    yield from _field(
        "changes",
        *(f"{c.target} {_short(c.path)}: {c.from_value} -> {c.to_value}" for c in action.changes),
    )


def _alternatives(first: DecisionEvent) -> Iterator[str]:
    told = [f"{a.action_kind} {a.target}: {a.reason}" for a in first.rejected_alternatives]
    yield from _field("alternatives", *(told or ["none"]))


def _checked(events: Sequence[DecisionEvent]) -> tuple[str, ...]:
    return next((e.constraints_checked for e in reversed(events) if e.constraints_checked), ())


def _people(events: Sequence[DecisionEvent]) -> Iterator[str]:
    yield from _field(
        "people",
        *(
            f"{event.actor} {event.event} at {_time(event.at_ns)}: {event.reason}"
            for event in events
            if event.event in _PEOPLE or event.actor != "trimtab"
        ),
    )


def _effects(events: Sequence[DecisionEvent]) -> Iterator[str]:
    effect = next((e.effect for e in reversed(events) if e.event is Event.MEASURED), None)
    if effect is None:
        return
    yield from _field(
        "effect",
        f"{effect.component} {effect.metric} ({effect.better} is better)",
        f"healthy {_level(effect.healthy)}, before {_level(effect.before)}, "
        f"after {_level(effect.after)}",
        _verdict(effect),
    )


def _verdict(effect: Effect) -> str:
    if effect.verdict is Verdict.UNKNOWN and not math.isfinite(effect.gain_low_ratio):
        return f"unknown: {effect.samples} readings"
    return (
        f"{effect.verdict}: gain between {effect.gain_low_ratio:+.1%} and "
        f"{effect.gain_high_ratio:+.1%} over {effect.samples} readings"
    )


def _history(events: Sequence[DecisionEvent]) -> Iterator[str]:
    start = events[0].at_ns
    yield from _field(
        "what happened",
        *(
            f"+{(event.at_ns - start) / 1e9:.1f} s {event.event} ({event.reason_code})"
            + ("" if event.event in _TOLD_ABOVE else f": {event.reason}")
            for event in events
        ),
    )


def _chain(events: Sequence[DecisionEvent]) -> str:
    fault = chain_fault(events, event_hash)
    if fault is not None:
        return f"BROKEN: {fault}"
    return f"whole, {len(events)} events, last {events[-1].event_hash[:16]}"


def _field(name: str, *values: str) -> Iterator[str]:
    for position, value in enumerate(values):
        lines = textwrap.wrap(value, _TEXT_WIDTH, break_long_words=False, break_on_hyphens=False)
        for number, line in enumerate(lines or [""]):
            label = name if position == number == 0 else ""
            yield f"  {label:<{_WIDTH}} {'  ' if number else ''}{line}"


def _short(path: str) -> str:
    """Return the end of a long path, from the start of an element on."""
    if len(path) <= _PATH_WIDTH:
        return path
    end = path[-_PATH_WIDTH:]
    # A slash inside a key, as in a prefix, starts no element.
    start = max(end.find("/", end.find("]") + 1 if "[" not in end.split("]")[0] else 0), 0)
    return f"...{end[start:]}"


def _level(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "not known"


def _time(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
