"""Labelled series: a table of one's own (CSV, Parquet), or one of the named sets."""

import csv
import gzip
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.errors import ConfigError
from pipelines.evaluate.metrics import Span, spans

_VALUE = ("value", "values")
_LABEL = ("label", "anomaly", "is_anomaly")
_CHANGE = ("changepoint", "change")
_TRUE = {"1", "1.0", "true", "yes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One series in time order, and what is known to have happened in it.

    Attributes
    ----------
    events
        Spans of samples, ends excluded.
    annotations
        First samples of new segments, by who says so.
    """

    name: str
    values: tuple[float, ...]
    events: tuple[Span, ...] = ()
    annotations: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def read_set(name: str, folder: Path) -> list[Recording]:
    """Return a named set's series.

    Raises
    ------
    ConfigError
        The folder does not hold it.
    """
    found = list(SETS[name](folder))
    if not found:
        raise ConfigError(f"{folder} holds no series of {name}")
    return found


def read_own(path: Path) -> list[Recording]:
    """Return the series of a CSV or Parquet file: columns ``value`` and ``label``, or ``change``.

    Raises
    ------
    ConfigError
        It cannot be read as such a table.
    """
    rows = _parquet_rows(path) if path.suffix == ".parquet" else _csv_rows(path)
    if not rows:
        raise ConfigError(f"{path} has no rows")
    columns = {name.strip().lower(): name for name in rows[0]}
    value = _first(columns, _VALUE)
    label, change = _first(columns, _LABEL), _first(columns, _CHANGE)
    if value is None or (label is None and change is None):
        wanted = "a column 'value' and one of 'label' or 'change'"
        raise ConfigError(f"{path} has columns {', '.join(rows[0])}; wanted is {wanted}")
    marks = [i for i, row in enumerate(rows) if change is not None and _is_true(row[change])]
    return [
        Recording(
            name=path.name,
            values=tuple(_number(row[value], path, i) for i, row in enumerate(rows)),
            events=_events(rows, label),
            annotations={"labels": tuple(marks)} if change is not None else {},
        )
    ]


def _events(rows: list[dict[str, Any]], label: str | None) -> tuple[Span, ...]:
    return () if label is None else tuple(spans([_is_true(row[label]) for row in rows]))


def _cloud_monitoring(folder: Path) -> Iterator[Recording]:
    for path in sorted(folder.glob("*/*.csv.gz")):
        rows = _csv_rows(path)
        yield Recording(
            name=path.name.removesuffix(".csv.gz"),
            values=tuple(_number(row["Value"], path, i) for i, row in enumerate(rows)),
            events=_events(rows, "Label"),
        )


def _nab(folder: Path) -> Iterator[Recording]:
    labels = folder / "labels" / "combined_windows.json"
    windows = json.loads(labels.read_text()) if labels.exists() else {}
    for name in sorted(windows):
        if not (folder / name).exists():
            continue
        rows = _csv_rows(folder / name)
        times = [row["timestamp"] for row in rows]
        inside = [
            [i for i, at in enumerate(times) if begin[:19] <= at <= end[:19]]
            for begin, end in windows[name]
        ]
        yield Recording(
            name=name,
            values=tuple(float(row["value"]) for row in rows),
            events=tuple((each[0], each[-1] + 1) for each in inside if each),
        )


def _tcpd(folder: Path) -> Iterator[Recording]:
    path = folder / "annotations.json"
    annotations = json.loads(path.read_text()) if path.exists() else {}
    for name in sorted(annotations):
        if not (folder / f"{name}.json").exists():
            continue
        series = json.loads((folder / f"{name}.json").read_text())["series"]
        yield Recording(
            name=name,
            values=tuple(math.nan if v is None else float(v) for v in series[0]["raw"]),
            annotations={who: tuple(places) for who, places in annotations[name].items()},
        )


SETS: Mapping[str, Callable[[Path], Iterable[Recording]]] = {
    "ms-cloud-monitoring": _cloud_monitoring,
    "nab": _nab,
    "tcpd": _tcpd,
}


def _csv_rows(path: Path) -> list[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{path} cannot be read as CSV: {error}") from None


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigError("Parquet needs pyarrow: pip install 'trimtab[embedded]'") from None
    try:
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except (ArrowException, OSError) as error:
        raise ConfigError(f"{path} cannot be read as Parquet: {error}") from None
    return rows


def _first(columns: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((columns[name] for name in names if name in columns), None)


def _is_true(cell: object) -> bool:
    return str(cell).strip().lower() in _TRUE


def _number(cell: object, path: Path, row: int) -> float:
    text = "" if cell is None else str(cell).strip()
    try:
        return float(text) if text else math.nan
    except ValueError:
        raise ConfigError(f"{path} row {row + 1}: {text!r} is no number") from None
