"""What a switch can be told: next hops' weights, rules' next hops, and interfaces on or off."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from simulator.world.world import World

Value = int | bool | str | None
LARGEST_WEIGHT = 2**32 - 1


class Weight(NamedTuple):
    """Weight of a leaf's next hop; None is not configured."""

    leaf: int
    target_leaf: int
    spine: int


class Enabled(NamedTuple):
    """Whether a port is on."""

    port: int


class RuleHop(NamedTuple):
    """Next hop of a leaf's rule for a class of source ports, one of ``addresses``.

    None: the rule sends nothing anywhere, its traffic is routed.
    """

    leaf: int
    number: int
    addresses: tuple[str, ...]


Key = Weight | Enabled | RuleHop


def rule_hops(world: World, own: int) -> list[RuleHop]:
    """Return the rules of a leaf."""
    names = world.names
    addresses = tuple(names.spine_address(spine) for spine in range(len(names.spines)))
    return [RuleHop(*key, addresses) for key in world.fabric.steering.next_hops if key[0] == own]


@dataclass(frozen=True, slots=True)
class SwitchConfig:
    """The configuration of one switch, kept in the world."""

    world: World
    switch: str

    def keys(self) -> list[Key]:
        names, fabric = self.world.names, self.world.fabric
        ports = enumerate(fabric.wiring.port_names)
        keys: list[Key] = [Enabled(n) for n, (switch, _) in ports if switch == self.switch]
        if self.switch in names.leaves:
            own = names.leaves.index(self.switch)
            keys += [Weight(*key) for key in fabric.weights if key[0] == own]
            keys += rule_hops(self.world, own)
        return keys

    def read(self, key: Key) -> Value:
        if isinstance(key, Weight):
            return self.world.fabric.weights[key]
        if isinstance(key, RuleHop):
            spine = self.world.fabric.steering.next_hops[key.leaf, key.number]
            return None if spine is None else key.addresses[spine]
        return bool(self.world.fabric.enabled[key.port])

    def write(self, values: Mapping[Key, Value]) -> None:
        """Bring the configuration to these values at once; None is a leaf's default."""
        fabric = self.world.fabric
        before = fabric.port_up()
        for key, value in values.items():
            if isinstance(key, Weight):
                fabric.weights[key] = None if value is None else int(value)
            elif isinstance(key, RuleHop):
                spine = None if value is None else key.addresses.index(str(value))
                fabric.steering.next_hops[key.leaf, key.number] = spine
            else:
                fabric.enabled[key.port] = value is None or bool(value)
        fabric.last_change_ns[before != fabric.port_up()] = self.world.time_ns
        fabric.revision += 1

    def snapshot(self) -> dict[Key, Value]:
        return {key: self.read(key) for key in self.keys()}
