"""Recorded tables (CSV): router counters, and GPU, InfiniBand and BMC readings of training runs."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TextIO

from cluster import catalogue, component
from cluster.frame import SeriesKey, format_attributes
from pipelines.collect.checked import NOT_NUMERIC
from pipelines.replay.batch import Batch

_NUMBERED: Final = re.compile(r"(?:ib|gpu)(\d+)_(\w+)")


class _Column(NamedTuple):
    """Where a column's value goes, given the row's own words."""

    place: int
    key: SeriesKey
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """How a kind of table is read.

    Attributes
    ----------
    time, words
        Column of the device time (unix seconds), and columns that are no readings.
    identity
        The column whose word tells whose readings a row has, or empty.
    """

    kind: str
    time: str
    words: frozenset[str]
    identity: str = ""
    key: Callable[[str, str, str], SeriesKey]


def _router_key(device: str, word: str, column: str) -> SeriesKey:
    return SeriesKey(component.port(device, word), column)


def _router_card_key(device: str, word: str, column: str) -> SeriesKey:
    return SeriesKey(f"switch/{device}", column, format_attributes({"node": word}))


def _gpu_key(host: str, word: str, column: str) -> SeriesKey:
    return SeriesKey(component.gpu(host, word), column)


def _host_key(host: str, _: str, column: str) -> SeriesKey:
    """Return NIC for ``ib3_...``, GPU for ``gpu3_...``, else the host itself."""
    numbered = _NUMBERED.fullmatch(column)
    if numbered is None:
        return SeriesKey(f"host/{host}", column)
    number, name = numbered.groups()
    if column.startswith("ib"):
        return SeriesKey(component.nic(host, f"ib{number}"), name)
    return SeriesKey(component.gpu(host, number), name)


_TABLES: Final = (
    _Table(kind="cisco_mdt", time="ts", words=frozenset({"interface"}), identity="interface",
           key=_router_key),
    _Table(kind="cisco_mdt", time="ts", words=frozenset({"node"}), identity="node",
           key=_router_card_key),
    _Table(kind="gpu_csv", time="timestamp", words=frozenset({"phase", "gpu"}), identity="gpu",
           key=_gpu_key),
    _Table(kind="ib_csv", time="timestamp", words=frozenset({"phase"}), key=_host_key),
)  # fmt: skip


def table_of(header: Sequence[str]) -> _Table | None:
    """Return how a table with this header is read; None: not known."""
    columns = set(header)
    for table in _TABLES:
        if table.time in columns and table.words <= columns:
            return table
    return None


def table_source(path: Path, table: _Table) -> str:
    """Return who delivered a file: ``switch/leaf1``, or ``host/t13-node0`` of a run's node."""
    stem = path.name.partition(".")[0]
    if table.kind == "cisco_mdt":
        return f"switch/{stem}"
    run, _, rest = stem.partition("_")
    node = rest.partition("_")[0] if rest.startswith("node") else "node0"
    return f"host/{run}-{node}"


def read_table(lines: TextIO, table: _Table, source: str, group: str) -> Iterator[Batch]:
    """Yield a batch a row, in the order of the file."""
    rows = csv.reader(lines)
    header = next(rows)
    reader = _Rows(table, header, component.name_of(source))
    for row in rows:
        batch = Batch(source=source, group=group, time_ns=0)
        reader.read(row, batch)
        yield batch


class _Rows:
    def __init__(self, table: _Table, header: list[str], owner: str) -> None:
        self._table = table
        self._owner = owner
        self._header = header
        self._time = header.index(table.time)
        self._identity = header.index(table.identity) if table.identity else -1
        self._columns: dict[str, list[_Column]] = {}

    def read(self, row: list[str], batch: Batch) -> None:
        readings = len(self._header) - 1 - len(self._table.words)
        if len(row) != len(self._header):
            batch.refuse("bad_row", ",".join(row), readings)
            return
        try:
            batch.time_ns = _nanoseconds(row[self._time])
        except ValueError:
            batch.refuse("bad_time", ",".join(row), readings)
            return
        word = row[self._identity] if self._identity >= 0 else ""
        columns = self._columns.get(word)
        if columns is None:
            columns = self._columns[word] = list(self._understood(word))
        for place, key, scale in columns:
            text = row[place]
            if not text:
                continue
            try:
                batch.readings.append((key, float(text) * scale))
            except ValueError:
                batch.refuse(NOT_NUMERIC, f"{self._header[place]}={text}")

    def _understood(self, word: str) -> Iterator[_Column]:
        table = self._table
        for place, name in enumerate(self._header):
            if name == table.time or name in table.words:
                continue
            key = table.key(self._owner, word, name)
            known = catalogue.by_source(table.kind).get(key.metric)
            known = known or catalogue.by_source("bmc_csv").get(key.metric)
            if known is None:
                yield _Column(place, key, 1.0)
            else:
                yield _Column(place, key._replace(metric=known.metric.name), known.scale)


def _nanoseconds(seconds: str) -> int:
    """Return unix seconds with a decimal fraction as ns, exactly."""
    whole, _, fraction = seconds.partition(".")
    return int(whole) * 1_000_000_000 + int(fraction[:9].ljust(9, "0") or 0)
