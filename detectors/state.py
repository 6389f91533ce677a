"""Detector state as bytes, with the version and parameters that it fits."""

import hashlib
import io
import pickle
import zlib
from importlib.metadata import version
from typing import Any

STATE_VERSION = 1
_DIGEST_BYTES = 16
# Only what states are made of; a state is read from a topic and from a file.
_ALLOWED_ROOTS = frozenset({"cluster", "detectors", "river", "numpy", "collections", "functools"})
_ALLOWED_BUILTINS = frozenset({"set", "frozenset", "getattr", "complex", "slice", "range"})


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        allowed = (
            name in _ALLOWED_BUILTINS
            if module == "builtins"
            else module.partition(".")[0] in _ALLOWED_ROOTS
        )
        if not allowed:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a detector's state")
        return super().find_class(module, name)


def fingerprint(parameters: str) -> str:
    """Return what a state must have been made with: versions, and a hash of the parameters."""
    digest = hashlib.blake2b(parameters.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"state {STATE_VERSION}, river {version('river')}, numpy {version('numpy')}, {digest}"


def pack(state: dict[str, Any], parameters: str) -> bytes:
    """Return the state with what it fits in front of it, on a line of its own."""
    body = zlib.compress(pickle.dumps(state, protocol=5), level=1)
    return fingerprint(parameters).encode() + b"\n" + body


def unpack(data: bytes, parameters: str) -> tuple[dict[str, Any] | None, str]:
    """Return the state, or None with the reason why it cannot be used."""
    head, _, body = data.partition(b"\n")
    wanted = fingerprint(parameters)
    if head.decode(errors="replace") != wanted:
        return None, f"state is of {head.decode(errors='replace')!r}, wanted is {wanted!r}"
    try:
        return _Unpickler(io.BytesIO(zlib.decompress(body))).load(), ""
    except (pickle.UnpicklingError, zlib.error, EOFError, AttributeError) as error:
        return None, f"state cannot be read: {error}"
