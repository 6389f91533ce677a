"""gNMI paths in one canonical form, however a device splits and spells them."""

import re
from collections.abc import Iterable, Iterator
from sys import intern
from typing import Final, NamedTuple

from gnmi_pb import gnmi_pb2 as gnmi

from pipelines.errors import DecodeError

_KEY: Final = re.compile(r"\[([^=\]]+)=((?:[^\]\\]|\\.)*)\]")
_MODULE: Final = re.compile(r"^[A-Za-z][A-Za-z0-9_.-]*:(?=[A-Za-z])")
_STEP: Final = re.compile(r"(?:[^/\[]|\[(?:[^\]\\]|\\.)*\])+")


class Step(NamedTuple):
    """One element: its name without module prefix, and its keys sorted by name."""

    name: str
    keys: tuple[tuple[str, str], ...] = ()


Steps = tuple[Step, ...]


def steps_of(*paths: gnmi.Path) -> Steps:
    """Return prefix and path joined; origin and module prefixes are left out.

    Devices differ in where they put them, and one leaf must be one series.
    """
    return tuple(step for path in paths for step in _steps(path))


def schema_path(steps: Iterable[Step]) -> str:
    """Return the path without keys: ``/interfaces/interface/state/counters/in-octets``."""
    return "/" + "/".join(step.name for step in steps)


def is_below(steps: Steps, ancestor: Steps) -> bool:
    """Tell whether a path lies at or below another.

    A key that the other lacks, or has as ``*``, fits any.
    """
    if len(steps) < len(ancestor):
        return False
    return all(
        mine.name == theirs.name
        and all(value == "*" or (key, value) in mine.keys for key, value in theirs.keys)
        for mine, theirs in zip(steps, ancestor, strict=False)
    )


def parse_path(text: str, *, origin: str = "") -> gnmi.Path:
    r"""Return a path as people write it: ``/interfaces/interface[name=Ethernet1]/state``.

    ``\]`` stands for a bracket within a key's value; ``origin:/path`` names an origin.

    Raises
    ------
    DecodeError
        (``bad_path``) An element has no name, or a key no end.
    """
    if not origin and re.match(r"[A-Za-z0-9_-]+:/", text):
        origin, _, text = text.partition(":")
    path = gnmi.Path(origin=origin)
    for written in _STEP.findall(text):
        name, bracket, _ = written.partition("[")
        keys = dict(_KEY.findall(written))
        if not name or (bracket and not keys):
            raise DecodeError("bad_path", f"{text!r} has the element {written!r}")
        unescaped = {key: re.sub(r"\\(.)", r"\1", value) for key, value in keys.items()}
        path.elem.add(name=name, key=unescaped)
    return path


def _steps(path: gnmi.Path) -> Iterator[Step]:
    for elem in path.elem:
        # The same few words in a great many paths: each is kept once.
        keys = tuple(
            sorted((intern(plain_name(key)), intern(value)) for key, value in elem.key.items())
        )
        # Some devices send several elements as one, or an empty one at the end.
        *outer, last = [name for name in elem.name.split("/") if name] or [""]
        yield from (Step(intern(plain_name(name))) for name in outer)
        if last:
            yield Step(intern(plain_name(last)), keys)
    if not path.elem:
        for written in path.element:  # the form before gNMI 0.4
            yield from _steps(parse_path(written))


def plain_name(name: str) -> str:
    """Return a name without its module: ``interfaces`` for ``openconfig-interfaces:interfaces``.

    SONiC's keys have colons too: ``Ethernet68:3``, ``RATES:oid:0x1`` stay whole.
    """
    return name if "oid:" in name else _MODULE.sub("", name)
