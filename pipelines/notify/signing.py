"""Signatures of Standard Webhooks."""

import base64
import binascii
import hashlib
import hmac

from pipelines.errors import ConfigError

_PREFIX = "whsec_"
_SIGNING = 2


def read_keys(text: str) -> tuple[bytes, ...]:
    """Return the keys of a secret file, one ``whsec_<base64>`` a line; the first two sign.

    Raises
    ------
    ConfigError
        A line is no such secret, or its key is not of 24 to 64 bytes. The secret is not told.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(_key(line, number) for number, line in enumerate(lines[:_SIGNING], start=1))


def _key(line: str, number: int) -> bytes:
    try:
        key = base64.b64decode(line.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigError(f"webhook secret in line {number} is not whsec_<base64>") from error
    if not line.startswith(_PREFIX) or not 24 <= len(key) <= 64:  # noqa: PLR2004 - the spec's
        raise ConfigError(
            f"webhook secret in line {number} is not whsec_<base64> of 24 to 64 bytes"
        )
    return key


def signature(
    keys: tuple[bytes, ...], *, webhook_id: str, timestamp_seconds: int, body: bytes
) -> str:
    """Return the header ``webhook-signature``: one signature per key, separated by spaces."""
    signed = f"{webhook_id}.{timestamp_seconds}.".encode() + body
    digests = (hmac.digest(key, signed, hashlib.sha256) for key in keys)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
