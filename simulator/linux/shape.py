"""What a lab fabric consists of: devices, cables, addresses. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

FIRST_UPLINK: Final = 48
_MOST_LEAVES: Final = 99
_MOST_SPINES: Final = 99
_MOST_HOSTS: Final = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a cable, with its address of a /31."""

    device: str
    interface: str
    address: str

    @property
    def port(self) -> str:
        return f"{self.device}:{self.interface}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    """``lower`` is the end nearer the hosts."""

    lower: End
    upper: End

    @property
    def component(self) -> str:
        """``link/leaf1:Ethernet49``, named as in a topology file."""
        return f"link/{self.lower.port}"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A leaf-spine fabric: every leaf has one cable to every spine, and ``hosts`` hosts.

    Raises
    ------
    ValueError
        A number is outside what the addresses and port numbers have room for.
    """

    leaves: int = 2
    spines: int = 4
    hosts: int = 1

    def __post_init__(self) -> None:
        for name, number, most in (
            ("leaves", self.leaves, _MOST_LEAVES),
            ("spines", self.spines, _MOST_SPINES),
            ("hosts", self.hosts, _MOST_HOSTS),
        ):
            if not 1 <= number <= most:
                raise ValueError(f"{name} is {number}, not 1 to {most}")

    @cached_property
    def leaf_names(self) -> tuple[str, ...]:
        return tuple(f"leaf{n}" for n in range(1, self.leaves + 1))

    @cached_property
    def spine_names(self) -> tuple[str, ...]:
        return tuple(f"spine{n}" for n in range(1, self.spines + 1))

    @cached_property
    def host_names(self) -> tuple[str, ...]:
        """``host2-1``: the first host of leaf2."""
        leaves, hosts = range(1, self.leaves + 1), range(1, self.hosts + 1)
        return tuple(f"host{leaf}-{n}" for leaf in leaves for n in hosts)

    @property
    def switch_names(self) -> tuple[str, ...]:
        return (*self.leaf_names, *self.spine_names)

    @cached_property
    def prefixes(self) -> dict[str, str]:
        """What a leaf's hosts are reached by, by leaf."""
        return {leaf: f"10.{n}.0.0/24" for n, leaf in enumerate(self.leaf_names, 1)}

    @cached_property
    def uplinks(self) -> tuple[Cable, ...]:
        """The cables between leaves and spines."""
        return tuple(self._uplinks())

    @cached_property
    def host_links(self) -> tuple[Cable, ...]:
        return tuple(self._host_links())

    def uplinks_of(self, leaf: str) -> dict[str, Cable]:
        """Return a leaf's uplinks by spine."""
        return {c.upper.device: c for c in self.uplinks if c.lower.device == leaf}

    def interfaces(self, device: str) -> tuple[str, ...]:
        ends = [end for c in (*self.host_links, *self.uplinks) for end in (c.lower, c.upper)]
        return tuple(end.interface for end in ends if end.device == device)

    def _uplinks(self) -> Iterator[Cable]:
        for n, leaf in enumerate(self.leaf_names, 1):
            for m, spine in enumerate(self.spine_names, 1):
                net = f"10.{100 + n}.{m}"
                yield Cable(
                    lower=End(
                        device=leaf, interface=f"Ethernet{FIRST_UPLINK + m}", address=f"{net}.0"
                    ),
                    upper=End(device=spine, interface=f"Ethernet{n}", address=f"{net}.1"),
                )

    def _host_links(self) -> Iterator[Cable]:
        for n, leaf in enumerate(self.leaf_names, 1):
            for m in range(1, self.hosts + 1):
                yield Cable(
                    lower=End(
                        device=f"host{n}-{m}", interface="eth0", address=f"10.{n}.0.{2 * m + 1}"
                    ),
                    upper=End(device=leaf, interface=f"Ethernet{m}", address=f"10.{n}.0.{2 * m}"),
                )
