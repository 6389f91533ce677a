"""Alerts and decisions as the fields of a webhook's body, cut to a size that receivers take."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from actuators.records import DecisionEvent
from detectors.records import Alert

# Receivers of Standard Webhooks may refuse more than 20 kB.
LARGEST_BODY_BYTES: Final = 20_000
# Items a list and characters a text keep; the first pair whose body is small enough is taken.
_CUTS: Final = ((50, 2000), (50, 300), (10, 1000), (3, 500), (1, 200), (0, 100))


def time_text(time_ns: int) -> str:
    """Return a time as RFC 3339 in UTC, to the millisecond."""
    stamp = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp}.{time_ns % 1_000_000_000 // 1_000_000:03d}Z"


def cut_text(text: str, characters: int) -> str:
    """Return the text, cut on a character and marked where it is longer."""
    return text if len(text) <= characters else text[: characters - 1] + "…"


def evidence_text(alert: Alert) -> str:
    return ", ".join(f"{d.series.component} {d.series.metric}" for d in alert.evidence[:20])


def alert_fields(alert: Alert) -> dict[str, Any]:
    return {
        "alert_id": alert.alert_id,
        "revision": alert.revision,
        "state": str(alert.state),
        "component": alert.component,
        "cause": str(alert.cause),
        "severity": str(alert.severity),
        "cell": alert.cell,
        "onset": time_text(alert.onset_ns),
        "detected": time_text(alert.detected_ns),
        "revised": time_text(alert.revised_ns),
        "confidence": alert.confidence,
        "summary": alert.summary,
        "affected": list(alert.affected),
        "evidence": [
            {
                "detection_id": d.detection_id,
                "component": d.series.component,
                "metric": d.series.metric,
                "attributes": d.series.attributes,
                "detector": d.detector,
                "scope": str(d.scope),
                "shift_sigmas": d.shift_sigmas,
                "before": d.before,
                "after": d.after,
            }
            for d in alert.evidence
        ],
        "ruled_out": [
            {"component": r.component, "cause": str(r.cause), "reason": r.reason}
            for r in alert.ruled_out
        ],
    }


def decision_fields(event: DecisionEvent) -> dict[str, Any]:
    return {
        "decision_id": event.decision_id,
        "alert_id": event.alert_id,
        "sequence": event.sequence,
        "event": str(event.event),
        "at": time_text(event.at_ns),
        "component": event.component,
        "cause": event.cause,
        "cell": event.cell,
        "mode": str(event.mode),
        "actor": event.actor,
        "reason_code": str(event.reason_code),
        "reason": event.reason,
        "action": None if event.action is None else asdict(event.action),
        "effect": None if event.effect is None else asdict(event.effect),
    }


def fitting(body: Any, *, largest_bytes: int = LARGEST_BODY_BYTES) -> bytes:
    """Return the body as JSON, its lists and texts cut until it is small enough."""
    data = b""
    for items, characters in _CUTS:
        data = json.dumps(
            _cut(body, items, characters),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        ).encode()
        if len(data) < largest_bytes:
            break
    return data


def _cut(value: Any, items: int, characters: int) -> Any:
    """Return the value with long texts cut on a character, long lists cut, no NaN."""
    if isinstance(value, str):
        return cut_text(str(value), characters)
    if isinstance(value, dict):
        return {key: _cut(inner, items, characters) for key, inner in value.items()}
    if isinstance(value, Sequence):
        # Alertmanager's one alert stays.
        return [_cut(inner, items, characters) for inner in value[: max(items, 1)]]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
