"""A lab switch's configuration: leaves by path, what a Set makes of them, what must hold. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address, ip_network
from typing import Any, Final

from gnmi_pb import gnmi_pb2

from simulator.gnmi.errors import invalid, unimplemented
from simulator.gnmi.paths import Elem, Elems, covers, from_message, has_wildcard, to_text
from simulator.gnmi.plain import plain_value

Value = str | int | bool
_INSTANCE: Final = "/network-instances/network-instance"
_POLICY: Final = f"{_INSTANCE}/policy-forwarding/policies/policy"
_RULE: Final = f"{_POLICY}/rules/rule"
_BINDING: Final = f"{_INSTANCE}/policy-forwarding/interfaces/interface"
_NEXT_HOP: Final = f"{_INSTANCE}/protocols/protocol/static-routes/static/next-hops/next-hop"
_LIST_KEYS: Final = {
    "network-instance": ("name",),
    "policy": ("policy-id",),
    "rule": ("sequence-id",),
    "static": ("prefix",),
    "next-hop": ("index",),
    "protocol": ("identifier", "name"),
}
_PORTS: Final = re.compile(r"^(\d{1,5})\.\.(\d{1,5})$")
_PROTOCOLS: Final = {"IP_TCP": 6, "IP_UDP": 17}
_LARGEST_PORT: Final = 65_535
LARGEST_SEQUENCE: Final = 22_000
LARGEST_WEIGHT: Final = 256  # of a hop of a Linux multipath route


def _text(value: Any) -> Value:
    if not isinstance(value, str) or not value:
        raise ValueError("not a text")
    return value


def _flag(value: Any) -> Value:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _number(lowest: int, highest: int) -> Callable[[Any], Value]:
    def fitting(value: Any) -> Value:
        if isinstance(value, bool) or not lowest <= int(value) <= highest:
            raise ValueError(f"not {lowest} to {highest}")
        return int(value)

    return fitting


def _prefix(value: Any) -> Value:
    return str(ip_network(value))


def _address(value: Any) -> Value:
    return str(ip_address(value))


def _protocol(value: Any) -> Value:
    name = str(value).rpartition(":")[2]
    by_number = {str(number): name for name, number in _PROTOCOLS.items()}
    name = by_number.get(name, name)
    if name not in _PROTOCOLS:
        raise ValueError(f"not one of {', '.join(_PROTOCOLS)}")
    return name


def _ports(value: Any) -> Value:
    text = str(value)
    match = _PORTS.match(text) or _PORTS.match(f"{text}..{text}")
    if match is None or not 0 < int(match[1]) <= int(match[2]) <= _LARGEST_PORT:
        raise ValueError("not a port, or a range lower..upper")
    return text


# What can be configured, by the path without keys: the feature it is of, and what it takes.
SCHEMA: Final[Mapping[str, tuple[str, Callable[[Any], Value]]]] = {
    "/interfaces/interface/config/name": ("", _text),
    "/interfaces/interface/config/enabled": ("", _flag),
    f"{_NEXT_HOP}/config/index": ("weights", _text),
    f"{_NEXT_HOP}/config/wecmp-weight": ("weights", _number(0, LARGEST_WEIGHT)),
    f"{_POLICY}/config/policy-id": ("policy", _text),
    f"{_POLICY}/config/type": ("policy", _text),
    f"{_RULE}/config/sequence-id": ("policy", _number(1, LARGEST_SEQUENCE)),
    f"{_RULE}/ipv4/config/source-address": ("policy", _prefix),
    f"{_RULE}/ipv4/config/destination-address": ("policy", _prefix),
    f"{_RULE}/ipv4/config/protocol": ("policy", _protocol),
    f"{_RULE}/transport/config/source-port": ("policy", _ports),
    f"{_RULE}/transport/config/destination-port": ("policy", _ports),
    f"{_RULE}/action/config/next-hop": ("policy", _address),
    f"{_BINDING}/config/interface-id": ("policy", _text),
    f"{_BINDING}/config/apply-forwarding-policy": ("policy", _text),
    f"{_BINDING}/interface-ref/config/interface": ("policy", _text),
}


def names_of(path: Elems) -> str:
    """Return a path without its keys."""
    return "".join(f"/{element.name}" for element in path)


@dataclass(slots=True)
class LabConfiguration:
    """The leaves that are set; those that are not have the device's defaults."""

    features: frozenset[str]
    values: dict[Elems, Value] = field(default_factory=dict)

    def snapshot(self) -> Mapping[Elems, Value]:
        return dict(self.values)

    def write(self, values: Mapping[Elems, Value]) -> None:
        """Bring the whole configuration to these values."""
        self.values = dict(values)

    def knows(self, path: Elems) -> bool:
        """Return whether this switch has leaves at or below the path."""
        return bool(_features(names_of(path)) & {"", *self.features})

    def edited(self, request: gnmi_pb2.SetRequest) -> dict[Elems, Value]:
        """Return the configuration as a Set would leave it: deletes, replaces, updates.

        Raises
        ------
        GnmiError
            INVALID_ARGUMENT: a path does not exist or has wildcards, or a value does not fit.
            UNIMPLEMENTED: this switch does not have the path, or union_replace is asked for.
        """
        if request.union_replace:
            raise unimplemented("union_replace is not supported")
        after = dict(self.values)
        for path in request.delete:
            self._cut(from_message(request.prefix, path), after)
        for update in request.replace:
            path = from_message(request.prefix, update.path)
            self._cut(path, after)
            self._put(path, update.val, after)
        for update in request.update:
            self._put(from_message(request.prefix, update.path), update.val, after)
        return after

    def _cut(self, path: Elems, after: dict[Elems, Value]) -> None:
        self._check(path)
        for leaf in [leaf for leaf in after if covers(path, leaf)]:
            del after[leaf]

    def _put(self, path: Elems, value: gnmi_pb2.TypedValue, after: dict[Elems, Value]) -> None:
        self._check(path)
        for leaf, plain in _flat(path, plain_value(value, path)):
            known = SCHEMA.get(names_of(leaf))
            if known is None:
                raise invalid(f"no such path: {to_text(leaf)}")
            self._check(leaf)
            try:
                after[leaf] = known[1](plain)
            except (TypeError, ValueError) as error:
                raise invalid(f"{to_text(leaf)} cannot be {plain!r}: {error}") from error

    def _check(self, path: Elems) -> None:
        if not path:
            raise invalid("the whole tree cannot be written")
        if has_wildcard(path):
            raise invalid(f"{to_text(path)} has wildcards")
        if not self.knows(path):
            raise unimplemented(f"no such path: {to_text(path)}")


@cache
def _features(names: str) -> frozenset[str]:
    """Return what has leaves at or below a path without keys."""
    told = SCHEMA.items()
    return frozenset(f for known, (f, _) in told if f"{known}/".startswith(f"{names}/"))


def protocol_number(name: Value) -> int:
    return _PROTOCOLS[str(name)]


def _flat(path: Elems, value: Any) -> Iterator[tuple[Elems, Any]]:
    """Yield the leaves of a JSON value; what a list entry is named by is in its path."""
    if not isinstance(value, dict):
        yield path, value
        return
    keys = _keys_of(path[-1].name, path) if path else ()
    for told, inner in value.items():
        name = told.rpartition(":")[2]
        if name in keys and not isinstance(inner, dict):
            continue
        for entry in inner if isinstance(inner, list) else [inner]:
            yield from _flat((*path, _entry(name, entry, path)), entry)


def _entry(name: str, value: Any, path: Elems) -> Elem:
    if not isinstance(value, dict):
        return Elem(name)
    told = {key.rpartition(":")[2]: inner for key, inner in value.items()}
    keys = _keys_of(name, (*path, Elem(name)))
    if not all(key in told for key in keys):
        raise invalid(f"an entry of {to_text(path)}/{name} does not name its {', '.join(keys)}")
    return Elem(name, tuple(sorted((key, str(told[key])) for key in keys)))


def _keys_of(name: str, path: Elems) -> tuple[str, ...]:
    if name == "interface":
        return ("interface-id",) if "policy-forwarding" in names_of(path) else ("name",)
    if name == "next-hop" and "static-routes" not in names_of(path):
        return ()
    return _LIST_KEYS.get(name, ())
