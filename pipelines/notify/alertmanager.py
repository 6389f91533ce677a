"""Bodies for Alertmanager's receivers (webhook, version 4) and for Alertmanager itself."""

import json
from typing import Any, Final

from cluster.component import kind_of
from detectors.records import Alert, AlertState
from pipelines.notify.fields import cut_text, evidence_text, fitting, time_text
from pipelines.notify.notices import Bundle, Message, members

_UNRESOLVED: Final = "0001-01-01T00:00:00Z"
_FNV_OFFSET: Final = 14_695_981_039_346_656_037
_FNV_PRIME: Final = 1_099_511_628_211
# Alerts in one message; Alertmanager's own receivers are told how many were left out.
_MOST_ALERTS: Final = 50
_LARGEST_BODY_BYTES: Final = 256_000
_LAYERS: Final = {
    "switch": "network",
    "port": "network",
    "link": "network",
    "nic": "nic",
    "gpu": "gpu",
    "engine": "engine",
    "pool": "engine",
    "service": "engine",
}


def alertmanager_body(message: Message, *, receiver: str) -> bytes:
    """Return alerts in the form of Alertmanager's webhook, one alert in its own group.

    Labels that identify never change over an alert's life, so firing and resolved meet.
    """
    alerts = _alerts(message)
    told = [_webhook_alert(alert) for alert in alerts[:_MOST_ALERTS]]
    group = {} if isinstance(message, Bundle) else {"alert_id": alerts[0].alert_id}
    key = message.key if isinstance(message, Bundle) else f'alert_id="{alerts[0].alert_id}"'
    firing = any(alert["status"] == "firing" for alert in told)
    body = {
        "version": "4",
        "groupKey": f"{{}}:{{{key}}}",
        "truncatedAlerts": len(alerts) - len(told),
        "status": "firing" if firing else "resolved",
        "receiver": receiver,
        "groupLabels": group,
        "commonLabels": _common([alert["labels"] for alert in told]),
        "commonAnnotations": _common([alert["annotations"] for alert in told]),
        "externalURL": "",
        "alerts": told,
    }
    return fitting(body, largest_bytes=_LARGEST_BODY_BYTES)


def pushed_body(message: Message, *, lasts_seconds: float) -> bytes:
    """Return alerts for ``POST /api/v2/alerts``.

    A firing alert ends by itself ``lasts_seconds`` after it was told, should nobody tell it again.
    Its labels are its identity there, so the severity, which may change, is an annotation.
    """
    told = []
    for alert, at_ns in _timed(message):
        ends_ns = at_ns if alert.state is AlertState.RESOLVED else at_ns + int(lasts_seconds * 1e9)
        told.append(
            {
                "labels": identity(alert),
                "annotations": _annotations(alert) | {"severity": str(alert.severity)},
                "startsAt": time_text(alert.onset_ns),
                "endsAt": time_text(ends_ns),
            }
        )
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def identity(alert: Alert) -> dict[str, str]:
    """Return the labels of an alert that are the same in all its revisions."""
    kind = kind_of(alert.component)
    return {
        "alertname": str(alert.cause),
        "alert_id": alert.alert_id,
        "entity": alert.component,
        "entity_kind": kind,
        "layer": _LAYERS.get(kind, kind),
        "cause": str(alert.cause),
        "cell": alert.cell,
    }


def fingerprint(labels: dict[str, str]) -> str:
    """Return Prometheus' fingerprint of a label set: FNV-1a, 16 hex digits."""
    digest = _FNV_OFFSET
    for name, value in sorted(labels.items()):
        for byte in (*name.encode(), 0xFF, *value.encode(), 0xFF):
            digest = (digest ^ byte) * _FNV_PRIME % (1 << 64)
    return f"{digest:016x}"


def _alerts(message: Message) -> list[Alert]:
    return [alert for alert, _ in _timed(message)]


def _timed(message: Message) -> list[tuple[Alert, int]]:
    """Return the alerts, each with the time it is told of."""
    alerts = [(n.told, n.at_ns) for n in members(message) if isinstance(n.told, Alert)]
    if not alerts:
        raise TypeError("only alerts have an Alertmanager body")
    return alerts


def _webhook_alert(alert: Alert) -> dict[str, Any]:
    labels = identity(alert)
    resolved = alert.state is AlertState.RESOLVED
    return {
        "status": "resolved" if resolved else "firing",
        "labels": labels | {"severity": str(alert.severity)},
        "annotations": _annotations(alert),
        "startsAt": time_text(alert.onset_ns),
        "endsAt": time_text(alert.revised_ns) if resolved else _UNRESOLVED,
        "generatorURL": "",
        "fingerprint": fingerprint(labels),
    }


def _annotations(alert: Alert) -> dict[str, str]:
    return {
        "summary": cut_text(alert.summary, 1000),
        "affected": ", ".join(alert.affected[:20]),
        "evidence": evidence_text(alert),
        "confidence": f"{alert.confidence:.2f}",
    }


def _common(maps: list[dict[str, str]]) -> dict[str, str]:
    return {k: v for k, v in maps[0].items() if all(other.get(k) == v for other in maps)}
