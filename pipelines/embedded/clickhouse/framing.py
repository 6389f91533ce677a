"""ClickHouse's own compressed frames (`compress=1`, `decompress=1`).

A frame: 16 bytes CityHash128 of what follows; 1 byte method; its own size from the method byte on
and the size of its data, little-endian 32 bits each; the compressed bytes.
"""

import struct
from collections.abc import Iterable, Iterator

import lz4.block
import zstandard

from pipelines.embedded.clickhouse.errors import (
    CANNOT_DECOMPRESS,
    CHECKSUM_DOESNT_MATCH,
    NOT_IMPLEMENTED,
    UNKNOWN_COMPRESSION_METHOD,
    query_error,
)

try:
    from clickhouse_cityhash.cityhash import CityHash128
except ImportError:  # no wheel for this platform
    CityHash128 = None

_HEADER = struct.Struct("<BII")
_CHECKSUM_BYTES = 16
_NONE, _LZ4, _ZSTD = 0x02, 0x82, 0x90
_BLOCK_BYTES = 1 << 20
_MAX_FRAME_BYTES = 1 << 30


def require_checksums() -> None:
    """Raise the error that tells the client when frames cannot be made or checked here."""
    if CityHash128 is None:
        raise query_error(
            NOT_IMPLEMENTED,
            "compress=1 and decompress=1 need the package 'clickhouse-cityhash'; "
            "use HTTP content encodings",
        )


def framed(data: memoryview) -> Iterator[bytes]:
    """Frames of an answer, LZ4, a mebibyte of data each."""
    for start in range(0, len(data), _BLOCK_BYTES):
        block = data[start : start + _BLOCK_BYTES]
        packed = lz4.block.compress(block, store_size=False)
        frame = _HEADER.pack(_LZ4, len(packed) + _HEADER.size, len(block)) + packed
        yield _checksum(frame) + frame


def unframed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return the data of each frame, its checksum verified.

    Raises
    ------
    QueryError
        A checksum, a size or a method is wrong, or the last frame is cut off.
    """
    buffer = bytearray()
    for piece in pieces:
        buffer += piece
        while (size := _frame_bytes(buffer)) and len(buffer) >= size:
            frame = bytes(buffer[:size])
            del buffer[:size]
            yield _open(frame)
    if buffer:
        raise query_error(CANNOT_DECOMPRESS, "Body ends in the middle of a compressed frame")


def _frame_bytes(buffer: bytearray) -> int:
    """Size with the checksum; 0 while its header is not complete."""
    if len(buffer) < _CHECKSUM_BYTES + _HEADER.size:
        return 0
    _, size, raw_size = _HEADER.unpack_from(buffer, _CHECKSUM_BYTES)
    if not _HEADER.size <= size <= _MAX_FRAME_BYTES or raw_size > _MAX_FRAME_BYTES:
        raise query_error(CANNOT_DECOMPRESS, f"Compressed frame claims {size} bytes")
    return int(size) + _CHECKSUM_BYTES


def _open(frame: bytes) -> bytes:
    body = frame[_CHECKSUM_BYTES:]
    if frame[:_CHECKSUM_BYTES] != _checksum(body):
        raise query_error(CHECKSUM_DOESNT_MATCH, "Checksum of a compressed frame doesn't match")
    method, _, raw_size = _HEADER.unpack_from(body)
    packed = body[_HEADER.size :]
    try:
        if method == _LZ4:
            return bytes(lz4.block.decompress(packed, uncompressed_size=raw_size))
        if method == _ZSTD:
            return zstandard.ZstdDecompressor().decompress(packed, max_output_size=raw_size)
    except (lz4.block.LZ4BlockError, zstandard.ZstdError) as error:
        raise query_error(CANNOT_DECOMPRESS, f"Cannot decompress a frame: {error}") from error
    if method == _NONE:
        return packed
    raise query_error(UNKNOWN_COMPRESSION_METHOD, f"Unknown compression method {method:#x}")


def _checksum(body: bytes) -> bytes:
    # The Python number has the first half of the C++ pair in its high bits.
    number = CityHash128(body)
    return struct.pack("<QQ", number >> 64, number & 0xFFFFFFFFFFFFFFFF)
