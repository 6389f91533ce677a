"""Bodies of Standard Webhooks and CloudEvents."""

from typing import Any, Final
from urllib.parse import quote

from detectors.records import Alert
from pipelines.notify.fields import alert_fields, decision_fields, fitting, time_text
from pipelines.notify.notices import Bundle, Message, Notice

# What CloudEvents leaves as it is in a header's value: printable ASCII but space, '"' and '%'.
_PLAIN: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')


def standard_body(message: Message, *, endpoint: str = "") -> bytes:
    """Return the body, the same at every attempt: it is signed byte by byte."""
    return fitting(
        {
            "type": message.event_type,
            "timestamp": time_text(message.at_ns),
            "data": _data(message, endpoint),
        }
    )


def cloudevent(message: Message, *, endpoint: str) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of binary mode; (source, id) is the same at every attempt."""
    attributes = {
        "specversion": "1.0",
        "id": message.webhook_id(endpoint),
        "source": f"trimtab/{message.cell}",
        "type": f"trimtab.{message.event_type}",
        "time": time_text(message.at_ns),
        "subject": message.subject_id if isinstance(message, Bundle) else message.told.component,
    }
    headers = {f"ce-{name}": quote(value, safe=_PLAIN) for name, value in attributes.items()}
    return fitting(_data(message, endpoint)), headers


def _data(message: Message, endpoint: str) -> dict[str, Any]:
    if isinstance(message, Bundle):
        return {
            "count": len(message.notices),
            "firing": sum(notice.is_firing for notice in message.notices),
            "notices": [_brief(notice, endpoint) for notice in message.notices],
        }
    told = message.told
    fields = alert_fields(told) if isinstance(told, Alert) else decision_fields(told)
    return fields | ({"repeat": message.repeat} if message.repeat else {})


def _brief(notice: Notice, endpoint: str) -> dict[str, Any]:
    """Return one of many; ``id`` is what it would have had by itself."""
    told = notice.told
    brief = {
        "id": notice.webhook_id(endpoint),
        "type": notice.event_type,
        "timestamp": time_text(notice.at_ns),
        "component": told.component,
        "cause": str(told.cause),
    }
    if isinstance(told, Alert):
        return brief | {
            "alert_id": told.alert_id,
            "state": str(told.state),
            "severity": str(told.severity),
            "onset": time_text(told.onset_ns),
            "summary": told.summary,
        }
    return brief | {"decision_id": told.decision_id, "reason": told.reason}
