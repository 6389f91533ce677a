"""The fabric's ports and directed links, numbered once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.world.names import Names

NO_PORT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """Who is plugged into whom; ports and directed links by number.

    Attributes
    ----------
    port_names
        (switch, interface) by port number.
    sender, receiver
        Port number at either end of a directed link, `NO_PORT` where that end is a NIC.
    up, down
        Directed link by (leaf, spine).
    host_up, host_down
        Directed link by (host, NIC).
    line_rate
        Bits per second by directed link.
    """

    port_names: tuple[tuple[str, str], ...]
    port_number: dict[tuple[str, str], int]
    sender: NDArray[np.int64]
    receiver: NDArray[np.int64]
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    host_up: NDArray[np.int64]
    host_down: NDArray[np.int64]
    line_rate: NDArray[np.float64]

    @property
    def links(self) -> int:
        return len(self.line_rate)


def wire(names: Names) -> Wiring:
    """Return the wiring of a scenario: links are numbered up, down, from hosts, to hosts."""
    fabric = names.scenario.fabric
    port_names = _ports(names)
    number = {name: n for n, name in enumerate(port_names)}
    fabric_ends = [
        (number[leaf, names.uplink(s)], number[spine, names.downlink(n)])
        for n, leaf in enumerate(names.leaves)
        for s, spine in enumerate(names.spines)
    ]
    host_ends = [
        number[names.leaves[names.leaf_of(host)], names.host_interface(host, nic)]
        for host in range(len(names.hosts))
        for nic in range(fabric.gpus_per_host)
    ]
    lower = [end for end, _ in fabric_ends]
    upper = [end for _, end in fabric_ends]
    nowhere = [NO_PORT] * len(host_ends)
    fabric_links, host_links = len(fabric_ends), len(host_ends)
    by_fabric = np.arange(fabric_links).reshape(fabric.leaves, fabric.spines)
    by_host = np.arange(host_links).reshape(len(names.hosts), fabric.gpus_per_host)
    return Wiring(
        port_names=port_names,
        port_number=number,
        sender=np.array(lower + upper + nowhere + host_ends),
        receiver=np.array(upper + lower + host_ends + nowhere),
        up=by_fabric,
        down=by_fabric + fabric_links,
        host_up=by_host + 2 * fabric_links,
        host_down=by_host + 2 * fabric_links + host_links,
        line_rate=np.concatenate(
            (
                np.full(2 * fabric_links, fabric.uplink_bits_per_second),
                np.full(2 * host_links, fabric.nic_bits_per_second),
            )
        ),
    )


def _ports(names: Names) -> tuple[tuple[str, str], ...]:
    fabric = names.scenario.fabric
    down = fabric.hosts_per_leaf * fabric.gpus_per_host
    leaves = [
        (leaf, interface)
        for leaf in names.leaves
        for interface in (
            *(f"Ethernet{n + 1}" for n in range(down)),
            *(names.uplink(s) for s in range(fabric.spines)),
        )
    ]
    spines = [(s, names.downlink(n)) for s in names.spines for n in range(fabric.leaves)]
    return (*leaves, *spines)
