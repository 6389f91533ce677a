"""What a configuration means for the kernel, checked as a whole. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.gnmi.errors import invalid
from simulator.gnmi.paths import Elem, Elems, to_text
from simulator.linux.configuration import Value, names_of, protocol_number
from simulator.linux.kernel import PolicyRule
from simulator.linux.routing import table_of
from simulator.linux.shape import Shape

_LEAF = {
    "source-address": "source",
    "destination-address": "target",
    "source-port": "source_ports",
    "destination-port": "target_ports",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A switch's configuration as the kernel and the routes need it.

    Attributes
    ----------
    rules, bound
        Those of the policy that is applied, and the interfaces it is applied on.
    weights
        By (prefix, spine).
    off
        Interfaces that are not enabled.
    """

    rules: frozenset[PolicyRule]
    bound: frozenset[str]
    weights: Mapping[tuple[str, str], int]
    off: frozenset[str]


def compiled(shape: Shape, switch: str, values: Mapping[Elems, Value]) -> Compiled:
    """Return what is to be forwarded how.

    Raises
    ------
    GnmiError
        INVALID_ARGUMENT: a rule is incomplete or has a next hop that is no neighbour, an interface
        or policy that is named does not exist, or two policies are applied.
    """
    policies = _policies(values)
    bound = _bindings(shape, switch, values)
    applied = set(bound.values())
    for policy in applied - policies.keys():
        raise invalid(f"policy {policy!r} is applied and does not exist")
    if len(applied) > 1:
        raise invalid(f"policies {sorted(applied)} are applied, this switch takes one")
    # A rule is checked also while its policy is not applied.
    rules = {
        name: frozenset(_rule(shape, switch, number, told) for number, told in numbered.items())
        for name, numbered in policies.items()
    }
    return Compiled(
        rules=rules[applied.pop()] if applied else frozenset(),
        bound=frozenset(bound),
        weights=_weights(shape, switch, values),
        off=_off(shape, switch, values),
    )


def _policies(values: Mapping[Elems, Value]) -> dict[str, dict[int, dict[str, Value]]]:
    """Return the leaves of every rule by policy and sequence number."""
    policies: dict[str, dict[int, dict[str, Value]]] = {}
    for path, value in values.items():
        policy = _key(path, "policy", "policy-id")
        if policy is None:
            continue
        rules = policies.setdefault(policy, {})
        number = _key(path, "rule", "sequence-id")
        if number is not None:
            rules.setdefault(_integer(number, path), {})[path[-1].name] = value
        elif path[-1].name == "policy-id" and value != policy:
            raise invalid(f"{to_text(path)} cannot be {value!r}")
    return policies


def _rule(shape: Shape, switch: str, number: int, told: Mapping[str, Value]) -> PolicyRule:
    if told.get("sequence-id") != number:
        raise invalid(f"rule {number} has the sequence-id {told.get('sequence-id')!r}")
    neighbours = {c.upper.address: spine for spine, c in shape.uplinks_of(switch).items()}
    spine = neighbours.get(str(told.get("next-hop", "")))
    if spine is None:
        raise invalid(f"rule {number} has the next hop {told.get('next-hop')!r}: no neighbour")
    match = {field: _range(name, told.get(name, "")) for name, field in _LEAF.items()}
    protocol = protocol_number(told["protocol"]) if "protocol" in told else 0
    return PolicyRule(sequence_id=number, protocol=protocol, table=table_of(shape, spine), **match)


def _range(name: str, value: Value) -> str:
    """Return a value as the kernel takes it: a range of ports as ``lower:upper``."""
    text = str(value)
    if not name.endswith("-port") or not text:
        return text
    return text.replace("..", ":") if ".." in text else f"{text}:{text}"


def _bindings(shape: Shape, switch: str, values: Mapping[Elems, Value]) -> dict[str, str]:
    bound = {}
    for path, value in values.items():
        if names_of(path).endswith("/interface/config/apply-forwarding-policy"):
            interface = _key(path, "interface", "interface-id") or ""
            _check_interface(shape, switch, interface)
            bound[interface] = str(value)
    return bound


def _weights(
    shape: Shape, switch: str, values: Mapping[Elems, Value]
) -> dict[tuple[str, str], int]:
    ways = shape.uplinks_of(switch)
    weights = {}
    for path, value in values.items():
        if path[-1].name == "wecmp-weight":
            prefix, spine = _key(path, "static", "prefix"), _key(path, "next-hop", "index")
            if prefix not in shape.prefixes.values() or spine not in ways:
                raise invalid(f"no such path: {to_text(path)}")
            weights[str(prefix), str(spine)] = int(value)
    return weights


def _off(shape: Shape, switch: str, values: Mapping[Elems, Value]) -> frozenset[str]:
    off = set()
    for path, value in values.items():
        if path[0] == Elem("interfaces"):
            interface = _key(path, "interface", "name") or ""
            _check_interface(shape, switch, interface)
            if path[-1].name == "enabled" and value is False:
                off.add(interface)
    return frozenset(off)


def _check_interface(shape: Shape, switch: str, interface: str) -> None:
    if interface not in shape.interfaces(switch):
        raise invalid(f"{switch} has no interface {interface!r}")


def _key(path: Elems, name: str, key: str) -> str | None:
    for element in path:
        if element.name == name and element.keys:
            return dict(element.keys).get(key)
    return None


def _integer(text: str, path: Elems) -> int:
    if not text.isdigit():
        raise invalid(f"{to_text(path)} has a sequence-id that is no number")
    return int(text)
