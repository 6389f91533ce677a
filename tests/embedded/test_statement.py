"""Where a statement ends and its data begins."""

import pytest

from pipelines.embedded.clickhouse.statement import Statement, read_statement


@pytest.mark.parametrize(
    ("text", "head", "format_name", "data"),
    [
        (b"INSERT INTO t FORMAT CSV\n1,2\n", b"INSERT INTO t ", "CSV", b"1,2\n"),
        (
            b"insert into t (a, `b`) format Native \r\n\x01",
            b"insert into t (a, `b`) ",
            "Native",
            b"\x01",
        ),
        (
            b"INSERT INTO d.format (format) FORMAT TSV\n\n",
            b"INSERT INTO d.format (format) ",
            "TSV",
            b"\n",
        ),
        (b"INSERT INTO format FORMAT CSV;\n1", b"INSERT INTO format ", "CSV", b"1"),
        (b"INSERT INTO t VALUES (1)", b"INSERT INTO t ", "Values", b" (1)"),
        (
            b"INSERT INTO t SETTINGS x='FORMAT' VALUES(1)",
            b"INSERT INTO t SETTINGS x='FORMAT' ",
            "Values",
            b"(1)",
        ),
        (
            b"/* a */ INSERT -- FORMAT X\nINTO t FORMAT CSV",
            b"/* a */ INSERT -- FORMAT X\nINTO t ",
            "CSV",
            b"",
        ),
        (b"INSERT INTO t FORMAT VALUES (1)", b"INSERT INTO t ", "Values", b" (1)"),
    ],
)
def test_insert_is_split_from_its_data(
    text: bytes, head: bytes, format_name: str, data: bytes
) -> None:
    found = read_statement(text)
    assert found.data_offset is not None
    assert (found.head, found.format_name, text[found.data_offset :]) == (head, format_name, data)


@pytest.mark.parametrize(
    ("text", "format_name"),
    [
        (b"SELECT 1", None),
        (b"SELECT 1 FORMAT JSON", "JSON"),
        (b"SELECT 1 FORMAT JSON;", "JSON"),
        (b"SELECT 1 FORMAT JSON SETTINGS max_threads = 1", "JSON"),
        (b"SELECT 'FORMAT CSV', format FROM (SELECT 1 AS format)", None),
        (b"SELECT a AS format FROM t FORMAT CSV", "CSV"),
        (b"INSERT INTO t SELECT 1", None),
        (b"INSERT INTO t (a) WITH 1 AS x SELECT x", None),
        (b"", None),
        (b"'unclosed", None),
        (b")))", None),
    ],
)
def test_statement_without_data(text: bytes, format_name: str | None) -> None:
    assert read_statement(text) == Statement(format_name=format_name)


@pytest.mark.parametrize(
    "text",
    [
        b"SELECT 1 INTO OUTFILE 'x'",
        b"SELECT 1 INTO/**/OUTFILE 'x' FORMAT CSV",
        b"INSERT INTO t FROM INFILE 'x' FORMAT CSV",
        b"INSERT INTO t FROM INFILE 'x'",
    ],
)
def test_files_of_the_client_are_seen(text: bytes) -> None:
    assert read_statement(text).touches_client_file
