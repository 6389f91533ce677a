"""What a switch can be told: weights of next hops, and interfaces on or off."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from simulator.world.world import World

Value = int | bool | None
LARGEST_WEIGHT = 2**32 - 1


class Weight(NamedTuple):
    """Weight of a leaf's next hop; None is not configured."""

    leaf: int
    target_leaf: int
    spine: int


class Enabled(NamedTuple):
    """Whether a port is on."""

    port: int


Key = Weight | Enabled


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
        return keys

    def read(self, key: Key) -> Value:
        if isinstance(key, Weight):
            return self.world.fabric.weights[key]
        return bool(self.world.fabric.enabled[key.port])

    def write(self, values: Mapping[Key, Value]) -> None:
        """Bring the configuration to these values at once; None is a leaf's default."""
        fabric = self.world.fabric
        before = fabric.port_up()
        for key, value in values.items():
            if isinstance(key, Weight):
                fabric.weights[key] = None if value is None else int(value)
            else:
                fabric.enabled[key.port] = value is None or bool(value)
        fabric.last_change_ns[before != fabric.port_up()] = self.world.time_ns
        fabric.revision += 1

    def snapshot(self) -> dict[Key, Value]:
        return {key: self.read(key) for key in self.keys()}
