"""The shape of a message: which of its bytes are always the same, and where its values stand.

A device sends the same paths in the same order at every interval. Messages of known shapes are
joined, compared with what is expected of them, and their values are taken out, all at once.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.collect.wire_walk import FIXED32, FIXED64, Field

# How a value's bytes become a number.
UNSIGNED, SIGNED, BOOL, FLOAT, DOUBLE, CONSTANT = range(6)

_U64: Final = np.uint64
_SEVENS: Final = 0x7F7F_7F7F_7F7F_7F7F
_SEVEN_BITS, _EIGHT_SEVENS, _TOP_BIT = _U64(0x7F), _U64(56), _U64(63)
# Neighbours become one: seven bits of a byte, 14 of two, 28 of four.
_JOINS: Final = (
    (_U64(0x007F007F007F007F), _U64(0x7F007F007F007F00), _U64(1)),
    (_U64(0x00003FFF00003FFF), _U64(0x3FFF00003FFF0000), _U64(2)),
    (_U64(0x000000000FFFFFFF), _U64(0x0FFFFFFF00000000), _U64(4)),
)
_WORD: Final = 8
# A value's record: as bytes it is joined with others at no cost a record.
_RECORD: Final = struct.Struct("<qQqqddq")
_VALUE: Final = np.dtype(
    [
        ("offset", "<i8"),
        ("keep", "<u8"),
        ("size", "<i8"),
        ("kind", "<i8"),
        ("scale", "<f8"),
        ("constant", "<f8"),
        ("slot", "<i8"),
    ]
)


class Value(NamedTuple):
    """A reading of a message: where it stands, what it is, and its series.

    Attributes
    ----------
    slot
        Number of the series.
    constant
        The value, where it follows from bytes that do not change.
    """

    field: Field
    kind: int
    slot: int
    scale: float = 1.0
    constant: float = 0.0


class Shape:
    """One shape.

    Attributes
    ----------
    size
        Of the message, in bytes.
    fixed, mask
        The message's bits that do not change, and which they are.
    count
        How many readings it has.
    time, values
        Records of where they stand.
    """

    __slots__ = ("count", "fixed", "mask", "size", "time", "values")

    def __init__(
        self, message: bytes, *, time: Field, values: Sequence[Value], ignored: Iterable[Field]
    ) -> None:
        mask = bytearray(b"\xff" * len(message))
        changing = [value.field for value in values if value.kind != CONSTANT]
        for field in (time, *changing, *ignored):
            _unmask(mask, field)
        self.size = len(message)
        self.mask = bytes(mask)
        self.fixed = bytes(a & b for a, b in zip(message, mask, strict=True))
        self.count = len(values)
        self.time = _record(Value(time, UNSIGNED, -1))
        self.values = b"".join(_record(value) for value in values)


class Readings(NamedTuple):
    """Readings of several messages in a row; no series comes twice.

    Attributes
    ----------
    times_ns
        Device time of each message.
    counts
        How many readings each message has.
    slots, values
        Series and value of each reading, in the messages' order.
    """

    times_ns: NDArray[np.int64]
    counts: NDArray[np.int64]
    slots: NDArray[np.int64]
    values: NDArray[np.float64]


class Plan:
    """Several shapes in a row, made ready to be read at once.

    Attributes
    ----------
    sizes
        Of the messages, in bytes.
    slots
        The series of all readings.
    is_distinct
        No series comes twice.
    """

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.sizes = [shape.size for shape in shapes]
        self._ends = np.cumsum(self.sizes)
        size = int(self._ends[-1])
        # A value's window may reach beyond the last message.
        self._padding = bytes(-size % _WORD + 2 * _WORD)
        self._mask = _words(b"".join(shape.mask for shape in shapes) + self._padding)
        self._fixed = _words(b"".join(shape.fixed for shape in shapes) + self._padding)
        self._counts = np.array([shape.count for shape in shapes])
        records = [shape.time for shape in shapes] + [shape.values for shape in shapes]
        values = np.frombuffer(b"".join(records), _VALUE)
        begins = self._ends - self.sizes
        offsets = np.concatenate([begins, np.repeat(begins, self._counts)])
        self._fields = _Fields(values, offsets)
        self.slots = values["slot"][len(shapes) :].copy()
        self.is_distinct = len(np.unique(self.slots)) == len(self.slots)

    def read(self, messages: Sequence[bytes]) -> Readings | list[int]:
        """Return the readings of messages of these sizes; where some differ, which ones."""
        raw = b"".join((*messages, self._padding))
        wrong = (_words(raw) & self._mask) != self._fixed
        if wrong.any():
            return self._differing(raw)
        times, values = self._fields.read(raw, len(messages))
        return Readings(times, self._counts, self.slots, values)

    def _differing(self, raw: bytes) -> list[int]:
        differing: NDArray[np.bool_] = (
            np.frombuffer(raw, np.uint8) & self._mask.view(np.uint8)
        ) != self._fixed.view(np.uint8)
        places = np.flatnonzero(differing)
        found: list[int] = np.unique(np.searchsorted(self._ends, places, side="right")).tolist()
        return found


class _Fields:
    """Numbers in a buffer: those of one kind are converted together."""

    def __init__(self, values: NDArray[np.void], offsets: NDArray[np.int64]) -> None:
        self._offset = values["offset"] + offsets
        self._keep = values["keep"].copy()
        self._ninth = np.flatnonzero(values["size"] > _WORD)
        self._tenth = np.flatnonzero(values["size"] > _WORD + 1)
        kinds = values["kind"]
        there = set(kinds.tolist()) - {UNSIGNED}
        self._of_kind = {kind: np.flatnonzero(kinds == kind) for kind in there}
        self._constants = values["constant"][kinds == CONSTANT]
        scale = values["scale"].copy()
        self._scale = scale if (scale != 1.0).any() else None

    def read(self, raw: bytes, times: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the first so many as times, the others as values in our units."""
        windows: NDArray[np.uint64] = np.ndarray((len(raw) - _WORD + 1,), "<u8", raw, strides=(1,))
        kept = windows[self._offset]
        kept &= self._keep
        whole = _compact(kept)
        if len(self._ninth):
            upper = windows[self._offset[self._ninth] + _WORD]
            upper &= _SEVEN_BITS
            upper <<= _EIGHT_SEVENS
            whole[self._ninth] |= upper
        if len(self._tenth):
            # Of the tenth byte only the lowest bit has room.
            whole[self._tenth] |= windows[self._offset[self._tenth] + _WORD + 1] << _TOP_BIT
        numbers = whole.astype(np.float64)
        for kind, places in self._of_kind.items():
            numbers[places] = self._converted(kind, kept[places], whole[places])
        if self._scale is not None:
            numbers *= self._scale
        return whole[:times].view(np.int64), numbers[times:]

    def _converted(
        self, kind: int, kept: NDArray[np.uint64], whole: NDArray[np.uint64]
    ) -> NDArray[Any]:
        converted: NDArray[Any] = self._constants
        if kind == SIGNED:
            converted = whole.view(np.int64)
        elif kind == BOOL:
            converted = whole != 0
        elif kind == DOUBLE:
            converted = kept.view(np.float64)
        elif kind == FLOAT:
            converted = kept.astype(np.uint32).view(np.float32)
        return converted


def _compact(kept: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return varints of up to eight bytes as numbers: seven bits of each byte, joined."""
    joined = kept
    for lower, upper, bits in _JOINS:
        high = joined & upper
        high >>= bits
        joined = joined & lower
        joined |= high
    return joined


def _words(data: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(data, "<u8")


def _unmask(mask: bytearray, field: Field) -> None:
    """Take out what may change: of a varint its payload, for its length does not."""
    size = field.stop - field.start
    if field.tag & 7 in (FIXED32, FIXED64):
        mask[field.start : field.stop] = bytes(size)
    else:
        mask[field.start : field.stop] = b"\x80" * min(size, 9) + b"\xff" * (size - 9)


def _record(value: Value) -> bytes:
    field = value.field
    size = field.stop - field.start
    is_varint = value.kind in (UNSIGNED, SIGNED, BOOL)
    keep = (1 << 8 * min(size, _WORD)) - 1
    return _RECORD.pack(
        field.start,
        keep & _SEVENS if is_varint else keep,
        size if is_varint else 0,
        value.kind,
        value.scale,
        value.constant,
        value.slot,
    )
