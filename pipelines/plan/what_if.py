"""What-ifs on a topology: a link less or slower, a switch less."""

from dataclasses import dataclass

from cluster import component
from cluster.topology import Link, Topology
from pipelines.errors import ConfigError

_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A link's capacity becomes this share of what it is; 0.0 takes it away."""

    link: str
    ratio: float
    words: str


class WhatIf:
    """Reads the options of a what-if against a topology.

    Every method raises `ConfigError` for what the topology does not have.
    """

    def __init__(self, topology: Topology) -> None:
        self._tiers = {switch.name: switch.tier for switch in topology.switches}
        self._links = [link for link in topology.links if self._joins_switches(link)]
        self._by_end = {end: link for link in self._links for end in (link.lower, link.upper)}

    def without(self, option: str) -> list[Change]:
        """Return what ``--without link/leaf1:Ethernet49`` or ``switch/spine3`` takes away."""
        words = f"without {option}"
        if component.kind_of(option) != "switch":
            link = self._link(option, "--without")
            return [Change(link=link.component, ratio=0.0, words=words)]
        name = component.name_of(option)
        if self._tiers.get(name, 0) <= 1:
            upper = [f"switch/{switch}" for switch, tier in self._tiers.items() if tier > 1]
            why = (
                "is a leaf, and its hosts would be cut off"
                if name in self._tiers
                else "is not in the topology"
            )
            raise ConfigError(f"--without: {option!r} {why}; above the leaves are {_some(upper)}")
        return [
            Change(link=link.component, ratio=0.0, words=words)
            for link in self._links
            if name in {_owner(link.lower), _owner(link.upper)}
        ]

    def link(self, option: str) -> Change:
        """Return what ``--link link/leaf1:Ethernet49=0.7`` makes of a link."""
        name, _, told = option.rpartition("=")
        try:
            ratio = float(told)
        except ValueError:
            ratio = -1.0
        if not name or not 0.0 <= ratio <= 1.0:
            raise ConfigError(f"--link: is {option!r}, not LINK=RATIO with a ratio from 0 to 1")
        link = self._link(name, "--link")
        words = f"{link.component} at {ratio:.0%} of its capacity"
        return Change(link=link.component, ratio=ratio, words=words)

    def _link(self, name: str, option: str) -> Link:
        """Return the link that its component, either of its ports, or an end names."""
        link = self._by_end.get(component.name_of(name) or name)
        if link is None:
            known = _some([link.component for link in self._links])
            raise ConfigError(f"{option}: no link between switches {name!r}, there are {known}")
        return link

    def _joins_switches(self, link: Link) -> bool:
        return _owner(link.lower) in self._tiers and _owner(link.upper) in self._tiers


def _owner(end: str) -> str:
    return end.partition(":")[0]


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
