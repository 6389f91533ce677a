"""Bodies of webhooks: Standard Webhooks' and Alertmanager's, version 4."""

import json
import math
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from actuators.records import DecisionEvent
from cluster.component import kind_of
from detectors.records import Alert, AlertState
from pipelines.notify.notices import Notice

# Receivers of Standard Webhooks may refuse more than 20 kB.
LARGEST_BODY_BYTES: Final = 20_000
# Items a list and characters a text keep; the first pair whose body is small enough is taken.
_CUTS: Final = ((50, 2000), (10, 1000), (3, 500), (1, 200), (0, 100))
_UNRESOLVED: Final = "0001-01-01T00:00:00Z"
_FNV_OFFSET: Final = 14_695_981_039_346_656_037
_FNV_PRIME: Final = 1_099_511_628_211


def standard_body(notice: Notice) -> bytes:
    """Return the body, the same at every attempt: it is signed byte by byte."""
    told = notice.told
    data = _alert_data(told) if isinstance(told, Alert) else _decision_data(told)
    body = {"type": notice.event_type, "timestamp": _time(notice.at_ns), "data": data}
    return _fitting(body)


def alertmanager_body(notice: Notice, *, receiver: str) -> bytes:
    """Return an alert in the form of Alertmanager's webhook, one alert in its own group.

    Labels that identify never change over an alert's life, so firing and resolved meet.
    """
    told = notice.told
    if not isinstance(told, Alert):
        raise TypeError("only alerts have an Alertmanager body")
    identity = {
        "alertname": str(told.cause),
        "alert_id": told.alert_id,
        "entity": told.component,
        "entity_kind": kind_of(told.component),
        "cell": told.cell,
    }
    resolved = told.state is AlertState.RESOLVED
    alert = {
        "status": "resolved" if resolved else "firing",
        "labels": identity | {"severity": str(told.severity)},
        "annotations": {
            "summary": told.summary,
            "affected": ", ".join(told.affected[:20]),
            "evidence": ", ".join(f"{d.series.component} {d.series.metric}" for d in told.evidence),
            "confidence": f"{told.confidence:.2f}",
        },
        "startsAt": _time(told.onset_ns),
        "endsAt": _time(told.revised_ns) if resolved else _UNRESOLVED,
        "generatorURL": "",
        "fingerprint": fingerprint(identity),
    }
    body = {
        "version": "4",
        "groupKey": f'{{}}:{{alert_id="{told.alert_id}"}}',
        "truncatedAlerts": 0,
        "status": alert["status"],
        "receiver": receiver,
        "groupLabels": {"alert_id": told.alert_id},
        "commonLabels": alert["labels"],
        "commonAnnotations": alert["annotations"],
        "externalURL": "",
        "alerts": [alert],
    }
    return _fitting(body)


def fingerprint(labels: dict[str, str]) -> str:
    """Return Prometheus' fingerprint of a label set: FNV-1a, 16 hex digits."""
    digest = _FNV_OFFSET
    for name, value in sorted(labels.items()):
        for byte in (*name.encode(), 0xFF, *value.encode(), 0xFF):
            digest = (digest ^ byte) * _FNV_PRIME % (1 << 64)
    return f"{digest:016x}"


def _alert_data(alert: Alert) -> dict[str, Any]:
    return {
        "alert_id": alert.alert_id,
        "revision": alert.revision,
        "state": str(alert.state),
        "component": alert.component,
        "cause": str(alert.cause),
        "severity": str(alert.severity),
        "cell": alert.cell,
        "onset": _time(alert.onset_ns),
        "detected": _time(alert.detected_ns),
        "revised": _time(alert.revised_ns),
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


def _decision_data(event: DecisionEvent) -> dict[str, Any]:
    return {
        "decision_id": event.decision_id,
        "alert_id": event.alert_id,
        "sequence": event.sequence,
        "event": str(event.event),
        "at": _time(event.at_ns),
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


def _fitting(body: dict[str, Any]) -> bytes:
    data = b""
    for items, characters in _CUTS:
        data = json.dumps(
            _cut(body, items, characters),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        ).encode()
        if len(data) < LARGEST_BODY_BYTES:
            break
    return data


def _cut(value: Any, items: int, characters: int) -> Any:
    """Return the value with long texts cut on a character, long lists cut, no NaN."""
    if isinstance(value, str):
        whole = len(value) <= characters
        return str(value) if whole else value[: characters - 1] + "…"
    if isinstance(value, dict):
        return {key: _cut(inner, items, characters) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        # Alertmanager's one alert stays.
        return [_cut(inner, items, characters) for inner in value[: max(items, 1)]]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _time(time_ns: int) -> str:
    stamp = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp}.{time_ns % 1_000_000_000 // 1_000_000:03d}Z"
