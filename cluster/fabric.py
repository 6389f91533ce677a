"""A fabric as arrays: switches by tier, the cables between them, and who is plugged in below."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from cluster.topology import Topology


@dataclass(frozen=True, slots=True)
class Names(Sequence[str]):
    """Names that are made when they are asked for: a synthetic fabric may have a million."""

    size: int
    name_of: Callable[[int], str]

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(self.name_of(n) for n in range(*index.indices(self.size)))
        number = index + self.size if index < 0 else index
        if not 0 <= number < self.size:
            raise IndexError(f"there are {self.size} names, no number {index}")
        return self.name_of(number)

    def __iter__(self) -> Iterator[str]:
        return map(self.name_of, range(self.size))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """Switches, cables and endpoints by number.

    A cable i has two directed links: 2i goes up, from the lower switch to the upper, and 2i + 1
    down.

    Attributes
    ----------
    switches
        Names, shape (switches,).
    tier
        Shape (switches,); 1 = leaf.
    endpoints
        NIC ports ``host:device``, shape (endpoints,).
    endpoint_leaf
        Number of the switch that an endpoint is plugged into.
    endpoint_capacity
        Bits per second of an endpoint, each way.
    cables
        Components of the links between switches, ``link/leaf1:Ethernet49``.
    lower, upper
        Switch numbers at a cable's ends, shape (cables,).
    capacity
        Bits per second by directed link, shape (2 * cables,); 0 = dead.
    """

    switches: Sequence[str]
    tier: NDArray[np.int8]
    endpoints: Sequence[str]
    endpoint_leaf: NDArray[np.int32]
    endpoint_capacity: NDArray[np.float64]
    cables: Sequence[str]
    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    capacity: NDArray[np.float64]

    @classmethod
    def of(cls, topology: Topology) -> Self:
        """Return the fabric of a topology.

        Raises
        ------
        ValueError
            It has no leaf, a cable skips a tier, a host hangs on no leaf, or a leaf with hosts has
            no way up though there are others; every fault is named.
        """
        names = [switch.name for switch in topology.switches]
        number = {name: n for n, name in enumerate(names)}
        tier = np.array([switch.tier for switch in topology.switches], dtype=np.int8)
        ends = [(_owner(link.lower), _owner(link.upper), link) for link in topology.links]
        between = [
            (number[a], number[b], link) for a, b, link in ends if a in number and b in number
        ]
        below = [(number[b], link) for a, b, link in ends if a not in number and b in number]
        fabric = cls(
            switches=tuple(names),
            tier=tier,
            endpoints=tuple(link.lower for _, link in below),
            endpoint_leaf=_integers(leaf for leaf, _ in below),
            endpoint_capacity=_floats(link.capacity_bits_per_second for _, link in below),
            cables=tuple(link.component for *_, link in between),
            lower=_integers(lower for lower, _, _ in between),
            upper=_integers(upper for _, upper, _ in between),
            capacity=np.repeat(_floats(link.capacity_bits_per_second for *_, link in between), 2),
        )
        faults = list(_faults(fabric))
        if faults:
            raise ValueError("; ".join(faults))
        return fabric

    @property
    def links(self) -> int:
        """How many directed links there are between switches."""
        return len(self.capacity)

    def with_capacity(self, capacity: NDArray[np.float64]) -> Self:
        """Return the fabric with other capacities of its directed links.

        Raises
        ------
        ValueError
            There are more or fewer than links, or one is negative or not finite.
        """
        given = np.asarray(capacity, dtype=np.float64)
        if given.shape != self.capacity.shape:
            raise ValueError(f"{given.shape} capacities for {self.links} directed links")
        if not (np.isfinite(given) & (given >= 0.0)).all():
            raise ValueError("a capacity is negative or not finite")
        return replace(self, capacity=given)

    def link_name(self, link: int) -> str:
        """Return a directed link in words: ``link/leaf1:Ethernet49 up``."""
        return f"{self.cables[link // 2]} {'down' if link % 2 else 'up'}"


def leaf_spine(
    *,
    leaves: int,
    spines: int,
    endpoints: int,
    parallel: int = 1,
    uplink_bits_per_second: float = 1.0,
    endpoint_bits_per_second: float = 1.0,
) -> Fabric:
    """Return a fabric with ``parallel`` cables from every leaf to every spine.

    ``endpoints`` is per leaf. Cables are numbered by leaf, then spine, then parallel cable.
    """
    leaf, spine, _ = np.indices((leaves, spines, parallel)).reshape(3, -1)
    per_leaf = spines * parallel

    def cable(n: int) -> str:
        return f"link/leaf{n // per_leaf + 1}:up{n % per_leaf + 1}"

    return Fabric(
        switches=Names(leaves + spines, lambda n: _named(n, (("leaf", leaves), ("spine", spines)))),
        tier=np.repeat(np.array([1, 2], dtype=np.int8), [leaves, spines]),
        **_below(leaves, endpoints, endpoint_bits_per_second),
        cables=Names(len(leaf), cable),
        lower=leaf.astype(np.int32),
        upper=(leaves + spine).astype(np.int32),
        capacity=np.full(2 * len(leaf), uplink_bits_per_second),
    )


def three_tier(
    *,
    pods: int,
    leaves: int,
    spines: int,
    cores: int,
    endpoints: int,
    uplink_bits_per_second: float = 1.0,
    core_bits_per_second: float = 1.0,
    endpoint_bits_per_second: float = 1.0,
) -> Fabric:
    """Return a fat tree: spine j of every pod has a cable to each of the ``cores`` of plane j.

    ``leaves`` and ``spines`` are per pod, ``endpoints`` per leaf. Cables are numbered leaf to
    spine first (by pod, leaf, spine), then spine to core (by pod, spine, core).
    """
    all_leaves, all_spines = pods * leaves, pods * spines
    pod, leaf, spine = np.indices((pods, leaves, spines)).reshape(3, -1)
    upper_pod, plane, core = np.indices((pods, spines, cores)).reshape(3, -1)
    low = len(pod)
    lower = np.concatenate((pod * leaves + leaf, all_leaves + upper_pod * spines + plane))
    upper = np.concatenate(
        (all_leaves + pod * spines + spine, all_leaves + all_spines + plane * cores + core)
    )

    def cable(n: int) -> str:
        if n < low:
            return f"link/leaf{n // spines + 1}:up{n % spines + 1}"
        return f"link/spine{(n - low) // cores + 1}:up{(n - low) % cores + 1}"

    kinds = (("leaf", all_leaves), ("spine", all_spines), ("core", spines * cores))
    capacity = np.repeat([uplink_bits_per_second, core_bits_per_second], [low, len(lower) - low])
    return Fabric(
        switches=Names(sum(count for _, count in kinds), lambda n: _named(n, kinds)),
        tier=np.repeat(np.array([1, 2, 3], dtype=np.int8), [count for _, count in kinds]),
        **_below(all_leaves, endpoints, endpoint_bits_per_second),
        cables=Names(len(lower), cable),
        lower=lower.astype(np.int32),
        upper=upper.astype(np.int32),
        capacity=np.repeat(capacity.astype(np.float64), 2),
    )


def _below(leaves: int, endpoints: int, bits_per_second: float) -> dict[str, Any]:
    count = leaves * endpoints
    return {
        "endpoints": Names(count, lambda n: f"h{n // endpoints + 1}:nic{n % endpoints}"),
        "endpoint_leaf": np.repeat(np.arange(leaves, dtype=np.int32), endpoints),
        "endpoint_capacity": np.full(count, bits_per_second),
    }


def _named(number: int, kinds: Sequence[tuple[str, int]]) -> str:
    for kind, count in kinds:
        if number < count:
            return f"{kind}{number + 1}"
        number -= count
    raise IndexError(number)


def _faults(fabric: Fabric) -> Iterator[str]:
    if not (fabric.tier == 1).any():
        yield "the fabric has no leaf, a switch of tier 1"
    for n, (lower, upper) in enumerate(zip(fabric.lower, fabric.upper, strict=True)):
        tiers = int(fabric.tier[lower]), int(fabric.tier[upper])
        if tiers[1] != tiers[0] + 1:
            yield f"{fabric.cables[n]} joins tiers {tiers[0]} and {tiers[1]}"
    for n in np.flatnonzero(fabric.tier[fabric.endpoint_leaf] != 1).tolist():
        name = fabric.switches[fabric.endpoint_leaf[n]]
        yield f"{fabric.endpoints[n]} is plugged into {name!r}, which is no leaf"
    leaves = np.unique(fabric.endpoint_leaf)
    for leaf in np.setdiff1d(leaves, fabric.lower) if len(leaves) > 1 else ():
        yield f"leaf {fabric.switches[leaf]!r} has hosts and no way up"


def _owner(end: str) -> str:
    return end.partition(":")[0]


def _integers(values: Any) -> NDArray[np.int32]:
    return np.array(list(values), dtype=np.int32)


def _floats(values: Any) -> NDArray[np.float64]:
    return np.array(list(values), dtype=np.float64)
