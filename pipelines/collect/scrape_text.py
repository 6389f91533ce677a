"""One scrape's text as readings by device time."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from cluster.frame import SeriesKey
from pipelines.collect.checked import BLANK, COLLISION, REPEATED, is_blank
from pipelines.collect.prometheus import BadLine, Line, TextParser
from pipelines.collect.scraped_names import ScrapedNames, Series
from pipelines.collect.source import Reading

ALIAS: Final = "alias"
# A device that stamps its samples 0 has no clock, and none was alive before 2001.
_EARLIEST_MS: Final = 1_000_000_000_000


@dataclass(slots=True, kw_only=True)
class Scraped:
    """What one scrape said.

    Attributes
    ----------
    readings
        By device time in ns; our receive time where a sample has none.
    lines
        Samples in the text, the bad ones left out.
    known
        How many of the readings the catalogue knows.
    refused
        Samples that do not enter, by reason.
    """

    readings: dict[int, list[Reading]] = field(default_factory=dict)
    lines: int = 0
    known: int = 0
    bad: list[BadLine] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


class ScrapeText:
    """Reads the scrapes of one target."""

    def __init__(self, kind: str, owner: str) -> None:
        self._blanks = kind == "dcgm"
        self._parser: TextParser[Series] = TextParser(ScrapedNames(kind, owner))

    def read(self, text: str, received_ns: int) -> Scraped:
        scraped = Scraped()
        best: dict[tuple[int, SeriesKey], tuple[int, float]] = {}
        for line in self._parser.parse(text):
            if isinstance(line, BadLine):
                scraped.bad.append(line)
                continue
            scraped.lines += 1
            reason = self._add(line, received_ns, best)
            if reason:
                scraped.refused[reason] += 1
            else:
                scraped.known += line.series.known
        for (time_ns, key), (_, value) in best.items():
            scraped.readings.setdefault(time_ns, []).append((key, value))
        return scraped

    def _add(
        self,
        line: Line[Series],
        received_ns: int,
        best: dict[tuple[int, SeriesKey], tuple[int, float]],
    ) -> str:
        """Take a sample; return why it, or the one that it replaces, is refused."""
        series, value, time_ms = line
        if series.key is None:
            return series.dropped
        if self._blanks and is_blank(value, series.highest):
            return BLANK
        time_ns = time_ms * 1_000_000 if time_ms >= _EARLIEST_MS else received_ns
        place = (time_ns, series.key)
        other = best.get(place)
        if other is None or series.rank < other[0]:
            best[place] = (series.rank, value * series.scale)
        if other is None:
            return ""
        if series.rank != other[0]:
            return ALIAS
        return REPEATED if value * series.scale == other[1] else COLLISION
