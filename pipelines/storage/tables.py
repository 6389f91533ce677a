"""The tables of facts: their columns in the order of a row, and what identifies one."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTable:
    """A table with one row per fact.

    Attributes
    ----------
    key
        Columns that identify a fact; the first is one that many rows are looked up by at once.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def key_of(self, row: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(row[self.columns.index(name)] for name in self.key)


def _table(name: str, columns: str, key: str) -> FactTable:
    return FactTable(name=name, columns=(*columns.split(), "stored"), key=tuple(key.split()))


JOBS: Final = _table(
    "jobs",
    "job_id cell event at kind priority gpus nics collectives period_seconds message",
    "job_id at event",
)
DETECTIONS: Final = _table(
    "detections",
    "detection_id cell component metric attributes detector scope onset detected shift_sigmas "
    "before after",
    "detection_id",
)
ALERTS: Final = _table(
    "alerts",
    "alert_id revision cell component cause state severity onset detected revised_at confidence "
    "affected evidence ruled_out summary message",
    "alert_id revision",
)
DECISIONS: Final = _table(
    "decisions",
    "decision_id sequence event_hash previous_hash alert_id cell component cause at event "
    "reason_code reason mode actor action_id constraints_checked rejected_alternatives "
    "evidence_ids config_hash message",
    "decision_id sequence event_hash",
)
ACTIONS: Final = _table(
    "actions",
    "action_id decision_id sequence event_hash alert_id cell at event kind target parameter "
    "from_value to_value changes expected_gain_ratio expected_cost_seconds driver",
    "decision_id sequence event_hash",
)
EFFECTS: Final = _table(
    "effects",
    "decision_id sequence event_hash action_id alert_id cell at event component metric better "
    "healthy before after gain_low_ratio gain_high_ratio samples verdict",
    "decision_id sequence event_hash",
)
APPROVALS: Final = _table("approvals", "request_id decision_id cell verb who why at", "request_id")
DELIVERIES: Final = _table(
    "deliveries",
    "delivery_id attempt endpoint event_type subject_id cell at state status detail "
    "duration_seconds",
    "delivery_id attempt state",
)
DEAD_LETTERS: Final = _table(
    "dead_letters",
    "letter_id reason detail source cell topic partition offset at samples payload",
    "letter_id",
)
FACT_TABLES: Final = (
    JOBS,
    DETECTIONS,
    ALERTS,
    DECISIONS,
    ACTIONS,
    EFFECTS,
    APPROVALS,
    DELIVERIES,
    DEAD_LETTERS,
)
