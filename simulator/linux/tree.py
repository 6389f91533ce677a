"""The leaves of a lab switch: what is configured, and what the kernel counts."""

from collections.abc import Iterator, Mapping, Set
from typing import Final

from simulator.gnmi.paths import Elem, Elems, elem, elems
from simulator.gnmi.tree import Leaf, LeafType, LeafValue
from simulator.linux.configuration import SCHEMA, LabConfiguration, Value
from simulator.linux.kernel import Counters
from simulator.linux.shape import Shape

_COUNTERS: Final = (
    ("in-octets", "in_octets"),
    ("in-pkts", "in_pkts"),
    ("in-errors", "in_errors"),
    ("in-discards", "in_discards"),
    ("out-octets", "out_octets"),
    ("out-pkts", "out_pkts"),
    ("out-errors", "out_errors"),
    ("out-discards", "out_discards"),
)
_TYPES: Final[Mapping[str, LeafType]] = {
    "sequence-id": "uint32",
    "wecmp-weight": "uint32",
    "enabled": "bool",
    "type": "enum",
    "protocol": "enum",
}


def leaves_of(
    shape: Shape,
    switch: str,
    configuration: LabConfiguration,
    *,
    counters: Mapping[str, Counters],
    up: Set[str],
) -> list[Leaf]:
    """Return the leaves of a switch and its ports with their values as they are now."""
    leaves = [_leaf(elems("system"), ("state", "hostname"), "string", switch)]
    for interface in shape.interfaces(switch):
        leaves += _interface(interface, configuration.values, counters, is_up=interface in up)
    return leaves


def configured_leaves(shape: Shape, switch: str, configuration: LabConfiguration) -> list[Leaf]:
    """Return the leaves that stay as they are until something is configured.

    What can be configured is among them though it has no value yet: it is valid to ask for it.
    """
    leaves: list[Leaf] = [
        _leaf(elems(*names.split("/")[1:-1]), (names.rpartition("/")[2],), "string", None)
        for names in SCHEMA
        if configuration.knows(elems(*names.split("/")[1:]))
    ]
    if "weights" in configuration.features:
        leaves += _next_hops(shape, switch, configuration.values)
    told = [(p, v) for p, v in configuration.values.items() if _is_policy(p)]
    for path, value in sorted(told):
        entry = _entry_of(path)
        names = tuple(e.name for e in path[len(entry) :])
        leaves.append(_leaf(entry, names, _TYPES.get(names[-1], "string"), value))
    return leaves


def _interface(
    name: str, values: Mapping[Elems, Value], counters: Mapping[str, Counters], *, is_up: bool
) -> Iterator[Leaf]:
    entry = (Elem("interfaces"), elem("interface", name=name))
    enabled = values.get((*entry, *elems("config", "enabled")), True)
    status: list[tuple[tuple[str, str], LeafType, LeafValue]] = [
        (("config", "name"), "string", name),
        (("config", "enabled"), "bool", enabled),
        (("state", "name"), "string", name),
        (("state", "admin-status"), "enum", "UP" if enabled else "DOWN"),
        (("state", "oper-status"), "enum", "UP" if is_up else "DOWN"),
    ]
    for names, kind, value in status:
        yield _leaf(entry, names, kind, value)
    counted = counters.get(name)
    if counted is not None:
        for leaf, attribute in _COUNTERS:
            count = getattr(counted, attribute)
            yield _leaf(entry, ("state", "counters", leaf), "uint64", count, counts=True)


def _next_hops(shape: Shape, switch: str, values: Mapping[Elems, Value]) -> Iterator[Leaf]:
    for target, prefix in shape.prefixes.items():
        if target == switch:
            continue
        for spine in shape.uplinks_of(switch):
            entry = next_hop_entry(prefix, spine)
            weight = values.get((*entry, *elems("config", "wecmp-weight")))
            yield _leaf(entry, ("config", "index"), "string", spine)
            if weight is not None:
                yield _leaf(entry, ("config", "wecmp-weight"), "uint32", weight)
            in_force = 1 if weight is None else weight
            yield _leaf(entry, ("state", "wecmp-weight"), "uint32", in_force)


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
    entry: Elems,
    names: tuple[str, ...],
    kind: LeafType,
    value: LeafValue,
    *,
    counts: bool = False,
) -> Leaf:
    return Leaf(entry=entry, relative=elems(*names), type=kind, read=lambda: value, counts=counts)


def _is_policy(path: Elems) -> bool:
    return any(element.name == "policy-forwarding" for element in path)


def _entry_of(path: Elems) -> Elems:
    last = max(n for n, element in enumerate(path) if element.keys)
    return path[: last + 1]
