"""HTTP content encodings, as ClickHouse takes and gives them: gzip, deflate, zstd, lz4."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import lz4.frame
import zstandard

from pipelines.embedded.clickhouse.errors import (
    CANNOT_DECOMPRESS,
    QUERY_IS_TOO_LARGE,
    UNKNOWN_COMPRESSION_METHOD,
    query_error,
)

_GZIP_BITS, _ZLIB_BITS = 31, 15
_PREFERRED = ("lz4", "zstd", "gzip", "deflate")
_FAST_LEVEL = 3  # ClickHouse's http_zlib_compression_level


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes | None: ...
    def decompress(self, data: bytes, /) -> bytes: ...


_DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "gzip": lambda: zlib.decompressobj(_GZIP_BITS),
    "deflate": lambda: zlib.decompressobj(_ZLIB_BITS),
    "zstd": lambda: zstandard.ZstdDecompressor().decompressobj(),
    "lz4": lz4.frame.LZ4FrameDecompressor,
}


def decoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Pieces of the body without their content encoding; "" and identity pass unchanged.

    A body of several frames or members, one after the other, is read to its end.

    Raises
    ------
    QueryError
        The encoding is unknown, or the body is not in it or ends too early.
    """
    if encoding in {"", "identity"}:
        yield from pieces
        return
    if encoding not in _DECOMPRESSORS:
        raise query_error(UNKNOWN_COMPRESSION_METHOD, f"Unknown content encoding {encoding!r}")
    try:
        yield from _decompressed(pieces, _DECOMPRESSORS[encoding])
    except (zlib.error, zstandard.ZstdError, RuntimeError, EOFError) as error:
        raise query_error(CANNOT_DECOMPRESS, f"Body is not {encoding}: {error}") from error


def _decompressed(
    pieces: Iterable[bytes], new_decompressor: Callable[[], _Decompressor]
) -> Iterator[bytes]:
    decompressor: _Decompressor | None = None
    for piece in pieces:
        rest = piece
        while rest:
            decompressor = decompressor or new_decompressor()
            if data := decompressor.decompress(rest):
                yield data
            rest = (decompressor.unused_data or b"") if decompressor.eof else b""
            decompressor = None if decompressor.eof else decompressor
    if decompressor is not None:
        raise EOFError("it ends in the middle")


def bounded(pieces: Iterable[bytes], limit_bytes: int) -> Iterator[bytes]:
    """Return the pieces, up to a total size: a small body may unpack to a huge one."""
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit_bytes:
            raise query_error(
                QUERY_IS_TOO_LARGE, f"Body is larger than the limit of {limit_bytes} bytes"
            )
        yield piece


def chosen_encoding(accept: str) -> str:
    """Return the encoding of the answer for an `Accept-Encoding` header, or "" for none."""
    offered = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    return next((name for name in _PREFERRED if name in offered), "")


def encoded(data: memoryview, encoding: str) -> bytes:
    """Return the whole of an answer in a content encoding."""
    if encoding == "lz4":
        return bytes(lz4.frame.compress(data))
    if encoding == "zstd":
        return zstandard.ZstdCompressor(level=1).compress(data)
    bits = _GZIP_BITS if encoding == "gzip" else _ZLIB_BITS
    compressor = zlib.compressobj(_FAST_LEVEL, wbits=bits)
    return compressor.compress(data) + compressor.flush()
