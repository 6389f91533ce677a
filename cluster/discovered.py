"""The topology that switches tell: who they hear by LLDP, and how fast their ports are."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cluster import component
from cluster.findings import Finding
from cluster.rewired import differences
from cluster.topology import Host, Link, Switch, Topology

_FORWARDS = frozenset({"MAC_BRIDGE", "ROUTER", "C_VLAN", "S_VLAN"})
_STATION = "STATION_ONLY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A device that is heard on a port; ``capabilities`` as in openconfig-lldp-types, if told."""

    system_name: str
    port: str
    capabilities: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A port of a switch; speed None where it is not known."""

    name: str
    is_up: bool = True
    bits_per_second: float | None = None
    neighbours: tuple[Neighbour, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchReport:
    """What one switch told; ``system_names`` are the names under which others hear it."""

    name: str
    cell: str
    system_names: tuple[str, ...] = ()
    interfaces: tuple[Interface, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What LLDP does not tell.

    Attributes
    ----------
    known
        The configured topology: its hosts are hosts, its switches have their tiers, and a link in
        it that is not seen is a fault.
    hosts
        Patterns of system names that are hosts, ``gpu-*``.
    tiers
        Tier by pattern of switch names.
    """

    known: Topology = field(default_factory=Topology)
    hosts: tuple[str, ...] = ()
    tiers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    topology: Topology
    findings: tuple[Finding, ...]


Ports = dict[tuple[str, str], Interface]
Pair = tuple[tuple[str, str], tuple[str, str]]


def discover(reports: Sequence[SwitchReport], hints: Hints | None = None) -> Discovery:
    """Return the topology, and what does not fit; a link that does not fit at all is left out."""
    return _Discoverer(reports, hints or Hints()).run()


class _Discoverer:
    def __init__(self, reports: Sequence[SwitchReport], hints: Hints) -> None:
        self._reports = {report.name: report for report in reports}
        self._hints = hints
        self._ports: Ports = {
            (r.name, interface.name): interface for r in reports for interface in r.interfaces
        }
        self._switch_of = _by_every_name(reports)
        self._known_hosts = {host.name for host in hints.known.hosts}
        self._findings: list[Finding] = []
        self._host_links: list[Link] = []
        self._pairs: dict[Pair, None] = {}

    def run(self) -> Discovery:
        for (switch, _), interface in self._ports.items():
            for neighbour in self._believed(switch, interface):
                self._take(switch, interface, neighbour)
        tiers = self._tiers()
        uplinks = [link for pair in self._pairs for link in self._link(pair, tiers)]
        links = (*self._host_links, *uplinks)
        self._findings += differences(links, self._hints.known.links, self._is_down)
        topology = Topology(
            switches=tuple(
                Switch(name=name, cell=report.cell, tier=tiers[name])
                for name, report in sorted(self._reports.items(), key=lambda r: (tiers[r[0]], r[0]))
            ),
            hosts=self._hosts(),
            links=links,
        )
        return Discovery(topology=topology, findings=tuple(self._findings))

    def _find(self, kind: str, port: tuple[str, str], text: str, *, note: bool = False) -> None:
        self._findings.append(
            Finding(
                kind=kind,
                component=component.port(*port),
                text=text,
                severity="note" if note else "fault",
            )
        )

    def _believed(self, switch: str, interface: Interface) -> tuple[Neighbour, ...]:
        """Return the one neighbour a cable can have: a switch of ours before anybody else."""
        heard = interface.neighbours
        if len(heard) <= 1:
            return heard
        ours = [n for n in heard if self._switch(n.system_name)]
        chosen = (ours or heard)[0]
        others = ", ".join(sorted(f"{n.system_name} {n.port}" for n in heard if n is not chosen))
        self._find(
            "several_neighbours",
            (switch, interface.name),
            f"hears {chosen.system_name} {chosen.port}, which is believed, and {others}",
            note=True,
        )
        return (chosen,)

    def _take(self, switch: str, interface: Interface, neighbour: Neighbour) -> None:
        here = (switch, interface.name)
        other = self._switch(neighbour.system_name)
        if other:
            self._take_switch(here, (other, neighbour.port))
        elif self._is_host(neighbour):
            self._take_host(here, interface, neighbour)
        else:
            self._find(
                "unknown_neighbour",
                here,
                f"hears {neighbour.system_name!r} {neighbour.port}, which forwards "
                f"({', '.join(sorted(neighbour.capabilities))}) and is no configured target",
            )

    def _take_host(self, here: tuple[str, str], interface: Interface, neighbour: Neighbour) -> None:
        if interface.bits_per_second is None:
            self._find("no_speed", here, "its speed is not known; the link is left out")
            return
        self._host_links.append(
            Link(
                lower=self._nic(neighbour, ":".join(here)),
                upper=":".join(here),
                capacity_bits_per_second=interface.bits_per_second,
            )
        )

    def _nic(self, neighbour: Neighbour, upper: str) -> str:
        """Return a NIC's name; where LLDP tells another one than is configured, the configured.

        Hosts name ports by their MAC address or network device, jobs by the RDMA device.
        """
        told = f"{neighbour.system_name}:{neighbour.port}"
        known = self._hints.known.links_by_port
        configured = known.get(upper)
        if told in known or configured is None:
            return told
        same_host = configured.lower.partition(":")[0] == neighbour.system_name
        return configured.lower if same_host else told

    def _take_switch(self, here: tuple[str, str], there: tuple[str, str]) -> None:
        far = self._ports.get(there)
        told = f"hears {there[0]} {there[1]}"
        if far is None:
            self._find("unknown_port", here, f"{told}, which has no such interface")
            return
        back = self._believed_switches(there)
        if back and here not in back:
            self._find("contradiction", here, f"{told}, which hears {' '.join(back[0])} there")
            return
        if not back:
            self._find("one_sided", here, f"{told}, which hears nobody there")
        self._pairs[min(here, there), max(here, there)] = None

    def _believed_switches(self, port: tuple[str, str]) -> list[tuple[str, str]]:
        heard = self._ports[port].neighbours
        return [(self._switch(n.system_name) or n.system_name, n.port) for n in heard]

    def _link(self, pair: Pair, tiers: Mapping[str, int]) -> Iterable[Link]:
        lower, upper = sorted(pair, key=lambda end: (tiers[end[0]], end))
        if tiers[lower[0]] == tiers[upper[0]]:
            self._find(
                "same_tier",
                lower,
                f"leads to {' '.join(upper)}, a switch of its own tier {tiers[lower[0]]}; left out",
            )
            return
        speeds = [self._ports[end].bits_per_second for end in (lower, upper)]
        known = [speed for speed in speeds if speed is not None]
        if not known:
            self._find("no_speed", lower, "neither end tells its speed; the link is left out")
            return
        if len(set(known)) > 1:
            self._find(
                "speed_mismatch",
                lower,
                f"{known[0] / 1e9:g} Gbit/s here, {known[1] / 1e9:g} at {' '.join(upper)}",
            )
        yield Link(
            lower=":".join(lower), upper=":".join(upper), capacity_bits_per_second=min(known)
        )

    def _tiers(self) -> dict[str, int]:
        """Return tier by switch: as told, else 1 where hosts are, else one above the nearest."""
        tiers = {name: tier for name in self._reports if (tier := self._told_tier(name))}
        for link in self._host_links:
            tiers.setdefault(link.upper.partition(":")[0], 1)
        edges: dict[str, set[str]] = {name: set() for name in self._reports}
        for (a, _), (b, _) in self._pairs:
            edges[a].add(b)
            edges[b].add(a)
        frontier = sorted(tiers, key=lambda name: tiers[name])
        for name in frontier:  # grows while it is walked
            for other in sorted(edges[name] - tiers.keys()):
                tiers[other] = tiers[name] + 1
                frontier.append(other)
        for name in self._reports.keys() - tiers.keys():
            tiers[name] = 1
        return tiers

    def _told_tier(self, switch: str) -> int | None:
        for pattern, tier in self._hints.tiers.items():
            if fnmatch.fnmatchcase(switch, pattern):
                return tier
        known = {s.name: s.tier for s in self._hints.known.switches}
        return known.get(switch)

    def _hosts(self) -> tuple[Host, ...]:
        known = {host.name: host for host in self._hints.known.hosts}
        cells: dict[str, str] = {}
        for link in self._host_links:
            switch = link.upper.partition(":")[0]
            cells.setdefault(link.lower.partition(":")[0], self._reports[switch].cell)
        return tuple(known.get(name, Host(name=name, cell=cell)) for name, cell in cells.items())

    def _is_down(self, end: str) -> bool:
        owner, _, name = end.partition(":")
        port = self._ports.get((owner, name))
        return port is not None and not port.is_up

    def _switch(self, system_name: str) -> str:
        """Return our name of a switch by what it calls itself; empty when it is none of ours."""
        name = system_name.casefold()
        return self._switch_of.get(name) or self._switch_of.get(_short(name), "")

    def _is_host(self, neighbour: Neighbour) -> bool:
        name = neighbour.system_name
        if name in self._known_hosts or any(
            fnmatch.fnmatchcase(name, pattern) for pattern in self._hints.hosts
        ):
            return True
        return _STATION in neighbour.capabilities or not neighbour.capabilities & _FORWARDS


def _by_every_name(reports: Sequence[SwitchReport]) -> dict[str, str]:
    names: dict[str, str] = {}
    for report in reports:
        for told in (report.name, *report.system_names):
            name = told.casefold()
            names[name] = report.name
            names.setdefault(_short(name), report.name)
    return names


def _short(name: str) -> str:
    """Return a name without its domain; an address stays whole."""
    first = name.partition(".")[0]
    return name if first.isdigit() else first
