"""Alerts and decisions as plain fields, for JSON and for pages."""

import dataclasses
import math
from datetime import UTC, datetime
from typing import Any

from actuators.records import DecisionEvent
from detectors.records import Alert


def iso(time_ns: int) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(time_ns / 1e9, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def alert_fields(alert: Alert) -> dict[str, Any]:
    fields: dict[str, Any] = _plain(dataclasses.asdict(alert))
    return fields


def event_fields(event: DecisionEvent) -> dict[str, Any]:
    fields: dict[str, Any] = _plain(dataclasses.asdict(event))
    return fields


def _plain(value: Any) -> Any:
    """Return the value as JSON knows it: what is not a number is null."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
