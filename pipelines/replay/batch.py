"""What a reader of recorded telemetry yields."""

from collections import Counter
from dataclasses import dataclass, field

from cluster.frame import SeriesKey
from pipelines.collect.source import Reading


@dataclass(slots=True, kw_only=True)
class Batch:
    """Readings of one source and device time, as live collection would have had them.

    Attributes
    ----------
    time_ns
        Device time; 0 where the recording has none.
    ended
        Series that the device deleted; they end before the readings are taken.
    refused
        Samples that are no readings, by reason.
    examples
        One refused sample by reason, as it was written.
    """

    source: str
    group: str
    time_ns: int
    readings: list[Reading] = field(default_factory=list)
    ended: list[SeriesKey] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def refuse(self, reason: str, example: str, count: int = 1) -> None:
        self.refused[reason] += count
        self.examples.setdefault(reason, example)
