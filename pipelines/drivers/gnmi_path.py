"""gNMI paths and values between their text form and the messages."""

import json
import re
from typing import Any

from gnmi_pb import gnmi_pb2

_ELEMENT = re.compile(r"/((?:[^/\[\]]|\[(?:[^\]\\]|\\.)*\])+)")
_NAME = re.compile(r"^[^\[]+")
_ESCAPED = re.compile(r"([\\\]])")
_BACKSLASHED = r"\\\1"
_KEY = re.compile(r"\[([^=\]]+)=((?:[^\]\\]|\\.)*)\]")


def parse_path(text: str) -> gnmi_pb2.Path:
    r"""Return the path; keys are written ``[name=value]``, with ``\]`` for a bracket in a value.

    Examples
    --------
    >>> path = parse_path("/a/b[prefix=10.0.0.0/24][name=x]/c")
    >>> [(elem.name, dict(elem.key)) for elem in path.elem]
    [('a', {}), ('b', {'prefix': '10.0.0.0/24', 'name': 'x'}), ('c', {})]
    """
    elements = []
    for match in _ELEMENT.finditer(text):
        name = _NAME.match(match[1])
        keys = {key: re.sub(r"\\(.)", r"\1", value) for key, value in _KEY.findall(match[1])}
        elements.append(gnmi_pb2.PathElem(name=name[0] if name else "", key=keys))
    return gnmi_pb2.Path(elem=elements)


def path_key(*paths: gnmi_pb2.Path) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return what two spellings of one path have in common; module prefixes are left out."""
    return tuple(
        (elem.name.rpartition(":")[2], tuple(sorted(elem.key.items())))
        for path in paths
        for elem in path.elem
    )


def integer_of(value: gnmi_pb2.TypedValue) -> int | None:
    """Return a value as an integer, whichever arm carries it; None when it is none."""
    try:
        return int(_raw_of(value))
    except (TypeError, ValueError):
        return None


def text_of(value: gnmi_pb2.TypedValue) -> str | None:
    """Return a single value as text, whichever arm carries it; None when it is none, or many."""
    try:
        return plain_text(_raw_of(value))
    except ValueError:
        return None


def _raw_of(value: gnmi_pb2.TypedValue) -> Any:
    """Return what the arm carries, JSON read; None without an arm. Raises ValueError: no JSON."""
    arm = value.WhichOneof("value")
    raw: Any = None if arm is None else getattr(value, arm)
    return json.loads(raw) if arm in {"json_val", "json_ietf_val"} else raw


def plain_text(raw: object) -> str | None:
    """Return a text, number or truth value as YANG writes it; None for anything else."""
    if isinstance(raw, bool):
        return str(raw).lower()
    return str(raw) if isinstance(raw, (str, int, float)) else None


def format_path(*paths: gnmi_pb2.Path) -> str:
    r"""Return the text that `parse_path` reads, module prefixes left out, keys in their order.

    Examples
    --------
    >>> format_path(parse_path("/a/oc:b[prefix=10.0.0.0/24]/c"))
    '/a/b[prefix=10.0.0.0/24]/c'
    """
    told = []
    for name, keys in path_key(*paths):
        told.append(f"/{name}")
        told += [f"[{key}={_ESCAPED.sub(_BACKSLASHED, value)}]" for key, value in keys]
    return "".join(told)


def typed(value: int | str | bool, encoding: int) -> gnmi_pb2.TypedValue:
    """Return an unsigned integer, text or truth value in an encoding."""
    if encoding == gnmi_pb2.PROTO:
        if isinstance(value, bool):
            return gnmi_pb2.TypedValue(bool_val=value)
        if isinstance(value, str):
            return gnmi_pb2.TypedValue(string_val=value)
        return gnmi_pb2.TypedValue(uint_val=value)
    body = json.dumps(value).encode()
    if encoding == gnmi_pb2.JSON:
        return gnmi_pb2.TypedValue(json_val=body)
    return gnmi_pb2.TypedValue(json_ietf_val=body)
