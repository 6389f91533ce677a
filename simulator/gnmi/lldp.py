"""Who is heard by LLDP on each port."""

from typing import NamedTuple

from simulator.world.world import World

_SWITCH, _HOST = "ROUTER", "STATION_ONLY"


class Neighbour(NamedTuple):
    """The device at a cable's other end, as it announces itself."""

    system_name: str
    port_id: str
    capability: str


def neighbours(world: World) -> dict[int, Neighbour]:
    """Return the neighbour by port number; every port has one while its cable works."""
    wiring, names = world.fabric.wiring, world.names
    heard = {}
    for sender, receiver in zip(wiring.sender, wiring.receiver, strict=True):
        if sender >= 0 and receiver >= 0:
            switch, interface = wiring.port_names[sender]
            heard[int(receiver)] = Neighbour(switch, interface, _SWITCH)
    for host, name in enumerate(names.hosts):
        for nic, link in enumerate(wiring.host_up[host]):
            heard[int(wiring.receiver[link])] = Neighbour(name, names.nic(nic), _HOST)
    return heard
