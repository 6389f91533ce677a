"""Bodies of Slack's incoming webhooks and of PagerDuty's Events API, version 2."""

import hashlib
import json
from typing import Any, Final

from actuators.records import DecisionEvent
from detectors.records import Alert, Severity
from pipelines.notify.fields import alert_fields, cut_text, evidence_text, fitting, time_text
from pipelines.notify.notices import Bundle, Message, Notice

# Slack: 150 characters a header, 3000 a section, 50 blocks; escaping makes texts longer.
_HEADER_CHARACTERS: Final = 140
_SECTION_CHARACTERS: Final = 2800
_LINES: Final = 40
_MARKS: Final = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}

# PagerDuty: 1024 characters a summary, 255 a key.
_SUMMARY_CHARACTERS: Final = 1024
_KEY_CHARACTERS: Final = 255


def slack_body(message: Message) -> bytes:
    """Return text for notifications and blocks for reading; 40 lines of a long bundle."""
    if isinstance(message, Bundle):
        title, lines = _bundle_title(message), [_line(n) for n in message.notices[:_LINES]]
        if len(message.notices) > _LINES:
            lines.append(f"and {len(message.notices) - _LINES} more")
    else:
        title, lines = _title(message), _lines(message)
    blocks = [{"type": "header", "text": _plain(cut_text(title, _HEADER_CHARACTERS))}]
    blocks += [{"type": "section", "text": _marked(text)} for text in _sections(lines)]
    body = {"text": cut_text(_escaped(title), 300), "blocks": blocks}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def pagerduty_body(message: Message, *, routing_key: str) -> bytes:
    """Return an event; trigger and resolve of an alert have one key, whatever else changes."""
    if isinstance(message, Bundle) or not isinstance(message.told, Alert):
        raise TypeError("PagerDuty is told of one alert at a time")
    alert = message.told
    return fitting(
        {
            "routing_key": routing_key,
            "event_action": "trigger" if message.is_firing else "resolve",
            "dedup_key": _key(alert.alert_id),
            "client": "trimtab",
            "payload": {
                "summary": cut_text(
                    f"{alert.component}: {alert.cause}: {alert.summary}", _SUMMARY_CHARACTERS
                ),
                "source": cut_text(alert.component, _KEY_CHARACTERS),
                "severity": str(alert.severity),
                "timestamp": time_text(alert.onset_ns),
                "component": alert.component,
                "group": alert.cell,
                "class": str(alert.cause),
                "custom_details": alert_fields(alert),
            },
        }
    )


def _key(alert_id: str) -> str:
    key = f"trimtab/{alert_id}"
    if len(key) <= _KEY_CHARACTERS:
        return key
    return f"trimtab/{hashlib.sha256(alert_id.encode()).hexdigest()}"


def _title(notice: Notice) -> str:
    told = notice.told
    if isinstance(told, Alert):
        mark = _MARKS[told.severity] if notice.is_firing else "✅"
        again = " (still)" if notice.repeat else ""
        return f"{mark} {told.component}: {told.cause} {told.state}{again}"
    return f"⚙️ {told.component}: {notice.event_type}"


def _bundle_title(bundle: Bundle) -> str:
    firing = sum(notice.is_firing for notice in bundle.notices)
    past = len(bundle.notices) - firing
    what = "while this endpoint did not answer" if bundle.kind == "digest" else bundle.key
    return f"{firing} degraded now, {past} others: {what}"


def _line(notice: Notice) -> str:
    told = notice.told
    text = told.summary if isinstance(told, Alert) else told.reason
    return f"*{_escaped(_title(notice))}* {_escaped(cut_text(text, 120))}"


def _lines(notice: Notice) -> list[str]:
    told = notice.told
    if isinstance(told, DecisionEvent):
        return [_escaped(cut_text(told.reason, 1000)), *_action_lines(told)]
    told_lines = [_escaped(cut_text(told.summary, 1000))]
    told_lines.append(f"since {time_text(told.onset_ns)}, {told.confidence:.0%} confident")
    if told.affected:
        told_lines.append(f"suffering: {_escaped(', '.join(told.affected[:10]))}")
    told_lines.append(f"evidence: {_escaped(cut_text(evidence_text(told), 600))}")
    told_lines.append(f"`{_escaped(told.alert_id)}`")
    return told_lines


def _action_lines(event: DecisionEvent) -> list[str]:
    lines = []
    if event.action is not None:
        a = event.action
        change = f"{a.kind} {a.target} {a.parameter}: {a.from_value} → {a.to_value}"
        lines.append(_escaped(cut_text(change, 500)))
    lines.append(f"`trimtab explain {_escaped(event.decision_id)}`")
    return lines


def _sections(lines: list[str]) -> list[str]:
    """Return the lines in texts that are short enough each."""
    texts = [""]
    for line in lines:
        if len(texts[-1]) + len(line) + 1 > _SECTION_CHARACTERS:
            texts.append("")
        texts[-1] += ("\n" if texts[-1] else "") + cut_text(line, _SECTION_CHARACTERS)
    return [text for text in texts if text]


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": True}


def _marked(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
