"""The leaves of an answered Get by path, whether they came one by one or as trees of JSON."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from gnmi_pb import gnmi_pb2

from pipelines.drivers.gnmi_path import format_path, plain_text, text_of

# What an entry of a list is named by.
_KEYS: Final = {
    "network-instance": ("name",),
    "policy": ("policy-id",),
    "rule": ("sequence-id",),
    "protocol": ("identifier", "name"),
    "static": ("prefix",),
    "next-hop": ("index",),
}


def leaves_of(notification: gnmi_pb2.Notification) -> Iterator[tuple[str, str]]:
    """Yield path and value, as text, of every leaf a notification tells of.

    An entry of a list that this driver does not know, or that does not name its keys, is left out.
    """
    prefix = format_path(notification.prefix)
    for update in notification.update:
        path = prefix + _text(update.path.SerializeToString())
        value = text_of(update.val)
        if value is not None:
            yield path, value
            continue
        yield from _below(path, _json(update.val))


@lru_cache(maxsize=4096)
def _text(path: bytes) -> str:
    return format_path(gnmi_pb2.Path.FromString(path))


def _json(value: gnmi_pb2.TypedValue) -> Any:
    arm = value.WhichOneof("value")
    if arm not in {"json_val", "json_ietf_val"}:
        return None
    try:
        return json.loads(getattr(value, arm))
    except ValueError:
        return None


def _below(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for told, inner in value.items():
            name = told.rpartition(":")[2]
            entries = inner if isinstance(inner, list) else [inner]
            for entry in entries:
                at = _entry(path, name, entry) if isinstance(inner, list) else f"{path}/{name}"
                if at:
                    yield from _below(at, entry)
        return
    text = plain_text(value)
    if text is not None:
        yield path, text


def _entry(path: str, name: str, entry: Any) -> str:
    keys = _keys_of(path, name)
    if not isinstance(entry, dict) or not keys:
        return ""
    told = {key.rpartition(":")[2]: plain_text(inner) for key, inner in entry.items()}
    if not all(told.get(key) for key in keys):
        return ""
    return f"{path}/{name}" + "".join(f"[{key}={told[key]}]" for key in sorted(keys))


def _keys_of(path: str, name: str) -> tuple[str, ...]:
    if name == "interface":
        return ("interface-id",) if "/policy-forwarding" in path else ("name",)
    return _KEYS.get(name, ())
