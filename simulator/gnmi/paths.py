"""gNMI paths as tuples, and how a request's path covers a leaf's."""

from collections.abc import Iterable
from typing import NamedTuple

from gnmi_pb import gnmi_pb2


class Elem(NamedTuple):
    """One element of a path; ``keys`` sorted by name."""

    name: str
    keys: tuple[tuple[str, str], ...] = ()


Elems = tuple[Elem, ...]
_MANY = "..."
_ANY = "*"


def elem(name: str, /, **keys: str) -> Elem:
    """Return an element; a key's underscores stand for hyphens."""
    return Elem(name, tuple(sorted((key.replace("_", "-"), v) for key, v in keys.items())))


def elems(*names: str) -> Elems:
    return tuple(Elem(name) for name in names)


def from_message(*paths: gnmi_pb2.Path) -> Elems:
    """Return the elements of a prefix and a path behind it, module names removed."""
    return tuple(
        Elem(e.name.rpartition(":")[2], tuple(sorted(e.key.items())))
        for path in paths
        for e in path.elem
    )


def to_message(path: Elems, *, target: str = "", origin: str = "") -> gnmi_pb2.Path:
    return gnmi_pb2.Path(
        target=target,
        origin=origin,
        elem=[gnmi_pb2.PathElem(name=e.name, key=dict(e.keys)) for e in path],
    )


def to_text(path: Iterable[Elem]) -> str:
    """Return the form people write: ``/interfaces/interface[name=Ethernet1]``."""
    return "".join(
        f"/{e.name}" + "".join(f"[{key}={value}]" for key, value in e.keys) for e in path
    )


def covers(pattern: Elems, path: Elems, *, names_only: bool = False) -> bool:
    """Return whether the path is what the pattern names, or lies below it.

    ``*`` stands for any element or key, ``...`` for any number of elements, a key left out for
    all of its values. With ``names_only`` keys are not compared: does the schema have it?
    """
    for at, (head, real) in enumerate(zip(pattern, path, strict=False)):
        if head.name == _MANY:
            return _covers_many(pattern[at + 1 :], path[at:], names_only=names_only)
        if head.name not in (real.name, _ANY):
            return False
        if head.keys and not names_only and not _keys_fit(head, real):
            return False
    rest = pattern[len(path) :]
    return all(element.name == _MANY for element in rest)


def _covers_many(pattern: Elems, path: Elems, *, names_only: bool) -> bool:
    """Return whether any end of the path is covered."""
    ends = (path[skip:] for skip in range(len(path) + 1))
    return any(covers(pattern, end, names_only=names_only) for end in ends)


def has_wildcard(path: Elems) -> bool:
    return any(e.name in (_ANY, _MANY) or any(value == _ANY for _, value in e.keys) for e in path)


def _keys_fit(pattern: Elem, real: Elem) -> bool:
    keys = dict(real.keys)
    return all(value in (_ANY, keys.get(key)) for key, value in pattern.keys)
