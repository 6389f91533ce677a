"""The HTTP interface, by a client that knows nothing of ClickHouse."""

import gzip
import json
import zlib

import lz4.frame
import pytest
import zstandard

from pipelines.embedded.clickhouse.framing import framed, unframed
from tests.embedded.http import Http

DECOMPRESS = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    "lz4": lz4.frame.decompress,
}
COMPRESS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "lz4": lz4.frame.compress,
}


def test_health_paths_answer_ok(http: Http) -> None:
    replies = [http.request("GET", path=path) for path in ("/ping", "/replicas_status")]
    assert [(r.status, r.body) for r in replies] == [(200, b"Ok.\n")] * 2


def test_query_is_taken_from_url_body_or_both(http: Http) -> None:
    answers = [
        http.request("GET", query="SELECT 1").body,
        http.post("SELECT 2").body,
        http.post("number FROM numbers(3) WHERE number = 2", query="SELECT").body,
        http.post("/* ; */ SELECT ';' -- ;\n ;").body,
    ]
    assert answers == [b"1\n", b"2\n", b"2\n", b";\n"]


def test_inserted_data_is_taken_from_every_form(http: Http) -> None:
    http.run("CREATE TABLE t (a Int32, b String) ENGINE = MergeTree ORDER BY a")
    http.post(b"1,one\n2,two\n", query="INSERT INTO t FORMAT CSV")
    http.post(b'INSERT INTO t FORMAT JSONEachRow\n{"a":3,"b":"three"}')
    http.post("INSERT INTO t (b, a) VALUES ('v;', 4), (concat('f', 'ive'), 5);")
    http.post("(6,'six')", query="INSERT INTO t VALUES")
    http.post("INSERT INTO t SELECT 7, 'seven'")
    assert http.run("SELECT * FROM t ORDER BY a FORMAT CSV") == (
        '1,"one"\n2,"two"\n3,"three"\n4,"v;"\n5,"five"\n6,"six"\n7,"seven"\n'
    )


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ({"sql": "SELECT 1 AS a FORMAT JSONEachRow"}, ("JSONEachRow", b'{"a":1}\n')),
        ({"sql": "SELECT 1 AS a", "default_format": "CSVWithNames"}, ("CSVWithNames", b'"a"\n1\n')),
        (
            {"sql": "SELECT 1 AS format FORMAT CSV", "default_format": "JSON"},
            ("CSV", b"1\n"),
        ),
    ],
)
def test_format_of_the_query_wins_over_the_default(
    http: Http, how: dict[str, str], found: tuple[str, bytes]
) -> None:
    arguments = dict(how)
    reply = http.post(arguments.pop("sql"), **arguments)
    assert (reply.headers["X-ClickHouse-Format"], reply.body) == found


def test_format_is_taken_from_the_header(http: Http) -> None:
    reply = http.post("SELECT 1 AS a", headers={"X-ClickHouse-Format": "JSONEachRow"})
    assert (reply.headers["Content-Type"], reply.body) == (
        "application/x-ndjson; charset=UTF-8",
        b'{"a":1}\n',
    )


def test_binary_formats_come_through(http: Http) -> None:
    parquet = http.post("SELECT number FROM numbers(10) FORMAT Parquet").body
    assert (parquet[:4], parquet[-4:]) == (b"PAR1", b"PAR1")
    assert http.post("SELECT 1 AS a FORMAT Native").body == b"\x01\x01\x01a\x05UInt8\x01"


def test_parameters_have_their_declared_types(http: Http) -> None:
    sql = "SELECT {n:UInt8} + 1, {s:String}, {l:Array(String)}, {t:DateTime64(9)}, {i:Identifier}"
    answer = http.run(
        sql + " FROM system.one FORMAT JSONCompactEachRow",
        param_n="41",
        param_s="it's \\t\\\\",
        param_l="['x','y']",
        param_t="2024-11-07 19:13:57.777063541",
        param_i="dummy",
    )
    assert json.loads(answer) == [
        42,
        "it's \t\\",
        ["x", "y"],
        "2024-11-07 19:13:57.777063541",
        0,
    ]


def test_settings_last_one_query(http: Http) -> None:
    sql = "SELECT getSetting('max_threads'), timezone()"
    assert http.run(sql, max_threads="3", session_timezone="Asia/Tokyo") == "3\tAsia/Tokyo\n"
    assert http.run(sql) != "3\tAsia/Tokyo\n"


def test_answer_tells_id_and_counts(http: Http) -> None:
    reply = http.post("SELECT number FROM numbers(5)", query_id="mine", wait_end_of_query="1")
    summary = json.loads(reply.headers["X-ClickHouse-Summary"])
    assert reply.headers["X-ClickHouse-Query-Id"] == "mine"
    assert (summary["read_rows"], summary["result_rows"], summary["result_bytes"]) == (
        "5",
        "5",
        "10",
    )


@pytest.mark.parametrize(
    ("sql", "parameters", "status", "expected"),
    [
        ("selekt 1", {}, 400, "62 SYNTAX_ERROR"),
        ("SELECT * FROM nothing_here", {}, 404, "60 UNKNOWN_TABLE"),
        ("SELECT nothing_here", {}, 404, "47 UNKNOWN_IDENTIFIER"),
        ("SELECT 1 FORMAT Nothing", {}, 404, "73 UNKNOWN_FORMAT"),
        ("SELECT 1", {"nothing": "1"}, 404, "115 UNKNOWN_SETTING"),
        ("SELECT 1", {"database": "nothing"}, 404, "81 UNKNOWN_DATABASE"),
        ("SELECT toUInt8('x')", {}, 400, "6 CANNOT_PARSE_TEXT"),
        ("SELECT {p:UInt8}", {}, 500, "456 UNKNOWN_QUERY_PARAMETER"),
        ("SELECT sleep(1)", {"max_execution_time": "0.01"}, 408, "159 TIMEOUT_EXCEEDED"),
        ("SELECT 1; SELECT 2", {}, 400, "62 SYNTAX_ERROR"),
        ("", {}, 500, "211 EMPTY_QUERY"),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", {}, 500, "358 INTO_OUTFILE_NOT_ALLOWED"),
        ("SELECT 1", {"session_id": "s", "session_check": "1"}, 500, "372 SESSION_NOT_FOUND"),
    ],
)
def test_error_has_clickhouses_code_name_and_status(
    http: Http, sql: str, parameters: dict[str, str], status: int, expected: str
) -> None:
    code, name = expected.split()
    reply = http.post(sql, **parameters)
    assert (reply.status, reply.headers["X-ClickHouse-Exception-Code"]) == (status, code)
    assert reply.body.startswith(f"Code: {code}. DB::Exception: ".encode())
    assert f"({name}) (version ".encode() in reply.body


@pytest.mark.parametrize("readonly", ["1", "2"])
def test_read_only_query_changes_nothing(http: Http, readonly: str) -> None:
    http.run("CREATE TABLE t (a Int32) ENGINE = MergeTree ORDER BY a")
    statements = ["INSERT INTO t VALUES (1)", "DROP TABLE t", "TRUNCATE TABLE t"]
    replies = [http.post(sql, readonly=readonly) for sql in statements]
    assert [r.headers["X-ClickHouse-Exception-Code"] for r in replies] == ["164"] * 3
    assert http.run("SELECT count() FROM t", readonly=readonly) == "0\n"


def test_read_only_query_cannot_free_itself_or_read_files(http: Http) -> None:
    for sql in ("SELECT 1 SETTINGS readonly = 0", "SELECT * FROM file('/etc/passwd', 'CSV')"):
        assert http.post(sql, readonly="1").headers["X-ClickHouse-Exception-Code"] == "164"


def test_get_implies_read_only(http: Http) -> None:
    reply = http.request("GET", query="CREATE TABLE t (a Int32) ENGINE = Memory", readonly="0")
    assert reply.headers["X-ClickHouse-Exception-Code"] == "164"


@pytest.mark.parametrize("encoding", sorted(DECOMPRESS))
def test_answer_is_compressed_when_asked(http: Http, encoding: str) -> None:
    sql = "SELECT number FROM numbers(1000)"
    reply = http.post(sql, enable_http_compression="1", headers={"Accept-Encoding": encoding})
    assert reply.headers["Content-Encoding"] == encoding
    assert DECOMPRESS[encoding](reply.body).decode() == http.run(sql)
    assert "Content-Encoding" not in http.post(sql, headers={"Accept-Encoding": encoding}).headers


@pytest.mark.parametrize("encoding", sorted(COMPRESS))
def test_body_is_decompressed_also_in_several_frames(http: Http, encoding: str) -> None:
    http.run("CREATE TABLE t (a Int32) ENGINE = MergeTree ORDER BY a")
    body = COMPRESS[encoding](b"1\n2\n") + COMPRESS[encoding](b"3\n")
    headers = {"Content-Encoding": encoding}
    reply = http.post(body, query="INSERT INTO t FORMAT CSV", headers=headers)
    assert (reply.status, http.run("SELECT sum(a) FROM t")) == (200, "6\n")
    cut = http.post(body[:-3], query="INSERT INTO t FORMAT CSV", headers=headers)
    assert (cut.status, http.run("SELECT sum(a) FROM t")) == (500, "6\n")


def test_clickhouse_frames_go_both_ways(http: Http) -> None:
    http.run("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
    native = http.post("SELECT number AS a FROM numbers(300000) FORMAT Native").body
    body = b"".join(framed(memoryview(native)))
    assert http.post(body, query="INSERT INTO t FORMAT Native", decompress="1").status == 200
    answer = http.post("SELECT a FROM t ORDER BY a", compress="1").body
    expected = "".join(f"{number}\n" for number in range(300_000)).encode()
    assert b"".join(unframed([answer[:7], answer[7:]])) == expected
    broken = bytes([body[0] ^ 1]) + body[1:]
    reply = http.post(broken, query="INSERT INTO t FORMAT Native", decompress="1")
    assert reply.headers["X-ClickHouse-Exception-Code"] == "40"


def test_session_keeps_temporary_tables_but_not_url_settings(http: Http) -> None:
    http.run("CREATE TEMPORARY TABLE kept (a Int32)", session_id="one")
    http.run("INSERT INTO kept VALUES (1)", session_id="one", max_threads="7")
    sql = "SELECT count(), getSetting('max_threads') = 7 FROM kept"
    assert http.run(sql, session_id="one") == "1\t0\n"
    other = http.post(sql, session_id="two")
    assert other.headers["X-ClickHouse-Exception-Code"] == "60"


def test_unknown_path_is_not_found(http: Http) -> None:
    assert http.request("POST", path="/nothing", body=b"SELECT 1").status == 404


def _form(*parts: str) -> tuple[bytes, dict[str, str]]:
    body = "".join(f"--b\r\nContent-Disposition: form-data; {part}\r\n" for part in parts)
    return (body + "--b--\r\n").encode(), {"Content-Type": "multipart/form-data; boundary=b"}


def test_query_and_parameters_are_taken_from_a_form(http: Http) -> None:
    body, headers = _form('name="query"\r\n\r\nSELECT {n:UInt8} + 1', 'name="param_n"\r\n\r\n41')
    assert http.request("POST", body=body, headers=headers).body == b"42\n"


def test_file_in_a_form_is_refused_with_a_code(http: Http) -> None:
    body, headers = _form('name="ids"; filename="ids.tsv"\r\n\r\n1\n')
    reply = http.request("POST", body=body, headers=headers, query="SELECT 1")
    assert (reply.status, reply.headers["X-ClickHouse-Exception-Code"]) == (501, "48")
