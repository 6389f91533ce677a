"""Prometheus' text form, line by line: a bad line costs itself and not the scrape.

Everything before the value is the key of a series: it is understood once, then looked up. A scrape
with the lines of the last one is read by column: only its values are looked at.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from pipelines.collect.text_layout import Numbers, Sample, TextLayout
from pipelines.errors import DecodeError

_NAME: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL: Final = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|$)')
_ESCAPE: Final = re.compile(r'\\([\\"n])')
_PLAIN: Final = {"\\": "\\", '"': '"', "n": "\n"}
_LEAST_KEPT: Final = 1000

T = TypeVar("T")


class Labelled(NamedTuple):
    """A series as the source names it."""

    name: str
    labels: dict[str, str]


class Line(NamedTuple, Generic[T]):
    """A sample: what its key means, its value, and its time; 0 where it has none."""

    series: T
    value: float
    time_ms: int


class BadLine(NamedTuple):
    line: str
    why: str


class Scrape(NamedTuple, Generic[T]):
    """A scrape by column.

    Attributes
    ----------
    series
        Of each sample; the same object as long as scrapes are like each other.
    """

    series: Sequence[T]
    numbers: Numbers


class TextParser(Generic[T]):
    """Parses the scrapes of one target.

    ``meaning`` turns a series' name and labels into what the caller wants for it, once per key.
    What a scrape does not name any more is forgotten after a while.
    """

    def __init__(self, meaning: Callable[[Labelled], T]) -> None:
        self._meaning = meaning
        self._known: dict[str, T] = {}
        self._last: tuple[TextLayout, Sequence[T]] | None = None

    def columns(self, text: str) -> Scrape[T] | None:
        """Return a scrape whose lines are those of the last that was parsed; None for another."""
        if self._last is None:
            return None
        layout, series = self._last
        numbers = layout.read(text.split("\n"))
        return None if numbers is None else Scrape(series, numbers)

    def parse(self, text: str) -> Iterator[Line[T] | BadLine]:
        """Yield samples and bad lines in the order of the text."""
        seen: set[str] = set()
        samples: list[Sample] = []
        every: list[T] = []
        lines = text.split("\n")
        self._last = None
        is_good = True
        for place, raw in enumerate(lines):
            line = raw.strip()
            if not line or line[0] == "#":
                continue
            try:
                key, value, time_ms, has_time = _cut(line)
                series = self._known.get(key)
                if series is None:
                    series = self._known[key] = self._meaning(parse_key(key))
            except ValueError as error:
                is_good = False
                yield BadLine(line, str(error))
                continue
            seen.add(key)
            samples.append(Sample(place, _start(raw, key), has_time))
            every.append(series)
            yield Line(series, value, time_ms)
        if len(self._known) > 2 * len(seen) + _LEAST_KEPT:
            self._known = {key: series for key, series in self._known.items() if key in seen}
        if is_good:
            self._last = TextLayout(lines, samples), every


def _start(raw: str, key: str) -> int:
    """Return where what follows the key begins; a name without labels needs its space."""
    end = raw.index(key) + len(key)
    return end if key.endswith("}") else end + 1


def _cut(line: str) -> tuple[str, float, int, bool]:
    """Return everything before the value, the value, the time in ms, and whether there is one.

    Raises
    ------
    ValueError
        The value or time is not a number, or there is more on the line.
    """
    end = line.rfind("}") + 1
    if end:
        key, rest = line[:end], line[end:].split()
    else:
        key, *rest = line.split()
        if "{" in key:
            raise ValueError("labels are not closed")
    if not 1 <= len(rest) <= 2:  # noqa: PLR2004 - a value, and perhaps a time
        raise ValueError(f"{len(rest)} words after the series, not a value and perhaps a time")
    if "_" in rest[0]:  # Python's own digit separator
        raise ValueError(f"value is {rest[0]!r}")
    has_time = len(rest) > 1
    return key, float(rest[0]), int(rest[1]) if has_time else 0, has_time


def parse_key(key: str) -> Labelled:
    """Return name and labels of ``name{label="value",...}``.

    Raises
    ------
    DecodeError
        (``bad_line``) It is not of that form, or a label comes twice.
    """
    name, brace, rest = key.partition("{")
    name = name.strip()
    if not _NAME.fullmatch(name):
        raise DecodeError("bad_line", f"{name!r} is no metric name")
    labels: dict[str, str] = {}
    body = rest[:-1].strip() if brace else ""
    place = 0
    while place < len(body):
        match = _LABEL.match(body, place)
        if match is None:
            raise DecodeError("bad_line", f"not a label: {body[place : place + 40]!r}")
        label, value = match[1], match[2]
        if label in labels:
            raise DecodeError("bad_line", f"label {label!r} comes twice")
        if "\\" in value:
            value = _ESCAPE.sub(lambda found: _PLAIN[found[1]], value)
        labels[label] = value
        place = match.end()
    return Labelled(name, labels)
