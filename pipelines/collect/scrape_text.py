"""One scrape's text as readings by device time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from cluster.frame import SeriesKey
from pipelines.collect.checked import BLANK, COLLISION, REPEATED, is_blank
from pipelines.collect.prometheus import BadLine, Line, TextParser
from pipelines.collect.scraped_names import ScrapedNames, Series
from pipelines.collect.shapes import Readings
from pipelines.collect.slots import Slots
from pipelines.collect.source import Reading
from pipelines.collect.text_layout import Numbers

ALIAS: Final = "alias"
# A device that stamps its samples 0 has no clock, and none was alive before 2001.
_EARLIEST_MS: Final = 1_000_000_000_000
# Later ones do not fit the nanoseconds of a column.
_LATEST_MS: Final = 9_000_000_000_000
# Below this none of DCGM's blanks lies.
_BLANKS_FROM: Final = 2_147_483_632.0
_LEAST_KEPT: Final = 1000

_Best = dict[tuple[int, SeriesKey], tuple[int, float]]


@dataclass(slots=True, kw_only=True)
class Scraped:
    """What one scrape said.

    Attributes
    ----------
    readings
        By device time in ns; our receive time where a sample has none.
    columns
        Further readings.
    lines
        Samples in the text, the bad ones left out.
    known
        How many of the readings the catalogue knows.
    refused
        Samples that do not enter, by reason.
    """

    readings: dict[int, list[Reading]] = field(default_factory=dict)
    columns: Readings | None = None
    lines: int = 0
    known: int = 0
    bad: list[BadLine] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


class ScrapeText:
    """Reads the scrapes of one target.

    Attributes
    ----------
    slots
        The series that columns' slots stand for.
    """

    def __init__(self, kind: str, owner: str) -> None:
        self.slots = Slots()
        self._blanks = kind == "dcgm"
        self._parser: TextParser[Series] = TextParser(ScrapedNames(kind, owner))
        self._prepared: _Prepared | None = None

    def read(self, text: str, received_ns: int) -> Scraped:
        """Read a scrape, line by line."""
        scraped = Scraped()
        best: _Best = {}
        for line in self._parser.parse(text):
            if isinstance(line, BadLine):
                scraped.bad.append(line)
                continue
            scraped.lines += 1
            self._count(scraped, line, self._add(line, received_ns, best))
        _settle(scraped, best)
        return scraped

    def read_columns(self, text: str, received_ns: int) -> Scraped:
        """Read a scrape, by column where it is like the last one; what is told is the same."""
        scrape = self._parser.columns(text)
        if scrape is None or (scrape.numbers.times_ms > _LATEST_MS).any():
            return self.read(text, received_ns)
        prepared = self._prepared_for(scrape.series)
        scraped = Scraped(lines=len(scrape.series), refused=prepared.refused.copy())
        self._take_plain(scraped, prepared, scrape.numbers, received_ns)
        best: _Best = {}
        for place in prepared.tangled:
            value, time_ms = scrape.numbers.of(place)
            line = Line(scrape.series[place], value, time_ms)
            self._count(scraped, line, self._add(line, received_ns, best))
        _settle(scraped, best)
        return scraped

    def _prepared_for(self, series: Sequence[Series]) -> "_Prepared":
        if self._prepared is None or self._prepared.series is not series:
            if len(self.slots) > 2 * len(series) + _LEAST_KEPT:
                self.slots = Slots()
            self._prepared = _Prepared(series, self.slots)
        return self._prepared

    def _take_plain(
        self, scraped: Scraped, prepared: "_Prepared", numbers: Numbers, received_ns: int
    ) -> None:
        """Take the series that have one sample each."""
        values, slots = numbers.values[prepared.plain], prepared.slots
        scaled = values * prepared.scale
        times = np.full(len(values), received_ns)
        if len(numbers.times_ms):
            own = numbers.times_ms[prepared.plain]
            times = np.where(own >= _EARLIEST_MS, own * 1_000_000, received_ns)
        scraped.known += prepared.known
        if self._blanks and (values >= _BLANKS_FROM).any():
            pairs = zip(values.tolist(), prepared.highest, strict=True)
            good = np.array([not is_blank(value, highest) for value, highest in pairs])
            scraped.refused[BLANK] += int(np.count_nonzero(~good))
            scraped.known -= int(np.count_nonzero(prepared.is_known[~good]))
            times, slots, scaled = times[good], slots[good], scaled[good]
        if not len(slots):
            return
        each, counts = np.unique(times, return_counts=True)
        if len(each) > 1:
            order = np.argsort(times, kind="stable")
            slots, scaled = slots[order], scaled[order]
        scraped.columns = Readings(each, counts, slots, scaled)

    def _count(self, scraped: Scraped, line: Line[Series], reason: str) -> None:
        if reason:
            scraped.refused[reason] += 1
        else:
            scraped.known += line.series.known

    def _add(
        self,
        line: Line[Series],
        received_ns: int,
        best: _Best,
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


class _Prepared:
    """What the samples of one layout mean, by column.

    Attributes
    ----------
    plain
        Samples that no other sample shares its series with.
    tangled
        Those of which only one can hold.
    refused
        Samples that never enter, by reason.
    """

    def __init__(self, series: Sequence[Series], slots: Slots) -> None:
        self.series = series
        of_key = Counter(one.key for one in series)
        keyed = [(i, one) for i, one in enumerate(series) if one.key is not None]
        plain = [(i, one, one.key) for i, one in keyed if one.key and of_key[one.key] == 1]
        self.refused = Counter(one.dropped for one in series if one.key is None)
        self.tangled = [i for i, one in keyed if of_key[one.key] > 1]
        self.plain = np.array([i for i, _, _ in plain], np.intp)
        self.slots = np.array([slots.of(key) for _, _, key in plain], np.int64)
        self.scale = np.array([one.scale for _, one, _ in plain], np.float64)
        self.highest = [one.highest for _, one, _ in plain]
        self.is_known = np.array([one.known for _, one, _ in plain], np.bool_)
        self.known = int(self.is_known.sum())


def _settle(scraped: Scraped, best: _Best) -> None:
    for (time_ns, key), (_, value) in best.items():
        scraped.readings.setdefault(time_ns, []).append((key, value))
