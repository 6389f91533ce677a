"""The leaves of a lab switch: what is configured, and what the kernel counts."""

from collections.abc import Callable, Iterator, Mapping, Set
from typing import Final

from simulator.gnmi.paths import Elem, Elems, elem, elems
from simulator.gnmi.tree import Leaf, LeafType, LeafValue, Read
from simulator.linux.configuration import SCHEMA, LabConfiguration, Value
from simulator.linux.kernel import Counters
from simulator.linux.shape import Shape

# In the order of `Counters`.
_COUNTERS: Final = (
    "in-octets",
    "in-pkts",
    "in-errors",
    "in-discards",
    "out-octets",
    "out-pkts",
    "out-errors",
    "out-discards",
)
_TYPES: Final[Mapping[str, LeafType]] = {
    "sequence-id": "uint32",
    "wecmp-weight": "uint32",
    "enabled": "bool",
    "type": "enum",
    "protocol": "enum",
}


def live_leaves(
    shape: Shape,
    switch: str,
    configuration: LabConfiguration,
    *,
    counters: Callable[[], Mapping[str, Counters]],
    up: Callable[[], Set[str]],
) -> list[Leaf]:
    """Return the leaves of a switch and its ports; each is read as it is when it is asked for."""
    leaves = [_leaf(elems("system"), ("state", "hostname"), "string", lambda: switch)]
    for interface in shape.interfaces(switch):
        leaves += _interface(interface, configuration, counters, up)
    return leaves


def configured_leaves(shape: Shape, switch: str, configuration: LabConfiguration) -> list[Leaf]:
    """Return the leaves that stay as they are until something is configured.

    What can be configured is among them though it has no value yet: it is valid to ask for it.
    """
    leaves: list[Leaf] = [
        _leaf(elems(*names.split("/")[1:-1]), (names.rpartition("/")[2],), "string", _fixed(None))
        for names in SCHEMA
        if configuration.knows(elems(*names.split("/")[1:]))
    ]
    if "weights" in configuration.features:
        leaves += _next_hops(shape, switch, configuration.values)
    told = [(p, v) for p, v in configuration.values.items() if _is_policy(p)]
    for path, value in sorted(told):
        entry = _entry_of(path)
        names = tuple(e.name for e in path[len(entry) :])
        leaves.append(_leaf(entry, names, _TYPES.get(names[-1], "string"), _fixed(value)))
    return leaves


def _interface(
    name: str,
    configuration: LabConfiguration,
    counters: Callable[[], Mapping[str, Counters]],
    up: Callable[[], Set[str]],
) -> Iterator[Leaf]:
    entry = (Elem("interfaces"), elem("interface", name=name))
    enabled = (*entry, *elems("config", "enabled"))

    def is_on() -> bool:
        return configuration.values.get(enabled, True) is True

    status: list[tuple[tuple[str, str], LeafType, Read]] = [
        (("config", "name"), "string", lambda: name),
        (("config", "enabled"), "bool", is_on),
        (("state", "name"), "string", lambda: name),
        (("state", "admin-status"), "enum", lambda: "UP" if is_on() else "DOWN"),
        (("state", "oper-status"), "enum", lambda: "UP" if name in up() else "DOWN"),
    ]
    for names, kind, read in status:
        yield _leaf(entry, names, kind, read)
    for place, leaf in enumerate(_COUNTERS):
        read = _count(name, place, counters)
        yield _leaf(entry, ("state", "counters", leaf), "uint64", read, counts=True)


def _count(name: str, place: int, counters: Callable[[], Mapping[str, Counters]]) -> Read:
    def count() -> LeafValue:
        told = counters().get(name)
        return None if told is None else told[place]

    return count


def _next_hops(shape: Shape, switch: str, values: Mapping[Elems, Value]) -> Iterator[Leaf]:
    for target, prefix in shape.prefixes.items():
        if target == switch:
            continue
        for spine in shape.uplinks_of(switch):
            entry = next_hop_entry(prefix, spine)
            weight = values.get((*entry, *elems("config", "wecmp-weight")))
            yield _leaf(entry, ("config", "index"), "string", _fixed(spine))
            if weight is not None:
                yield _leaf(entry, ("config", "wecmp-weight"), "uint32", _fixed(weight))
            in_force = 1 if weight is None else weight
            yield _leaf(entry, ("state", "wecmp-weight"), "uint32", _fixed(in_force))


def next_hop_entry(prefix: str, spine: str) -> Elems:
    return (
        Elem("network-instances"),
        elem("network-instance", name="default"),
        Elem("protocols"),
        elem("protocol", identifier="STATIC", name="DEFAULT"),
        Elem("static-routes"),
        elem("static", prefix=prefix),
        Elem("next-hops"),
        elem("next-hop", index=spine),
    )


def _leaf(
    entry: Elems, names: tuple[str, ...], kind: LeafType, read: Read, *, counts: bool = False
) -> Leaf:
    return Leaf(entry=entry, relative=elems(*names), type=kind, read=read, counts=counts)


def _fixed(value: LeafValue) -> Read:
    return lambda: value


def _is_policy(path: Elems) -> bool:
    return any(element.name == "policy-forwarding" for element in path)


def _entry_of(path: Elems) -> Elems:
    last = max(n for n, element in enumerate(path) if element.keys)
    return path[: last + 1]
