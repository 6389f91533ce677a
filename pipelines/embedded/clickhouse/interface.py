"""ClickHouse's HTTP interface over the engine.

The event loop speaks HTTP and collects a body's pieces as they come off the socket; a thread then
decompresses them and hands each one to the engine. So a slow client holds no query slot, and an
insert is copied nowhere in between.
"""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from aiohttp import web

from pipelines.embedded.clickhouse.access import Account
from pipelines.embedded.clickhouse.encodings import bounded, decoded, encoded
from pipelines.embedded.clickhouse.engine import Answer, Engine
from pipelines.embedded.clickhouse.errors import (
    ABORTED,
    BAD_ARGUMENTS,
    NOT_IMPLEMENTED,
    QUERY_IS_TOO_LARGE,
    TOO_MANY_SIMULTANEOUS_QUERIES,
    QueryError,
    query_error,
)
from pipelines.embedded.clickhouse.framing import framed, require_checksums, unframed
from pipelines.embedded.clickhouse.native import FIRST_REVISION, with_revision
from pipelines.embedded.clickhouse.request import QueryRequest, read_request

_CONTENT_TYPES = {
    "TabSeparated": "text/tab-separated-values; charset=UTF-8",
    "TSV": "text/tab-separated-values; charset=UTF-8",
    "TabSeparatedWithNames": "text/tab-separated-values; charset=UTF-8",
    "TabSeparatedWithNamesAndTypes": "text/tab-separated-values; charset=UTF-8",
    "CSV": "text/csv; charset=UTF-8; header=absent",
    "CSVWithNames": "text/csv; charset=UTF-8; header=present",
    "CSVWithNamesAndTypes": "text/csv; charset=UTF-8; header=present",
    "JSON": "application/json; charset=UTF-8",
    "JSONCompact": "application/json; charset=UTF-8",
    "JSONEachRow": "application/x-ndjson; charset=UTF-8",
    "JSONCompactEachRow": "application/x-ndjson; charset=UTF-8",
    "Native": "application/octet-stream",
    "RowBinary": "application/octet-stream",
    "Parquet": "application/octet-stream",
}
_DEFAULT_CONTENT_TYPE = "text/plain; charset=UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the interface accepts; a body is measured as sent and again as unpacked."""

    body_bytes: int = 1 << 30
    concurrent_queries: int = 64


@dataclass(slots=True, kw_only=True)
class Interface:
    """Answers HTTP requests from the engine."""

    engine: Engine
    account: Account
    limits: Limits
    workers: ThreadPoolExecutor
    stopping: bool = False
    _running: int = field(default=0, init=False)

    def application(self) -> web.Application:
        application = web.Application(client_max_size=self.limits.body_bytes)
        application.router.add_get("/ping", self._ok)
        application.router.add_get("/replicas_status", self._ok)
        for path in ("/", "/{rest:.*}"):
            application.router.add_route("*", path, self._answer)
        return application

    async def _ok(self, _: web.Request) -> web.Response:
        return web.Response(body=b"Ok.\n", content_type="text/html", charset="UTF-8")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path != "/" and not request.query.get("query"):
            return _no_handler(request.path)
        if request.method in {"GET", "HEAD"} and not request.query_string:
            return await self._ok(request)
        headers = {
            "X-ClickHouse-Server-Display-Name": self.engine.host_name,
            "X-ClickHouse-Timezone": self.engine.timezone,
        }
        try:
            self.account.admit(request.query, request.headers)
            fields = await _form_fields(request)
            query = read_request(request.method, {**request.query, **fields}, request.headers)
            headers["X-ClickHouse-Query-Id"] = query.query_id
            headers["X-ClickHouse-Timezone"] = (
                query.settings.get("session_timezone") or self.engine.timezone
            )
            return await self._query(request, query, headers)
        except QueryError as error:
            headers["X-ClickHouse-Exception-Code"] = str(error.code)
            headers["Content-Type"] = _DEFAULT_CONTENT_TYPE
            body = error.body(self.engine.version)
            response = web.Response(status=error.status, body=body, headers=headers)
            if not request.content.at_eof():  # a body that nobody reads ends the connection
                response.force_close()
            return response

    async def _query(
        self, request: web.Request, query: QueryRequest, headers: dict[str, str]
    ) -> web.StreamResponse:
        pieces = await self._body(request)
        if self._running >= self.limits.concurrent_queries:
            raise query_error(
                TOO_MANY_SIMULTANEOUS_QUERIES,
                f"Too many simultaneous queries. Maximum: {self.limits.concurrent_queries}",
            )
        if self.stopping:
            raise query_error(ABORTED, "Server is shutting down")
        self._running += 1
        try:
            answer, body = await asyncio.get_running_loop().run_in_executor(
                self.workers, self._work, query, pieces
            )
        finally:
            self._running -= 1
        headers["X-ClickHouse-Summary"] = _summary(answer, len(body))
        headers["X-ClickHouse-Format"] = answer.format_name
        headers["Content-Type"] = _CONTENT_TYPES.get(answer.format_name, _DEFAULT_CONTENT_TYPE)
        if query.answer_encoding and not query.answer_is_framed:
            headers["Content-Encoding"] = query.answer_encoding
        response = web.StreamResponse(headers=headers)
        response.content_length = len(body)
        await response.prepare(request)
        if request.method != "HEAD":
            await response.write(body)
        await response.write_eof()
        return response

    async def _body(self, request: web.Request) -> list[bytes]:
        pieces: list[bytes] = []
        size = 0
        async for piece in request.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > self.limits.body_bytes:
                raise query_error(
                    QUERY_IS_TOO_LARGE,
                    f"Body is larger than the limit of {self.limits.body_bytes} bytes",
                )
        return pieces

    def _work(self, query: QueryRequest, pieces: list[bytes]) -> tuple[Answer, bytes | memoryview]:
        answer = self.engine.run(query, self._plain(query, pieces))
        if answer.format_name == "Native" and query.protocol_version >= FIRST_REVISION:
            answer = replace(answer, data=memoryview(b"".join(with_revision(answer.data))))
        if query.answer_is_framed:
            require_checksums()
            return answer, b"".join(framed(answer.data))
        if query.answer_encoding:
            return answer, encoded(answer.data, query.answer_encoding)
        return answer, answer.data

    def _plain(self, query: QueryRequest, pieces: list[bytes]) -> Iterator[bytes]:
        body = decoded(pieces, query.body_encoding)
        if query.body_is_framed:
            require_checksums()
            body = unframed(body)
        return bounded(body, self.limits.body_bytes)


async def _form_fields(request: web.Request) -> dict[str, str]:
    """Return the query and parameters that a client moved from the URL to a form for their length.

    Raises
    ------
    QueryError
        A part is a file, which is an external table; or the form is too large or no form.
    """
    if not request.content_type.startswith("multipart/"):
        return {}
    try:
        form = await request.post()
    except (ValueError, web.HTTPRequestEntityTooLarge) as error:
        raise query_error(BAD_ARGUMENTS, f"Form cannot be read: {error}") from error
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    if len(fields) != len(form):
        raise query_error(NOT_IMPLEMENTED, "External tables are not supported here")
    return fields


def _summary(answer: Answer, body_bytes: int) -> str:
    counts = {
        "read_rows": answer.read_rows,
        "read_bytes": answer.read_bytes,
        "written_rows": answer.written_rows,
        "written_bytes": answer.written_bytes,
        "total_rows_to_read": answer.read_rows,
        "result_rows": answer.result_rows or answer.written_rows,
        "result_bytes": body_bytes,
        "elapsed_ns": int(answer.elapsed_seconds * 1e9),
    }
    return json.dumps({name: str(count) for name, count in counts.items()}, separators=(",", ":"))


def _no_handler(path: str) -> web.Response:
    text = f"There is no handle {path}\n\nUse / or /ping for health checks.\n"
    return web.Response(status=404, text=text)
