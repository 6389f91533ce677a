"""Native blocks as a protocol revision wants them.

Over HTTP a server writes Native for the revision that the client names
(`client_protocol_version`): from 54454 on a block starts with its block info, and each column
has a flag for custom serialization before its data. The Go client, and so Grafana's plugin, reads
nothing else; the engine alone writes only the plain form. So columns are walked to find where
each ends.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pipelines.embedded.clickhouse.errors import NOT_IMPLEMENTED, query_error

FIRST_REVISION = 54454

# Field 1 is_overflows = 0, field 2 bucket_number = -1, end.
_BLOCK_INFO = b"\x01\x00\x02\xff\xff\xff\xff\x00"
_NO_CUSTOM_SERIALIZATION = b"\x00"
_HAS_ADDITIONAL_KEYS = 1 << 9

_TYPES_OF_BYTES = {
    1: ("Int8", "UInt8", "Bool", "Enum8", "Nothing"),
    2: ("Int16", "UInt16", "Date", "Enum16", "BFloat16"),
    4: ("Int32", "UInt32", "Float32", "Date32", "DateTime", "Time", "IPv4", "Decimal32"),
    8: ("Int64", "UInt64", "Float64", "DateTime64", "Time64", "Decimal64"),
    16: ("Int128", "UInt128", "UUID", "IPv6", "Decimal128"),
    32: ("Int256", "UInt256", "Decimal256"),
}
_FIXED_BYTES = {name: size for size, names in _TYPES_OF_BYTES.items() for name in names}
# Names of an enum's values and of a tuple's elements may hold brackets, commas and spaces.
_QUOTED = re.compile(r"'(?:[^'\\]|\\.|'')*'|`(?:[^`\\]|\\.|``)*`")
_ALIASES = {
    "Point": "Tuple(Float64, Float64)",
    "Ring": "Array(Tuple(Float64, Float64))",
    "LineString": "Array(Tuple(Float64, Float64))",
    "Polygon": "Array(Array(Tuple(Float64, Float64)))",
    "MultiLineString": "Array(Array(Tuple(Float64, Float64)))",
    "MultiPolygon": "Array(Array(Array(Tuple(Float64, Float64))))",
}


def with_revision(data: memoryview) -> Iterator[memoryview | bytes]:
    """Pieces of the same blocks in the form of revision 54454.

    Raises
    ------
    QueryError
        A column's type has no fixed layout that is known here (states, JSON, Dynamic, Variant).
    """
    reader = _Reader(data)
    while reader.at < len(data):
        yield _BLOCK_INFO
        start = reader.at
        columns, rows = reader.varint(), reader.varint()
        for _ in range(columns):
            reader.string()
            type_name = _QUOTED.sub("q", reader.string())
            yield data[start : reader.at]
            yield _NO_CUSTOM_SERIALIZATION
            start = reader.at
            if rows:
                _skip_prefix(reader, type_name)
                _skip_data(reader, type_name, rows)
        yield data[start : reader.at]


@dataclass(slots=True)
class _Reader:
    data: memoryview
    at: int = field(default=0)

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - the continuation bit
                return value
            shift += 7

    def string(self) -> str:
        size = self.varint()
        self.at += size
        return str(self.data[self.at - size : self.at], "utf-8")

    def uint64(self) -> int:
        self.at += 8
        return int.from_bytes(self.data[self.at - 8 : self.at], "little")

    def skip_strings(self, rows: int) -> None:
        for _ in range(rows):
            size = self.varint()
            self.at += size


def _parts(type_name: str) -> tuple[str, list[str]]:
    """Name of a type and its arguments, as texts: `Map(A, B(C))` is Map with `A` and `B(C)`."""
    name, bracket, inside = _ALIASES.get(type_name, type_name).partition("(")
    if not bracket:
        return name, []
    arguments, depth, start = [], 0, 0
    inside = inside[:-1]
    for at, letter in enumerate(inside):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            arguments.append(inside[start:at].strip())
            start = at + 1
    return name, [*arguments, inside[start:].strip()]


def _elements(arguments: list[str]) -> list[str]:
    """Types of a tuple's elements, which may have names: `a UInt8, b String`."""
    types = []
    for argument in arguments:
        before = argument.partition("(")[0]
        types.append(argument[before.rindex(" ") + 1 :] if " " in before else argument)
    return types


def _inner_types(name: str, arguments: list[str]) -> list[str]:
    if name in {"Tuple", "Nested"}:
        return _elements(arguments)
    if name in {"Array", "Nullable", "Map"}:
        return arguments
    return arguments[1:] if name == "SimpleAggregateFunction" else []


def _skip_prefix(reader: _Reader, type_name: str) -> None:
    name, arguments = _parts(type_name)
    if name == "LowCardinality":
        reader.at += 8  # version of its keys
    for inner in _inner_types(name, arguments):
        _skip_prefix(reader, inner)


def _skip_data(reader: _Reader, type_name: str, rows: int) -> None:
    name, arguments = _parts(type_name)
    if (skip := _SKIP.get(name)) is not None:
        skip(reader, arguments, rows)
    else:
        reader.at += _fixed_bytes(name, arguments, type_name) * rows


def _fixed_bytes(name: str, arguments: list[str], type_name: str) -> int:
    if name == "FixedString":
        return int(arguments[0])
    if name == "Decimal":
        digits = int(arguments[0])
        return next(
            size for limit, size in ((9, 4), (18, 8), (38, 16), (76, 32)) if digits <= limit
        )
    if name.startswith("Interval"):
        return 8
    if name not in _FIXED_BYTES:
        raise query_error(
            NOT_IMPLEMENTED,
            f"Native format for a client protocol version is not supported for type {type_name}",
        )
    return _FIXED_BYTES[name]


def _skip_nullable(reader: _Reader, arguments: list[str], rows: int) -> None:
    reader.at += rows
    _skip_data(reader, arguments[0], rows)


def _skip_tuple(reader: _Reader, arguments: list[str], rows: int) -> None:
    if not arguments or arguments == [""]:
        reader.at += rows
        return
    for element in _elements(arguments):
        _skip_data(reader, element, rows)


def _skip_array(reader: _Reader, arguments: list[str], rows: int) -> None:
    if not rows:
        return
    reader.at += 8 * (rows - 1)
    total = reader.uint64()  # the last offset counts all elements
    _skip_data(reader, arguments[0], total)


def _skip_many(reader: _Reader, arguments: list[str], rows: int) -> None:
    _skip_array(reader, [f"Tuple({', '.join(arguments)})"], rows)


def _skip_low_cardinality(reader: _Reader, arguments: list[str], rows: int) -> None:
    if not rows:
        return
    flags = reader.uint64()
    if flags & _HAS_ADDITIONAL_KEYS:
        name, inner = _parts(arguments[0])
        # The null of a nullable dictionary is one of its keys, without a map of nulls.
        _skip_data(reader, inner[0] if name == "Nullable" else arguments[0], reader.uint64())
    index_bytes = 1 << (flags & 0xFF)
    indexes = reader.uint64()
    reader.at += index_bytes * indexes


_SKIP: dict[str, Callable[[_Reader, list[str], int], None]] = {
    "String": lambda reader, _, rows: reader.skip_strings(rows),
    "Nullable": _skip_nullable,
    "Tuple": _skip_tuple,
    "Array": _skip_array,
    "Map": _skip_many,
    "Nested": _skip_many,
    "LowCardinality": _skip_low_cardinality,
    "SimpleAggregateFunction": lambda reader, arguments, rows: _skip_data(
        reader, arguments[1], rows
    ),
}
