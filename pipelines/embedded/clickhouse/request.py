"""A query as it comes over HTTP: URL parameters and headers, before the body is read."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.embedded.clickhouse.encodings import chosen_encoding
from pipelines.embedded.clickhouse.errors import (
    BAD_ARGUMENTS,
    INVALID_SESSION_TIMEOUT,
    query_error,
)

# Parameters that are for the HTTP interface itself; all others are settings of the query.
_OWN = frozenset(
    (
        *("query", "database", "default_format", "compress", "decompress", "wait_end_of_query"),
        *("buffer_size", "query_id", "user", "password", "quota_key", "role", "stacktrace"),
        *("session_id", "session_check", "session_timeout", "close_session"),
        *("client_protocol_version", "enable_http_compression", "framing"),
    )
)
_MAX_SESSION_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a request asks of its session; `timeout_seconds` counts from the end of a request."""

    name: str
    must_exist: bool
    timeout_seconds: int
    closes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """A query without its body.

    Attributes
    ----------
    parameters
        Values of `{name:Type}` in the query, escaped as in TabSeparated.
    protocol_version
        Revision that the client reads Native blocks by; 0 is the plain form.
    body_is_framed, answer_is_framed
        ClickHouse's own compressed frames (`decompress=1`, `compress=1`).
    """

    query: bytes
    query_id: str
    database: str
    default_format: str
    settings: Mapping[str, str]
    parameters: Mapping[str, str]
    session: Session | None
    protocol_version: int
    body_encoding: str
    body_is_framed: bool
    answer_encoding: str
    answer_is_framed: bool

    @property
    def is_read_only(self) -> bool:
        return self.settings.get("readonly", "0") not in {"0", "false"}


def read_request(
    method: str, url_parameters: Mapping[str, str], headers: Mapping[str, str]
) -> QueryRequest:
    """Request of a URL and its headers.

    Raises
    ------
    QueryError
        A parameter of the interface has a value that it cannot have.
    """
    settings = {
        name: value
        for name, value in url_parameters.items()
        if name not in _OWN and not name.startswith("param_")
    }
    if method in {"GET", "HEAD"}:
        # As a server: what a browser's link can do must not change anything.
        settings.setdefault("readonly", "2")
        if settings["readonly"] == "0":
            settings["readonly"] = "2"
    compresses = _flag(url_parameters, "enable_http_compression")
    return QueryRequest(
        query=url_parameters.get("query", "").encode(),
        query_id=url_parameters.get("query_id") or str(uuid.uuid4()),
        database=url_parameters.get("database") or headers.get("X-ClickHouse-Database", ""),
        default_format=url_parameters.get("default_format")
        or headers.get("X-ClickHouse-Format")
        or "TabSeparated",
        settings=settings,
        parameters={
            name.removeprefix("param_"): value
            for name, value in url_parameters.items()
            if name.startswith("param_")
        },
        session=_session(url_parameters),
        protocol_version=_protocol_version(url_parameters),
        body_encoding=headers.get("Content-Encoding", "").strip().lower(),
        body_is_framed=_flag(url_parameters, "decompress"),
        answer_encoding=chosen_encoding(headers.get("Accept-Encoding", "")) if compresses else "",
        answer_is_framed=_flag(url_parameters, "compress"),
    )


def _session(url_parameters: Mapping[str, str]) -> Session | None:
    name = url_parameters.get("session_id", "")
    if not name:
        return None
    text = url_parameters.get("session_timeout", "60")
    if not text.isdecimal() or int(text) > _MAX_SESSION_SECONDS:
        raise query_error(INVALID_SESSION_TIMEOUT, f"Invalid session timeout: '{text}'")
    return Session(
        name=name,
        must_exist=_flag(url_parameters, "session_check"),
        timeout_seconds=int(text),
        closes=_flag(url_parameters, "close_session"),
    )


def _protocol_version(url_parameters: Mapping[str, str]) -> int:
    text = url_parameters.get("client_protocol_version", "0")
    if not text.isdecimal():
        raise query_error(BAD_ARGUMENTS, f"Parameter 'client_protocol_version' is {text!r}")
    return int(text)


def _flag(url_parameters: Mapping[str, str], name: str) -> bool:
    text = url_parameters.get(name, "0").lower()
    if text in {"1", "true"}:
        return True
    if text in {"0", "false", ""}:
        return False
    raise query_error(BAD_ARGUMENTS, f"Parameter '{name}' is {text!r}, wanted 0 or 1")
