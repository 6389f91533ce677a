"""Whether a topology is one that traffic can be placed on, and where it is narrow."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from cluster.findings import Finding
from cluster.topology import Link, Topology

_LEAF = 1
_SAME = 1e-6
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a leaf, or a pod of leaves, can take from its hosts and pass on upwards.

    Attributes
    ----------
    name
        The leaf; of a pod the first and last of its leaves, ``leaf1..leaf8``.
    down_bits_per_second, up_bits_per_second
        All links to hosts, all links out of it.
    """

    name: str
    down_bits_per_second: float
    up_bits_per_second: float

    @property
    def ratio(self) -> float:
        """Return 2.0 for 2:1; inf where nothing leads out."""
        if self.up_bits_per_second <= 0.0:
            return float("inf") if self.down_bits_per_second > 0.0 else 0.0
        return self.down_bits_per_second / self.up_bits_per_second


@dataclass(frozen=True)
class Consistency:
    """Looks at a topology; ``findings`` are empty for a fabric without a flaw."""

    topology: Topology

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        return (
            *self._bad_tiers(),
            *self._without_uplinks(),
            *self._islands(),
            *self._loose_hosts(),
            *self._oversubscribed(),
            *self._uneven(),
        )

    @cached_property
    def leaves(self) -> tuple[Subscription, ...]:
        """Of every leaf, in the order of the topology."""
        return tuple(
            Subscription(
                name=name,
                down_bits_per_second=self._capacity_below[name],
                up_bits_per_second=self._capacity_above[name],
            )
            for name in self._leaf_names
        )

    @cached_property
    def pods(self) -> tuple[Subscription, ...]:
        """Of every pod; empty where nothing is above the second tier."""
        if max(self._tiers.values(), default=0) <= _LEAF + 1:
            return ()
        lower_links = [
            (a, b)
            for a, b, _ in self._fabric_links
            if max(self._tiers[a], self._tiers[b]) <= 2  # noqa: PLR2004 - a pod is what tiers 1 and 2 hold together
        ]
        inside = [name for name, tier in self._tiers.items() if tier <= _LEAF + 1]
        return tuple(
            self._pod(members)
            for members in _components(inside, lower_links)
            if any(self._tiers[name] == _LEAF for name in members)
        )

    def _pod(self, members: list[str]) -> Subscription:
        leaves = [name for name in members if self._tiers[name] == _LEAF]
        up = sum(self._capacity_above[n] for n in members if self._tiers[n] > _LEAF)
        return Subscription(
            name=leaves[0] if len(leaves) == 1 else f"{leaves[0]}..{leaves[-1]}",
            down_bits_per_second=sum(self._capacity_below[name] for name in leaves),
            up_bits_per_second=up,
        )

    @cached_property
    def _tiers(self) -> dict[str, int]:
        return {switch.name: switch.tier for switch in self.topology.switches}

    @cached_property
    def _leaf_names(self) -> list[str]:
        return [name for name, tier in self._tiers.items() if tier == _LEAF]

    @cached_property
    def _fabric_links(self) -> list[tuple[str, str, Link]]:
        """Return (lower switch, upper switch, link)."""
        ends = [(_owner(link.lower), _owner(link.upper), link) for link in self.topology.links]
        return [e for e in ends if e[0] in self._tiers and e[1] in self._tiers]

    @cached_property
    def _host_links(self) -> list[tuple[str, str, Link]]:
        """Return (host, switch, link)."""
        ends = [(_owner(link.lower), _owner(link.upper), link) for link in self.topology.links]
        return [e for e in ends if e[0] not in self._tiers and e[1] in self._tiers]

    @cached_property
    def _capacity_above(self) -> Mapping[str, float]:
        above: dict[str, float] = defaultdict(float)
        for lower, _, link in self._fabric_links:
            above[lower] += link.capacity_bits_per_second
        return above

    @cached_property
    def _capacity_below(self) -> Mapping[str, float]:
        below: dict[str, float] = defaultdict(float)
        for _, switch, link in self._host_links:
            below[switch] += link.capacity_bits_per_second
        return below

    def _bad_tiers(self) -> Iterator[Finding]:
        for lower, upper, link in self._fabric_links:
            low, high = self._tiers[lower], self._tiers[upper]
            if high != low + 1:
                yield Finding(
                    kind="same_tier" if high == low else "tier_gap",
                    component=link.component,
                    text=f"joins {lower} of tier {low} with {upper} of tier {high}; "
                    "a link leads from a tier to the next above",
                )
        for host, switch, link in self._host_links:
            if self._tiers[switch] != _LEAF:
                yield Finding(
                    kind="host_above_leaf",
                    component=link.component,
                    text=f"plugs {host} into {switch} of tier {self._tiers[switch]}",
                )

    def _without_uplinks(self) -> Iterator[Finding]:
        if len(self._tiers) <= 1:
            return
        for name in self._leaf_names:
            if not self._capacity_above[name]:
                yield Finding(
                    kind="no_uplinks", component=f"switch/{name}", text="is a leaf without uplinks"
                )

    def _islands(self) -> Iterator[Finding]:
        parts = _components(self._tiers, [(a, b) for a, b, _ in self._fabric_links])
        for members in sorted(parts, key=len, reverse=True)[1:]:
            yield Finding(
                kind="island",
                component=f"switch/{members[0]}",
                text="no link joins it with another switch"
                if len(members) == 1
                else f"no link joins these {len(members)} switches with the others: "
                + ", ".join(members[:_SHOWN])
                + (", …" if len(members) > _SHOWN else ""),
            )

    def _loose_hosts(self) -> Iterator[Finding]:
        plugged = {host for host, _, _ in self._host_links}
        for host in self.topology.hosts:
            if host.name not in plugged:
                yield Finding(
                    kind="host_without_link",
                    component=f"host/{host.name}",
                    text="is plugged into no switch",
                    severity="note",
                )

    def _oversubscribed(self) -> Iterator[Finding]:
        for kind, parts in (("leaf", self.leaves), ("pod", self.pods)):
            finite = (part for part in parts if 1.0 + _SAME < part.ratio < float("inf"))
            by_ratio: dict[float, list[Subscription]] = defaultdict(list)
            for part in finite:
                by_ratio[round(part.ratio, 2)].append(part)
            for ratio, same in sorted(by_ratio.items(), reverse=True):
                first, more = same[0], len(same) - 1
                yield Finding(
                    kind="oversubscribed",
                    component=f"switch/{first.name}",
                    text=f"{kind} is {ratio:g}:1 oversubscribed: "
                    f"{first.down_bits_per_second / 1e9:,.0f} Gbit/s of hosts on "
                    f"{first.up_bits_per_second / 1e9:,.0f} upwards"
                    + (f"; so are {more} more" if more else ""),
                    severity="note",
                )

    def _uneven(self) -> Iterator[Finding]:
        """Tell switches that have less upward than most of their tier."""
        tops = max(self._tiers.values(), default=0)
        for tier in range(_LEAF, tops):
            names = [name for name, own in self._tiers.items() if own == tier]
            usual = median([self._capacity_above[name] for name in names] or [0.0])
            for name in names:
                own = self._capacity_above[name]
                if 0.0 < own < usual * (1.0 - _SAME):
                    yield Finding(
                        kind="uneven_uplinks",
                        component=f"switch/{name}",
                        text=f"has {own / 1e9:,.0f} Gbit/s upwards, "
                        f"most of tier {tier} have {usual / 1e9:,.0f}",
                        severity="note",
                    )


def _owner(end: str) -> str:
    return end.partition(":")[0]


def _components(names: Iterable[str], edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the connected components, each in the order of ``names``."""
    names = list(names)
    root = {name: name for name in names}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = name = root[root[name]]
        return name

    for a, b in edges:
        root[find(a)] = find(b)
    members: dict[str, list[str]] = defaultdict(list)
    for name in names:
        members[find(name)].append(name)
    return list(members.values())


def counted(findings: Iterable[Finding]) -> str:
    """Return ``2 faults, 1 note``, or ``nothing amiss``."""
    counts = Counter(finding.severity for finding in findings)
    told = [
        f"{counts[severity]} {severity}{'s' if counts[severity] > 1 else ''}"
        for severity in ("fault", "note")
        if counts[severity]
    ]
    return ", ".join(told) or "nothing amiss"
