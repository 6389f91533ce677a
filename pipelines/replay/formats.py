"""Which reader a recorded file needs: told by its content, not by a flag."""

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from pipelines.errors import DecodeError
from pipelines.replay import devices, tables
from pipelines.replay.batch import Batch
from pipelines.replay.dumps import is_dump, read_dump


class Recording(NamedTuple):
    """A file that is understood: its format's name, and its batches in order."""

    format: str
    batches: Iterator[Batch]


def files_below(paths: list[Path]) -> list[Path]:
    """Return the files given and those below folders given, sorted; truth and README left out."""
    found = []
    for path in paths:
        below = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        found += [p for p in below if p is path or not _is_about_data(p)]
    return found


def open_recording(path: Path, now_ns: int) -> Recording:
    """Return the batches of a file.

    Raises
    ------
    DecodeError
        ``unknown_format``: it is none of the formats that are read.
    OSError
        It cannot be read.
    """
    if path.name.endswith((".csv", ".csv.gz")):
        return _table(path)
    text = _text(path)
    documents = _json_documents(text)
    if documents is not None:
        return _devices(path, documents)
    if is_dump(text):
        return Recording("prometheus", read_dump(path, text, now_ns))
    raise DecodeError("unknown_format", f"{path.name} is no format that is read")


def _table(path: Path) -> Recording:
    with _open(path) as lines:
        header = lines.readline().strip().split(",")
    table = tables.table_of(header)
    if table is None:
        raise DecodeError("unknown_format", f"{path.name} has the columns {header}")
    return Recording(table.kind, _rows(path, table))


def _rows(path: Path, table: Any) -> Iterator[Batch]:
    with _open(path) as lines:
        group = path.name.split(".")[1] if table.kind == "cisco_mdt" else table.kind
        yield from tables.read_table(lines, table, tables.table_source(path, table), group)


def _devices(path: Path, documents: list[Any]) -> Recording:
    first = next(document for document in documents if not isinstance(document, str))
    first = first[0] if isinstance(first, list) and first else first
    keys = set(first) if isinstance(first, dict) else set()
    if keys & {"update", "syncResponse", "sync_response"}:
        return Recording("gnmi", devices.read_responses(path, documents))
    if "timestamp" in keys and keys & {"values", "tags", "deletes"}:
        return Recording("gnmic_event", devices.read_events(path, documents))
    if "timestamp" in keys and "updates" in keys:
        return Recording("gnmic_json", devices.read_gnmic(path, documents))
    if all(isinstance(document, dict) for document in documents) and _is_sonic(path, documents):
        return Recording("sonic", devices.read_sonic(path, documents))
    raise DecodeError("unknown_format", f"{path.name} is JSON of another form")


def _is_sonic(path: Path, documents: list[dict[str, Any]]) -> bool:
    written = json.dumps(documents)
    words = ("SAI_", "oid:0x", "|Ethernet")
    return any(word in written for word in words) or (written == "[{}]" and "sonic" in str(path))


def _json_documents(text: str) -> list[Any] | None:
    """Return the documents of JSON or JSON lines; None when it is neither.

    A line that is no JSON among others that are stays a text, for the reader to refuse.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return [json.loads(text)]
    except ValueError:
        documents = [_parsed(line) for line in text.splitlines() if line.strip()]
    return documents if any(not isinstance(document, str) for document in documents) else None


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line


def _is_about_data(path: Path) -> bool:
    return path.name.startswith(("README", "events.csv", ".")) or ".truth." in path.name


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8")
    return path.open(encoding="utf-8")


def _text(path: Path) -> str:
    with _open(path) as lines:
        return lines.read()
