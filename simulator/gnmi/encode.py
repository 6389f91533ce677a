"""Leaves as gNMI notifications, in PROTO or JSON_IETF."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from gnmi_pb import gnmi_pb2

from simulator.gnmi.paths import Elems, covers, to_message
from simulator.gnmi.tree import Leaf, LeafType, LeafValue

_MODULES = {
    "interfaces": "openconfig-interfaces",
    "qos": "openconfig-qos",
    "network-instances": "openconfig-network-instance",
    "system": "openconfig-system",
    "lldp": "openconfig-lldp",
    "ethernet": "openconfig-if-ethernet",
}
_BY_PROTO = {
    "string": "string_val",
    "enum": "string_val",
    "bool": "bool_val",
    "uint32": "uint_val",
    "uint64": "uint_val",
    "decimal64": "double_val",
}
PROTO, JSON_IETF = gnmi_pb2.PROTO, gnmi_pb2.JSON_IETF


def typed(kind: LeafType, value: LeafValue, encoding: int) -> gnmi_pb2.TypedValue:
    if encoding == PROTO:
        return gnmi_pb2.TypedValue(**{_BY_PROTO[kind]: value})
    return gnmi_pb2.TypedValue(json_ietf_val=json.dumps(_ietf(kind, value)).encode())


def _ietf(kind: LeafType, value: LeafValue) -> str | bool | int | float | None:
    """Return the value as RFC 7951 writes it: what JSON's numbers cannot hold is text."""
    if kind == "uint64":
        return str(value)
    return f"{value:.18f}" if kind == "decimal64" else value


class LeafEncoder:
    """Turns leaves into notifications, one per list entry; paths are made once.

    Parameters
    ----------
    target, origin
        As the request's prefix names them; every notification's prefix repeats them.
    """

    def __init__(self, *, encoding: int, target: str, origin: str) -> None:
        self._encoding = encoding
        self._target = target
        self._origin = origin
        self._prefixes: dict[Elems, gnmi_pb2.Path] = {}
        self._paths: dict[Elems, gnmi_pb2.Path] = {}

    def notifications(
        self, values: Iterable[tuple[Leaf, LeafValue]], time_ns: int
    ) -> list[gnmi_pb2.Notification]:
        """Return the leaves' values; a value of None is a delete."""
        return [
            self._notification(entry, list(group), time_ns)
            for entry, group in groupby(values, key=lambda pair: pair[0].entry)
        ]

    def prefix(self, entry: Elems) -> gnmi_pb2.Path:
        if entry not in self._prefixes:
            self._prefixes[entry] = to_message(entry, target=self._target, origin=self._origin)
        return self._prefixes[entry]

    def _notification(
        self, entry: Elems, values: Sequence[tuple[Leaf, LeafValue]], time_ns: int
    ) -> gnmi_pb2.Notification:
        return gnmi_pb2.Notification(
            timestamp=time_ns,
            prefix=self.prefix(entry),
            update=[
                gnmi_pb2.Update(
                    path=self._path(leaf.relative), val=typed(leaf.type, value, self._encoding)
                )
                for leaf, value in values
                if value is not None
            ],
            delete=[self._path(leaf.relative) for leaf, value in values if value is None],
        )

    def _path(self, relative: Elems) -> gnmi_pb2.Path:
        if relative not in self._paths:
            self._paths[relative] = to_message(relative)
        return self._paths[relative]


def subtree(leaves: Iterable[tuple[Leaf, LeafValue]], top: Elems) -> Any:
    """Return what lies below a path as RFC 7951 JSON; the path's own value where it is a leaf."""
    tree: dict[str, Any] = {}
    for leaf, value in leaves:
        names = _qualified(leaf.path)[len(top) :]
        if not names:
            return _ietf(leaf.type, value)
        node = tree
        names[0] = f"{_modules(leaf.path)[len(top)]}:{leaf.path[len(top)].name}"
        for name, element in zip(names[:-1], leaf.path[len(top) :], strict=False):
            node = _child(node, name, element.keys)
        node[names[-1]] = _ietf(leaf.type, value)
    return tree


def _modules(path: Elems) -> list[str]:
    modules: list[str] = []
    for element in path:
        modules.append(modules[-1] if modules else _MODULES.get(element.name, ""))
        if element.name == "ethernet":
            modules[-1] = _MODULES["ethernet"]
    return modules


def _qualified(path: Elems) -> list[str]:
    """Return the names, with their module where it is not the parent's."""
    modules = _modules(path)
    return [
        f"{module}:{element.name}" if n == 0 or module != modules[n - 1] else element.name
        for n, (element, module) in enumerate(zip(path, modules, strict=True))
    ]


def _child(node: dict[str, Any], name: str, keys: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    if not keys:
        child: dict[str, Any] = node.setdefault(name, {})
        return child
    entries: list[dict[str, Any]] = node.setdefault(name, [])
    for entry in entries:
        if all(entry.get(key) == value for key, value in keys):
            return entry
    entries.append(dict(keys))
    return entries[-1]


def tops(leaves: Iterable[Leaf], pattern: Elems) -> list[Elems]:
    """Return the real paths that a pattern stands for, each once, in order.

    A pattern with ``...`` stands for the leaves themselves.
    """
    many = any(e.name == "..." for e in pattern)
    found: dict[Elems, None] = {}
    for leaf in leaves:
        if covers(pattern, leaf.path):
            found[leaf.path if many else leaf.path[: len(pattern)]] = None
    return list(found)
