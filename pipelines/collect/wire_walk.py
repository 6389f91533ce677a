"""The wire form of a plain gNMI response: where in its bytes the paths and the values are.

Plain is what a switch sends nearly always: one time, perhaps a prefix, and updates of one path and
one value each. Everything else is left to the official messages.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

VARINT: Final = 0
FIXED64: Final = 1
SIZED: Final = 2
FIXED32: Final = 5

_RESPONSE_UPDATE: Final = 0x0A
_TIMESTAMP: Final = 0x08
_PREFIX: Final = 0x12
_UPDATE: Final = 0x22
_UPDATE_PATH: Final = 0x0A
_UPDATE_VALUE: Final = 0x1A
_LONGEST_VARINT: Final = 10


class NotPlainError(Exception):
    """The message is not of the plain form; it may be a good one all the same."""


class Field(NamedTuple):
    """A field: its tag, and where its content stands."""

    tag: int
    start: int
    stop: int


class PlainUpdate(NamedTuple):
    """An update: its path's bytes, its TypedValue, and the one field of that."""

    path: bytes
    typed: Field
    value: Field


class Plain(NamedTuple):
    """A plain response."""

    time: Field
    prefix: bytes
    updates: list[PlainUpdate]


def walk(message: bytes) -> Plain:
    """Return where the parts of a response are; about 1 µs an update.

    Raises
    ------
    NotPlainError
        It is not plain.
    """
    try:
        return _walk(message)
    except IndexError:
        raise NotPlainError from None


def _walk(message: bytes) -> Plain:
    tag, start, stop = _only(message, 0, len(message))
    if tag != _RESPONSE_UPDATE:
        raise NotPlainError
    time: Field | None = None
    prefix: bytes | None = None
    updates: list[PlainUpdate] = []
    for field in _fields(message, start, stop):
        if field.tag == _UPDATE:
            updates.append(_update(message, field))
        elif field.tag == _TIMESTAMP and time is None:
            time = field
        elif field.tag == _PREFIX and prefix is None:
            prefix = message[field.start : field.stop]
        else:
            raise NotPlainError
    if time is None or not updates:
        raise NotPlainError
    return Plain(time, prefix or b"", updates)


def _update(message: bytes, update: Field) -> PlainUpdate:
    fields = list(_fields(message, update.start, update.stop))
    if [field.tag for field in fields] != [_UPDATE_PATH, _UPDATE_VALUE]:
        raise NotPlainError
    path, typed = fields
    value = _only(message, typed.start, typed.stop)
    return PlainUpdate(message[path.start : path.stop], typed, value)


def _only(message: bytes, start: int, stop: int) -> Field:
    field = next(_fields(message, start, stop), None)
    if field is None or field.stop != stop:
        raise NotPlainError
    return field


def _fields(message: bytes, place: int, stop: int) -> Iterator[Field]:
    """Yield the fields of a message; IndexError or NotPlainError where they do not fit."""
    while place < stop:
        tag = message[place]
        start = place + 1
        kind = tag & 7
        if kind == SIZED:
            size = message[start]
            start += 1
            if size > 0x7F:  # noqa: PLR2004 - more bytes of the size follow
                end = _varint_end(message, start - 1)
                size = _varint(message, start - 1, end)
                start = end
            place = start + size
        elif kind == VARINT:
            place = _varint_end(message, start)
        elif kind == FIXED64:
            place = start + 8
        elif kind == FIXED32:
            place = start + 4
        else:
            raise NotPlainError
        if tag > 0x7F or place > stop:  # noqa: PLR2004 - a tag of several bytes
            raise NotPlainError
        yield Field(tag, start, place)


def _varint_end(message: bytes, start: int) -> int:
    end = start
    while message[end] > 0x7F:  # noqa: PLR2004 - the bit that says that more follow
        end += 1
    end += 1
    size = end - start
    # The tenth byte has room for one bit; readers differ in what they make of others.
    if size > _LONGEST_VARINT or (size == _LONGEST_VARINT and message[end - 1] > 1):
        raise NotPlainError
    return end


def _varint(message: bytes, start: int, end: int) -> int:
    value = 0
    for place in range(end - 1, start - 1, -1):
        value = value << 7 | message[place] & 0x7F
    return value
