"""ClickHouse's frames, against files that the engine itself has written in them."""

from pathlib import Path

import pytest

from pipelines.embedded.clickhouse.errors import QueryError
from pipelines.embedded.clickhouse.framing import framed, unframed
from tests.embedded.http import Http

NUMBERS = b"".join(number.to_bytes(8, "little") for number in range(100_000))


@pytest.mark.parametrize("codec", ["LZ4", "ZSTD(1)", "NONE"])
def test_column_file_of_a_part_is_read(http: Http, codec: str) -> None:
    http.run(
        f"CREATE TABLE t (a UInt64 CODEC({codec})) ENGINE = MergeTree ORDER BY tuple() "
        "SETTINGS min_bytes_for_wide_part = 0"
    )
    http.run("INSERT INTO t SELECT number FROM numbers(100000)")
    sql = "SELECT path FROM system.parts WHERE active AND database = currentDatabase()"
    raw = (Path(http.run(sql).strip()) / "a.bin").read_bytes()
    assert b"".join(unframed([raw[:30], raw[30:]])) == NUMBERS


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1])
def test_frames_are_read_back(size: int) -> None:
    data = (NUMBERS * 2)[:size]
    assert b"".join(unframed(framed(memoryview(data)))) == data


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda body: body[:-1], 271),
        (lambda body: b"\x00" + body[1:], 40),
        (lambda body: body[:17] + b"\xff\xff\xff\xff" + body[21:], 271),
        (lambda body: body + b"\x00", 271),
    ],
)
def test_damaged_frame_is_refused(change: object, code: int) -> None:
    assert callable(change)
    body = b"".join(framed(memoryview(NUMBERS[:1000])))
    with pytest.raises(QueryError) as caught:
        list(unframed([change(body)]))
    assert caught.value.code == code
