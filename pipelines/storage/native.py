"""ClickHouse's Native form of the columns that readings have, built from NumPy arrays.

clickhouse-connect turns a LowCardinality column into its dictionary with a Python loop over its
rows; readings come with their dictionary, so here no row is touched by Python.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SEVEN_BITS = 0x7F
_KEYS_VERSION = 1
# The column brings keys of its own (bit 9), which are the dictionary for this block (bit 10).
_OWN_KEYS = (1 << 9) | (1 << 10)
_CODE_TYPES = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A LowCardinality(String) column: ``codes`` are places in ``keys``, one per row."""

    keys: list[str]
    codes: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """A column of fixed width: ``type_name`` is ClickHouse's and fits the array's element."""

    type_name: str
    values: NDArray[np.generic]


Column = Words | Numbers


def native_block(columns: dict[str, Column]) -> bytes:
    """Return one block with the columns in order; all have the same number of rows."""
    rows = {len(c.codes) if isinstance(c, Words) else len(c.values) for c in columns.values()}
    if len(rows) != 1:
        raise ValueError(f"columns have {sorted(rows)} rows")
    parts = [_varint(len(columns)), _varint(rows.pop())]
    for name, column in columns.items():
        parts += [_string(name), *_column(column)]
    return b"".join(parts)


def _column(column: Column) -> list[bytes]:
    if isinstance(column, Numbers):
        values = column.values
        little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        return [_string(column.type_name), little.tobytes()]
    code_size = next(i for i, t in enumerate(_CODE_TYPES) if len(column.keys) <= 1 << 8 * (1 << i))
    return [
        _string("LowCardinality(String)"),
        _uint64(_KEYS_VERSION),
        _uint64(_OWN_KEYS | code_size),
        _uint64(len(column.keys)),
        b"".join(map(_string, column.keys)),
        _uint64(len(column.codes)),
        column.codes.astype(_CODE_TYPES[code_size]).tobytes(),
    ]


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > _SEVEN_BITS:
        digits.append(number & _SEVEN_BITS | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def _string(text: str) -> bytes:
    data = text.encode()
    return _varint(len(data)) + data


def _uint64(number: int) -> bytes:
    return number.to_bytes(8, "little")
