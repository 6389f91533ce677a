"""The leaves of a switch's OpenConfig tree, and where each gets its value."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from simulator.gnmi.config import Enabled, Key, RuleHop, Weight, rule_hops
from simulator.gnmi.lldp import Neighbour, neighbours
from simulator.gnmi.paths import Elem, Elems, elem, elems
from simulator.world.steering import POLICY, port_range, sequence_of
from simulator.world.world import World

LeafType = Literal["string", "enum", "bool", "uint32", "uint64", "decimal64"]
LeafValue = str | bool | int | float | None
Read = Callable[[], LeafValue]

_PACKET_BYTES = 4096
_LOSSLESS_QUEUE = "3"
_SPEEDS = {400e9: "SPEED_400GB", 800e9: "SPEED_800GB", 1600e9: "SPEED_1600GB"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A leaf below a list entry.

    Attributes
    ----------
    entry
        Path of the list entry, or of a top container.
    relative
        The rest of the leaf's path.
    read
        Its value now; None while the leaf does not exist.
    key
        What a Set of it changes; None where it is read-only.
    counts
        It moves all the time: TARGET_DEFINED samples it.
    """

    entry: Elems
    relative: Elems
    type: LeafType
    read: Read
    key: Key | None = None
    counts: bool = False

    @property
    def path(self) -> Elems:
        return (*self.entry, *self.relative)


def leaves_of(world: World, switch: str) -> list[Leaf]:
    """Return a switch's leaves, in the order of its list entries."""
    ports = [n for n, (owner, _) in enumerate(world.fabric.wiring.port_names) if owner == switch]
    leaves = [*_system(world, switch), *_lldp_system(switch)]
    for port in ports:
        leaves += _interface(world, port)
    for port in ports:
        leaves += _queue(world, port)
    heard = neighbours(world)
    for port in ports:
        leaves += _lldp(world, port, heard[port])
    if switch in world.names.leaves:
        own = world.names.leaves.index(switch)
        leaves += _routes(world, own)
        for rule in rule_hops(world, own):
            leaves += _rule(world, rule)
    return leaves


def _system(world: World, switch: str) -> Iterator[Leaf]:
    top = elems("system")
    yield Leaf(entry=top, relative=elems("state", "hostname"), type="string", read=lambda: switch)
    yield Leaf(
        entry=top,
        relative=elems("state", "boot-time"),
        type="uint64",
        read=lambda: world.start_ns,
    )


def _lldp_system(switch: str) -> Iterator[Leaf]:
    relative = elems("state", "system-name")
    yield Leaf(entry=elems("lldp"), relative=relative, type="string", read=lambda: switch)


def _interface(world: World, port: int) -> Iterator[Leaf]:
    name = world.fabric.wiring.port_names[port][1]
    entry = (Elem("interfaces"), elem("interface", name=name))
    for relative, kind, read in _status(world, port, name):
        yield Leaf(entry=entry, relative=elems(*relative.split("/")), type=kind, read=read)
    yield Leaf(
        entry=entry,
        relative=elems("config", "enabled"),
        type="bool",
        read=lambda: bool(world.fabric.enabled[port]),
        key=Enabled(port),
    )
    for relative, read in _counters(world, port):
        yield Leaf(
            entry=entry,
            relative=elems(*relative.split("/")),
            type="uint64",
            read=read,
            counts=True,
        )
    yield Leaf(
        entry=entry,
        relative=elems("ethernet", "state", "pre-fec-ber", "instant"),
        type="decimal64",
        read=lambda: float(world.fabric.bit_error_ratio[port]),
        counts=True,
    )


def _status(world: World, port: int, name: str) -> list[tuple[str, LeafType, Read]]:
    fabric = world.fabric
    links = fabric.wiring.line_rate[fabric.wiring.receiver == port]
    speed = _SPEEDS.get(float(links[0]), "SPEED_UNKNOWN")
    return [
        ("name", "string", lambda: name),
        ("config/name", "string", lambda: name),
        ("state/name", "string", lambda: name),
        ("state/enabled", "bool", lambda: bool(fabric.enabled[port])),
        ("state/admin-status", "enum", lambda: "UP" if fabric.enabled[port] else "DOWN"),
        ("state/oper-status", "enum", lambda: "UP" if fabric.port_up()[port] else "DOWN"),
        ("state/last-change", "uint64", lambda: int(fabric.last_change_ns[port])),
        ("ethernet/state/port-speed", "enum", lambda: speed),
    ]


def _counters(world: World, port: int) -> list[tuple[str, Read]]:
    counters = world.fabric.counters

    def count(name: str, per: int = 1) -> Read:
        values = counters[name]
        return lambda: int(values[port]) // per

    zero: Read = lambda: 0  # noqa: E731 - one of many readers in a table
    state, ethernet = "state/counters/", "ethernet/state/counters/"
    return [
        (state + "in-octets", count("in_octets")),
        (state + "out-octets", count("out_octets")),
        (state + "in-pkts", count("in_octets", _PACKET_BYTES)),
        (state + "out-pkts", count("out_octets", _PACKET_BYTES)),
        (state + "in-unicast-pkts", count("in_octets", _PACKET_BYTES)),
        (state + "out-unicast-pkts", count("out_octets", _PACKET_BYTES)),
        (state + "in-errors", count("in_errors")),
        (state + "out-errors", zero),
        (state + "in-discards", zero),
        (state + "out-discards", count("queue_dropped")),
        (state + "in-fcs-errors", count("in_errors")),
        (ethernet + "in-crc-errors", count("in_errors")),
        (ethernet + "fec-corrected-blocks", count("fec_corrected")),
        (ethernet + "fec-uncorrectable-blocks", count("fec_uncorrectable")),
    ]


def _queue(world: World, port: int) -> Iterator[Leaf]:
    fabric = world.fabric
    name = fabric.wiring.port_names[port][1]
    entry = (
        *elems("qos", "interfaces"),
        elem("interface", interface_id=name),
        *elems("output", "queues"),
        elem("queue", name=_LOSSLESS_QUEUE),
    )
    readers: list[tuple[str, Read]] = [
        ("transmit-octets", lambda: int(fabric.counters["out_octets"][port])),
        ("transmit-pkts", lambda: int(fabric.counters["out_octets"][port]) // _PACKET_BYTES),
        ("dropped-pkts", lambda: int(fabric.counters["queue_dropped"][port])),
        ("ecn-marked-pkts", lambda: int(fabric.counters["ecn_marked"][port])),
        ("max-queue-len", lambda: int(fabric.queue_bytes[port])),
    ]
    yield Leaf(
        entry=entry, relative=elems("state", "name"), type="string", read=lambda: _LOSSLESS_QUEUE
    )
    for leaf, read in readers:
        yield Leaf(
            entry=entry, relative=elems("state", leaf), type="uint64", read=read, counts=True
        )


def _lldp(world: World, port: int, heard: Neighbour) -> Iterator[Leaf]:
    """Yield a port's neighbour, which is there while the port is up."""
    name = world.fabric.wiring.port_names[port][1]
    entry = (
        *elems("lldp", "interfaces"),
        elem("interface", name=name),
        *elems("neighbors"),
        elem("neighbor", id="1"),
    )

    def while_up(value: str | bool) -> Read:
        return lambda: value if world.fabric.port_up()[port] else None

    state: list[tuple[str, LeafType, str]] = [
        ("id", "string", "1"),
        ("system-name", "string", heard.system_name),
        ("port-id", "string", heard.port_id),
        ("port-id-type", "enum", "INTERFACE_NAME"),
    ]
    for leaf, kind, value in state:
        yield Leaf(entry=entry, relative=elems("state", leaf), type=kind, read=while_up(value))
    capability = f"openconfig-lldp-types:{heard.capability}"
    entry = (*entry, *elems("capabilities"), elem("capability", name=capability))
    yield Leaf(entry=entry, relative=elems("state", "name"), type="enum", read=while_up(capability))
    yield Leaf(entry=entry, relative=elems("state", "enabled"), type="bool", read=while_up(True))


def _routes(world: World, own: int) -> Iterator[Leaf]:
    for key in (key for key in world.fabric.weights if key[0] == own):
        yield from _next_hop(world, Weight(*key))


def _next_hop(world: World, key: Weight) -> Iterator[Leaf]:
    index = world.names.spines[key.spine]
    entry = (
        Elem("network-instances"),
        elem("network-instance", name="default"),
        Elem("protocols"),
        elem("protocol", identifier="STATIC", name="DEFAULT"),
        Elem("static-routes"),
        elem("static", prefix=world.names.prefix(key.target_leaf)),
        Elem("next-hops"),
        elem("next-hop", index=index),
    )
    weights = world.fabric.weights

    def in_force() -> int:
        weight = weights[key]
        return 1 if weight is None else weight

    for container in ("config", "state"):
        yield Leaf(
            entry=entry, relative=elems(container, "index"), type="string", read=lambda: index
        )
    yield Leaf(
        entry=entry,
        relative=elems("config", "wecmp-weight"),
        type="uint32",
        read=lambda: weights[key],
        key=key,
    )
    yield Leaf(entry=entry, relative=elems("state", "wecmp-weight"), type="uint32", read=in_force)


def _rule(world: World, key: RuleHop) -> Iterator[Leaf]:
    """Yield a static rule: its next hop can be written, the source ports it is for cannot."""
    sequence = sequence_of(key.number)
    first, last = port_range(key.number)
    hops = world.fabric.steering.next_hops
    entry = (
        Elem("network-instances"),
        elem("network-instance", name="default"),
        *elems("policy-forwarding", "policies"),
        elem("policy", policy_id=POLICY),
        Elem("rules"),
        elem("rule", sequence_id=str(sequence)),
    )

    def address() -> str | None:
        spine = hops[key.leaf, key.number]
        return None if spine is None else key.addresses[spine]

    told: list[tuple[str, LeafType, Read]] = [
        ("config/sequence-id", "uint32", lambda: sequence),
        ("transport/config/source-port", "string", lambda: f"{first}..{last}"),
    ]
    for relative, kind, read in told:
        yield Leaf(entry=entry, relative=elems(*relative.split("/")), type=kind, read=read)
    yield Leaf(
        entry=entry,
        relative=elems("action", "config", "next-hop"),
        type="string",
        read=address,
        key=key,
    )
