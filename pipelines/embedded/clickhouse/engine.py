"""Runs queries in the engine, each on a connection of its own."""

import itertools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chdb

from pipelines.embedded.clickhouse.errors import (
    EMPTY_QUERY,
    INTO_OUTFILE_NOT_ALLOWED,
    SYNTAX_ERROR,
    from_engine,
    query_error,
)
from pipelines.embedded.clickhouse.request import QueryRequest
from pipelines.embedded.clickhouse.sessions import Sessions
from pipelines.embedded.clickhouse.statement import Statement, read_statement

# The engine itself: `chdb.connect` wraps it in layers that copy what is inserted.
_ENGINE: Any = chdb._chdb  # noqa: SLF001

# How far into a body the statement may reach: ClickHouse's max_query_size.
_HEAD_BYTES = 262_144
_SERVER_SETTINGS = {
    # What the engine alone has otherwise than a server: `selekt 1` must not be an expression.
    "implicit_select": "0",
    "allow_introspection_functions": "0",
}
_INSERT_SETTINGS = {
    # One block, so one part per partition: an insert is stored whole or not at all, and one
    # deduplication token stands for all of it.
    "min_insert_block_size_rows": str(1 << 24),
    "min_insert_block_size_bytes": str(1 << 29),
}


class DataDirectoryError(Exception):
    """The data directory cannot be used; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A query's whole result in its format, with what the engine counted.

    Attributes
    ----------
    data
        A view into the engine's own buffer, valid as long as `owner` is kept.
    """

    data: memoryview
    owner: object = None
    format_name: str
    read_rows: int = 0
    read_bytes: int = 0
    written_rows: int = 0
    written_bytes: int = 0
    result_rows: int = 0
    elapsed_seconds: float = 0.0


class Engine:
    """The engine on one data directory; one in a process, usable from any thread.

    A connection is opened per request (about a millisecond): settings, parameters and the current
    database end with it, and requests run beside one another.
    """

    def __init__(self, data_path: Path) -> None:
        data_path.mkdir(parents=True, exist_ok=True)
        self._path = str(data_path.resolve())
        try:
            # Kept open: the engine lives as long as it has a connection.
            self._keeper = self._connect()
        except RuntimeError as error:
            raise DataDirectoryError(_start_failure(data_path, error)) from error
        self.version = self._value("SELECT version()")
        self.timezone = self._value("SELECT timezone()")
        self.host_name = self._value("SELECT hostName()")
        self._sessions = Sessions(connect=self._connect, monotonic_seconds=time.monotonic)

    def close(self) -> None:
        self._sessions.close()
        self._keeper.close()

    def run(self, request: QueryRequest, body: Iterable[bytes]) -> Answer:
        """Run a query; blocks, while the engine works outside the interpreter's lock.

        Parameters
        ----------
        body
            Pieces of the plain body. Data of an insert are handed on piece by piece, uncopied.

        Raises
        ------
        QueryError
            The engine refused the query, or its data.
        """
        text, data = _statement_and_data(request.query, iter(body))
        statement = read_statement(text)
        if statement.touches_client_file:
            raise query_error(
                INTO_OUTFILE_NOT_ALLOWED, "INTO OUTFILE and FROM INFILE are not allowed here"
            )
        try:
            # A session's connection would stay read-only for good.
            if request.session is not None and not request.is_read_only:
                with self._sessions.borrow(request.session) as connection:
                    return _run(connection, request, statement, text, data)
            connection = self._connect()
            try:
                return _run(connection, request, statement, text, data)
            finally:
                connection.close()
        except RuntimeError as error:
            raise from_engine(error) from error

    def _connect(self) -> Any:
        return _ENGINE.connect(self._path)

    def _value(self, query: str) -> str:
        return str(self._keeper.query(query, "TSVRaw").bytes().decode().strip())


def _statement_and_data(query: bytes, body: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Text that holds the whole statement, and the pieces of the body that it does not hold.

    With a query in the URL the statement is `query`, a line feed and the body, as ClickHouse
    reads them.
    """
    if query and read_statement(query).head is not None:
        return query + b"\n", body
    head = [query, b"\n"] if query else []
    size = len(query)
    for piece in body:
        head.append(piece)
        size += len(piece)
        if size >= _HEAD_BYTES:
            break
    return b"".join(head), body


def _run(
    connection: Any, request: QueryRequest, statement: Statement, text: bytes, rest: Iterator[bytes]
) -> Answer:
    if request.database:
        connection.query(f"USE {_quoted(request.database, '`')}", "Null")
    is_insert = statement.head is not None
    _set(connection, _settings(request, is_insert=is_insert))
    try:
        if is_insert:
            return _insert(connection, statement, text, rest)
        return _query(connection, request, statement, b"".join([text, *rest]))
    finally:
        if request.session is not None and not request.is_read_only:
            _reset(connection, request)


def _query(connection: Any, request: QueryRequest, statement: Statement, text: bytes) -> Answer:
    sql = _decoded(text)
    if not sql.strip().strip(";"):
        raise query_error(EMPTY_QUERY, "Empty query")
    if connection.classify_query(sql)["statement_count"] > 1:
        raise query_error(SYNTAX_ERROR, "Syntax error (Multi-statements are not allowed)")
    result = connection.query(sql, request.default_format)
    buffer = result.get_memview()
    return Answer(
        data=buffer.view() if result.size() else memoryview(b""),
        owner=(result, buffer),
        format_name=statement.format_name or request.default_format,
        read_rows=result.storage_rows_read(),
        read_bytes=result.storage_bytes_read(),
        written_rows=result.rows_written(),
        written_bytes=result.bytes_written(),
        result_rows=result.rows_read(),
        elapsed_seconds=result.elapsed(),
    )


def _insert(connection: Any, statement: Statement, text: bytes, rest: Iterator[bytes]) -> Answer:
    stream = connection.send_insert(_decoded(statement.head or b""), statement.format_name)
    try:
        for piece in itertools.chain([text[statement.data_offset :]], rest):
            if piece:
                connection.insert_append(stream, piece)
        result = connection.insert_done(stream)
    except BaseException:
        # After the engine's own error there is nothing left to cancel, and it says so.
        _cancel(connection, stream)
        raise
    return Answer(
        data=memoryview(b""),
        format_name=statement.format_name or "",
        read_rows=result.rows_written(),
        read_bytes=result.bytes_written(),
        written_rows=result.rows_written(),
        written_bytes=result.bytes_written(),
        elapsed_seconds=result.elapsed(),
    )


def _cancel(connection: Any, stream: Any) -> None:
    try:
        connection.insert_cancel(stream)
    except RuntimeError:
        return


def _settings(request: QueryRequest, *, is_insert: bool) -> dict[str, str]:
    settings = {f"param_{name}": value for name, value in request.parameters.items()}
    settings |= _SERVER_SETTINGS
    settings["log_comment"] = request.query_id
    if is_insert:
        settings |= _INSERT_SETTINGS
    settings |= request.settings
    # Last: after it nothing may be set.
    if (readonly := settings.pop("readonly", None)) is not None:
        settings["readonly"] = readonly
    return settings


def _set(connection: Any, settings: dict[str, str]) -> None:
    pairs = [
        f"{_quoted(name, '`')} = {_quoted(value, chr(39))}" for name, value in settings.items()
    ]
    for pair in pairs:
        connection.query(f"SET {pair}", "Null")


def _reset(connection: Any, request: QueryRequest) -> None:
    for name in request.settings:
        try:
            connection.query(f"SET {_quoted(name, '`')} = DEFAULT", "Null")
        except RuntimeError:  # a setting that does not exist: the query has failed with it
            continue


def _quoted(text: str, quote: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return f"{quote}{escaped}{quote}"


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise query_error(SYNTAX_ERROR, f"Query is not UTF-8: {error}") from error


def _start_failure(data_path: Path, error: RuntimeError) -> str:
    # The reason (a lock held by another process) goes to the engine's stderr; here only its shell.
    return (
        f"cannot open {str(data_path)!r}: it is in use by another process, or not a data "
        f"directory of this engine ({error})"
    )
