"""A cell's decisions on disk: written before anything is told or done, read at the next start."""

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from urllib.parse import quote, unquote

EVENT: Final = b"E"
ALERT: Final = b"A"

# Length of the payload, CRC-32 over kind and payload.
_HEAD = struct.Struct("<II")
_SUFFIX = ".journal"


class Entry(NamedTuple):
    """A decision event or an alert revision, as it travels on Kafka."""

    kind: bytes
    payload: bytes


class Journal:
    """Appends entries; each is on disk when `append` returns.

    A last entry that a crash cut off is dropped when it is read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def load(self) -> list[Entry]:
        """Return the entries that are whole, in order."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        return list(_entries(data))

    def rewrite(self, entries: Iterable[Entry]) -> None:
        """Replace the content in one step."""
        self.close()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(".partial")
        with partial.open("wb") as file:
            for entry in entries:
                file.write(_framed(entry))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._path)

    def append(self, kind: bytes, payload: bytes) -> None:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
        self._file.write(_framed(Entry(kind, payload)))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def journal_path(state_dir: Path, cell: str) -> Path:
    return state_dir / "decisions" / f"{quote(cell, safe='')}{_SUFFIX}"


def journaled_cells(state_dir: Path) -> list[str]:
    """Return the cells that have a journal here."""
    folder = state_dir / "decisions"
    return sorted(unquote(path.name[: -len(_SUFFIX)]) for path in folder.glob(f"*{_SUFFIX}"))


def _framed(entry: Entry) -> bytes:
    body = entry.kind + entry.payload
    return _HEAD.pack(len(entry.payload), zlib.crc32(body)) + body


def _entries(data: bytes) -> Iterator[Entry]:
    position = 0
    while position + _HEAD.size < len(data):
        length, checksum = _HEAD.unpack_from(data, position)
        start = position + _HEAD.size
        body = data[start : start + 1 + length]
        if len(body) < 1 + length or zlib.crc32(body) != checksum:
            return
        yield Entry(body[:1], body[1:])
        position = start + 1 + length
