"""Alerts and decisions as the database holds them, for the command line, the console and the demo.

Every row keeps the message it came from, so what is read here is what was told on Kafka.
"""

import base64
from collections.abc import Sequence
from typing import Protocol

from actuators.records import DecisionEvent
from detectors.records import Alert, AlertState
from pipelines.messages.alerts import decode_alert
from pipelines.messages.decisions import decode_event

_ALERTS = """
SELECT base64Encode(argMax(message, revision)) AS newest
FROM alerts GROUP BY alert_id ORDER BY max(revised_at) DESC LIMIT {limit:UInt32}
"""
_ALERT = """
SELECT base64Encode(message) FROM alerts WHERE alert_id = {id:String} ORDER BY revision
"""
_DECISIONS = """
SELECT base64Encode(argMax(message, sequence)) AS newest
FROM decisions GROUP BY decision_id ORDER BY max(at) DESC LIMIT {limit:UInt32}
"""
_DECISION = """
SELECT base64Encode(message) FROM decisions WHERE decision_id = {id:String} ORDER BY sequence
"""


class Rows(Protocol):
    @property
    def result_rows(self) -> Sequence[Sequence[str]]: ...


class Database(Protocol):
    """The part of clickhouse-connect's client that reading needs."""

    def query(self, query: str, parameters: dict[str, object]) -> Rows: ...


class Facts:
    """Reads alerts and decisions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def alerts(self, *, limit: int = 100) -> list[Alert]:
        """Return the newest revision of each alert, the last revised first."""
        return [decode_alert(data) for data in self._messages(_ALERTS, limit=limit)]

    def open_alerts(self, *, limit: int = 1000) -> list[Alert]:
        return [a for a in self.alerts(limit=limit) if a.state is not AlertState.RESOLVED]

    def revisions(self, alert_id: str) -> list[Alert]:
        """Return every revision of an alert; empty when there is none of that id."""
        return [decode_alert(data) for data in self._messages(_ALERT, id=alert_id)]

    def decisions(self, *, limit: int = 100) -> list[DecisionEvent]:
        """Return the newest event of each decision, the newest first."""
        return [decode_event(data) for data in self._messages(_DECISIONS, limit=limit)]

    def events(self, decision_id: str) -> list[DecisionEvent]:
        """Return every event of a decision in order; empty when there is none of that id."""
        return [decode_event(data) for data in self._messages(_DECISION, id=decision_id)]

    def _messages(self, query: str, **parameters: object) -> list[bytes]:
        rows = self._database.query(query, parameters=parameters).result_rows
        return [base64.b64decode(row[0]) for row in rows]
