"""gNMI paths and values between their text form and the messages."""

import json
import re

from gnmi_pb import gnmi_pb2

_ELEMENT = re.compile(r"/((?:[^/\[\]]|\[(?:[^\]\\]|\\.)*\])+)")
_NAME = re.compile(r"^[^\[]+")
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
    arm = value.WhichOneof("value")
    if arm is None:
        return None
    raw = getattr(value, arm)
    if arm in {"json_val", "json_ietf_val"}:
        try:
            raw = json.loads(raw)
        except ValueError:
            return None
    try:
        return int(raw)
    except (TypeError, ValueError):
        return None


def typed(value: int, encoding: int) -> gnmi_pb2.TypedValue:
    """Return an unsigned integer in an encoding."""
    if encoding == gnmi_pb2.PROTO:
        return gnmi_pb2.TypedValue(uint_val=value)
    body = json.dumps(value).encode()
    if encoding == gnmi_pb2.JSON:
        return gnmi_pb2.TypedValue(json_val=body)
    return gnmi_pb2.TypedValue(json_ietf_val=body)
