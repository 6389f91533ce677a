"""What goes wrong, as ClickHouse tells it: code, name, HTTP status, text."""

import re
from http import HTTPStatus

SYNTAX_ERROR = 62
BAD_ARGUMENTS = 36
CHECKSUM_DOESNT_MATCH = 40
NOT_IMPLEMENTED = 48
UNKNOWN_COMPRESSION_METHOD = 89
TOO_MANY_SIMULTANEOUS_QUERIES = 202
EMPTY_QUERY = 211
QUERY_IS_TOO_LARGE = 229
ABORTED = 236
CANNOT_DECOMPRESS = 271
INTO_OUTFILE_NOT_ALLOWED = 358
SESSION_NOT_FOUND = 372
SESSION_IS_LOCKED = 373
INVALID_SESSION_TIMEOUT = 374
AUTHENTICATION_FAILED = 516

_UNKNOWN_EXCEPTION = 1002

_NAMES = {
    SYNTAX_ERROR: "SYNTAX_ERROR",
    BAD_ARGUMENTS: "BAD_ARGUMENTS",
    CHECKSUM_DOESNT_MATCH: "CHECKSUM_DOESNT_MATCH",
    NOT_IMPLEMENTED: "NOT_IMPLEMENTED",
    UNKNOWN_COMPRESSION_METHOD: "UNKNOWN_COMPRESSION_METHOD",
    TOO_MANY_SIMULTANEOUS_QUERIES: "TOO_MANY_SIMULTANEOUS_QUERIES",
    EMPTY_QUERY: "EMPTY_QUERY",
    QUERY_IS_TOO_LARGE: "QUERY_IS_TOO_LARGE",
    ABORTED: "ABORTED",
    CANNOT_DECOMPRESS: "CANNOT_DECOMPRESS",
    INTO_OUTFILE_NOT_ALLOWED: "INTO_OUTFILE_NOT_ALLOWED",
    SESSION_NOT_FOUND: "SESSION_NOT_FOUND",
    SESSION_IS_LOCKED: "SESSION_IS_LOCKED",
    INVALID_SESSION_TIMEOUT: "INVALID_SESSION_TIMEOUT",
    AUTHENTICATION_FAILED: "AUTHENTICATION_FAILED",
    _UNKNOWN_EXCEPTION: "UNKNOWN_EXCEPTION",
}

# The server's own table of codes and statuses; every other code is a 500.
_STATUS_CODES = {
    HTTPStatus.UNAUTHORIZED: (194,),
    HTTPStatus.FORBIDDEN: (192, 193, 497, 512, 516),
    HTTPStatus.BAD_REQUEST: (
        *(6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321),
        *(376, 427, 441, 675, 676),
    ),
    HTTPStatus.NOT_FOUND: (46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511),
    HTTPStatus.REQUEST_TIMEOUT: (159,),
    HTTPStatus.LENGTH_REQUIRED: (381,),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (229,),
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: (779,),
    HTTPStatus.NOT_IMPLEMENTED: (48,),
    HTTPStatus.SERVICE_UNAVAILABLE: (76, 209, 439),
}
_STATUS = {code: status for status, codes in _STATUS_CODES.items() for code in codes}

_ENGINE_TEXT = re.compile(r"Code: (\d+)\. DB::Exception: (.*)\Z", re.DOTALL)
_VERSION_TEXT = re.compile(r" \(version [0-9.]+( \([^()]*\))?\)")


class QueryError(Exception):
    """A query that failed; `code` is ClickHouse's number, the text ends in its `(NAME)`."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text

    @property
    def status(self) -> HTTPStatus:
        return _STATUS.get(self.code, HTTPStatus.INTERNAL_SERVER_ERROR)

    def body(self, version: str) -> bytes:
        return f"Code: {self.code}. DB::Exception: {self.text} (version {version})\n".encode()


def query_error(code: int, message: str) -> QueryError:
    """Error of our own, in the engine's words: a full stop and the code's name are added."""
    return QueryError(code, f"{message}. ({_NAMES[code]})")


def from_engine(error: Exception) -> QueryError:
    """Error that the engine raised, whose only form is its text."""
    found = _ENGINE_TEXT.search(str(error))
    if found is None:
        return query_error(_UNKNOWN_EXCEPTION, str(error).rstrip("."))
    return QueryError(int(found[1]), _VERSION_TEXT.sub("", found[2]).strip())
