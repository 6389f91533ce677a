"""Which spine a flow takes: by its source port's class, by hash, or by weight over all."""

import zlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simulator.world.names import Names

# The dynamic ports of RFC 6335 in equal classes, one a path.
FIRST_PORT = 49152
CLASS_PORTS = 1024
ANY_PORT = 0
# What a connection may be sent from.
PORTS = range(1024, 65536)
POLICY = "trimtab"


@dataclass
class Steering:
    """The policy rules of every leaf.

    Attributes
    ----------
    next_hops
        Spine by (leaf, class of source ports); None where the rule has no next hop.
    """

    names: Names
    next_hops: dict[tuple[int, int], int | None] = field(init=False)

    def __post_init__(self) -> None:
        fabric = self.names.scenario.fabric
        leaves = range(fabric.leaves if fabric.source_port_rules else 0)
        self.next_hops = {(n, k): k for n in leaves for k in range(fabric.spines)}

    def pinned(self, leaf: int, source_port: int) -> int | None:
        """Return the spine that a leaf's rules send a source port to; None when none fits."""
        if source_port == ANY_PORT:
            return None
        return self.next_hops.get((leaf, (source_port - FIRST_PORT) // CLASS_PORTS))


def sequence_of(number: int) -> int:
    """Return the sequence id of a class's rule."""
    return 10 * (number + 1)


def port_range(number: int) -> tuple[int, int]:
    """Return first and last source port of a class."""
    first = FIRST_PORT + number * CLASS_PORTS
    return first, first + CLASS_PORTS - 1


def hashed(ends: tuple[int, int, int], shares: NDArray[np.float64]) -> int:
    """Return the path that a switch's hash picks for a flow, each as often as its share says."""
    drawn = zlib.crc32(repr(ends).encode()) / 2**32
    return int(np.searchsorted(np.cumsum(shares), drawn * shares.sum(), side="right"))
