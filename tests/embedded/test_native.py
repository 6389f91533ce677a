"""Native blocks for clients that name a protocol revision."""

import pytest

from pipelines.embedded.clickhouse.native import with_revision
from tests.embedded.http import Http

INFO = b"\x01\x00\x02\xff\xff\xff\xff\x00"

COLUMNS = [
    "number",
    "toString(number)",
    "toFixedString('abc', 3)",
    "toLowCardinality(toString(number % 3))",
    "toLowCardinality(toNullable('x'))",
    "if(number % 2, NULL, number)",
    "range(number % 4)",
    "[toLowCardinality('a'), 'b']",
    "map('k', number, 'l', 2)",
    "map(toLowCardinality('k'), ['v'])",
    "tuple(number, 'x', [1, 2])",
    "CAST(tuple(1, 'x') AS Tuple(a UInt8, `b c` String))",
    "now64(9, 'Europe/Berlin')",
    "toDecimal128(1.5, 3)",
    "CAST('a' AS Enum8('a' = 1, 'b, (c' = 2))",
    "CAST((1, 'x') AS Tuple(`a (,` Enum8('a, (b' = 1), `b c` String))",
    "toIntervalDay(3)",
    "generateUUIDv4()",
    "toIPv6('::1')",
    "[[number], []]",
    "CAST([] AS Array(LowCardinality(String)))",
    "CAST((1., 2.) AS Point)",
    "CAST([(1, 'x')] AS Nested(a UInt8, b String))",
    "true",
    "NULL",
]


@pytest.mark.parametrize("column", COLUMNS)
def test_flag_stands_between_type_and_data_of_each_column(http: Http, column: str) -> None:
    sql = f"SELECT {column} AS a, 7 AS last FROM numbers(5) SETTINGS max_threads = 1"
    plain = http.post(sql + " FORMAT Native").body
    head = http.post(
        f"SELECT toTypeName({column}) FROM numbers(1) FORMAT TSVRaw", print_pretty_type_names="0"
    ).body
    type_name = head.strip()
    # Two columns, five rows, then for each: name, type, data.
    first = b"\x02\x05\x01a" + bytes([len(type_name)]) + type_name
    second = b"\x04last\x05UInt8"
    assert plain.startswith(first)
    assert plain.endswith(second + b"\x07" * 5)
    data = plain[len(first) : -len(second) - 5]
    expected = INFO + first + b"\x00" + data + second + b"\x00" + b"\x07" * 5
    assert b"".join(with_revision(memoryview(plain))) == expected


def test_answer_has_the_revision_that_the_client_names(http: Http) -> None:
    sql = "SELECT 1 AS check FORMAT Native"
    plain = b"\x01\x01\x05check\x05UInt8\x01"
    assert http.post(sql, client_protocol_version="0").body == plain
    reply = http.post(sql, client_protocol_version="54460")
    assert reply.body == INFO + plain[:-1] + b"\x00\x01"


def test_several_blocks_are_all_translated(http: Http) -> None:
    sql = "SELECT toString(number) AS s FROM numbers(30) FORMAT Native"
    plain = http.post(sql, max_block_size="10").body
    translated = http.post(sql, max_block_size="10", client_protocol_version="54460").body
    assert len(translated) - len(plain) == 3 * (len(INFO) + 1)


def test_type_without_known_layout_is_refused(http: Http) -> None:
    sql = "SELECT sumState(number) FROM numbers(3) FORMAT Native"
    reply = http.post(sql, client_protocol_version="54460")
    assert (reply.status, reply.headers["X-ClickHouse-Exception-Code"]) == (501, "48")
