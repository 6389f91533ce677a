"""What the database has of a replay."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from detectors.score import Told, told_by_alerts
from pipelines.messages.alerts import decode_alert
from pipelines.replay.report import FileReport, ReplayReport

_LEDGER: Final = """
SELECT collector, sum(samples) FROM frames
WHERE collector IN {collectors:Array(String)} GROUP BY collector
"""
_LETTERS: Final = """
SELECT DISTINCT letter_id FROM dead_letters WHERE letter_id IN {ids:Array(String)}
"""
_SAMPLES: Final = "SELECT count() FROM samples"
_ALERTS: Final = """
SELECT base64Encode(argMin(message, revision)) FROM alerts
WHERE cell = {cell:String} GROUP BY alert_id
"""
_DETECTIONS: Final = """
SELECT any(component), toUnixTimestamp64Nano(any(onset)), toUnixTimestamp64Nano(any(detected))
FROM detections WHERE cell = {cell:String} GROUP BY detection_id
"""


class Rows(Protocol):
    @property
    def result_rows(self) -> Sequence[Sequence[Any]]: ...


class Database(Protocol):
    """The part of clickhouse-connect's client that is needed here."""

    def query(self, query: str, parameters: dict[str, object]) -> Rows: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Rows and dead letters of one replay.

    Attributes
    ----------
    rows
        By collector of a file, out of the recorder's ledger of frames.
    letters
        Ids of the replay's dead letters that are in the database.
    """

    rows: dict[str, int]
    letters: frozenset[str]

    def rows_of(self, file: FileReport) -> int:
        return self.rows.get(file.collector, 0)

    def letters_of(self, file: FileReport) -> int:
        return len(self.letters.intersection(file.letter_ids))

    def is_whole(self, file: FileReport) -> bool:
        """Tell whether each sample of a file is one row, and each refusal a dead letter."""
        return self.rows_of(file) == file.samples and self.letters_of(file) == len(file.letter_ids)


def recorded(database: Database, report: ReplayReport) -> Recorded:
    """Read what was recorded of a replay.

    Raises
    ------
    clickhouse_connect.driver.exceptions.Error
        The database does not answer.
    """
    collectors = [file.collector for file in report.files]
    ids = [letter for file in report.files for letter in file.letter_ids]
    ledger = database.query(_LEDGER, parameters={"collectors": collectors}).result_rows
    letters = database.query(_LETTERS, parameters={"ids": ids}).result_rows
    return Recorded(
        rows={str(collector): int(samples) for collector, samples in ledger},
        letters=frozenset(str(row[0]) for row in letters),
    )


def count_samples(database: Database) -> int:
    """Return how many rows the samples have, whoever they are of."""
    return int(database.query(_SAMPLES, parameters={}).result_rows[0][0])


def told_alerts(database: Database, cell: str) -> list[Told]:
    """Return the alerts that were opened in a cell."""
    rows = database.query(_ALERTS, parameters={"cell": cell}).result_rows
    return told_by_alerts(decode_alert(base64.b64decode(row[0])) for row in rows)


def told_detections(database: Database, cell: str) -> list[Told]:
    """Return the detections of a cell."""
    rows = database.query(_DETECTIONS, parameters={"cell": cell}).result_rows
    return [Told(component=c, onset_ns=onset, detected_ns=at) for c, onset, at in rows]
