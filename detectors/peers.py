"""A component among its peers: what leaves them is suspect, what all of them share is load."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from cluster import component as names
from cluster.frame import Layout, SeriesKey
from cluster.topology import Topology
from detectors.jobs import Job
from detectors.series import Floats

# Series whose level should be the same for all members of a group, by kind of component.
_METRICS = {
    "gpu": frozenset(
        {"gpu_sm_clock_hertz", "gpu_temperature_celsius", "train_rank_compute_seconds"}
    ),
    "port": frozenset({"net_if_out_octets_per_second", "net_if_in_octets_per_second"}),
    "nic": frozenset(
        {
            "rdma_port_transmit_bytes_per_second",
            "rdma_port_receive_bytes_per_second",
            "rdma_port_reported_transmit_bytes_per_second",
            "rdma_port_reported_receive_bytes_per_second",
        }
    ),
    "engine": frozenset({"llm_tpot_seconds_mean", "llm_ttft_seconds_mean"}),
}
# Rates that are compared over a span: two members are never read at the same instant, so what one
# has already sent the other sends a moment later, and only sums agree.
_SUMMED = frozenset(_METRICS["port"] | _METRICS["nic"])
_SPAN_NS = 2_000_000_000
# Readings further apart than this are sums themselves.
_QUICK_NS = 500_000_000
_LEAST_PEERS = 3
_FRESH_NS = 15_000_000_000
_IDLE_RATIO = 0.05
_PEAK_DECAY = 0.999
_LOWEST_RATIO = 1e-3


def role_of(attributes: str) -> str:
    """Return the role in an engine series' attributes, empty when it has none.

    Examples
    --------
    >>> role_of('engine_type="decode",model_name="m"')
    'decode'
    """
    _, found, rest = attributes.partition('engine_type="')
    return rest.partition('"')[0] if found else ""


def static_groups(topology: Topology) -> dict[str, str]:
    """Return the group by component that topology or a person tells.

    Uplinks of one switch share its traffic by ECMP.
    """
    groups = {
        f"port/{link.lower}": f"uplinks/{link.lower.partition(':')[0]}"
        for link in topology.links
        if topology.fabric_link_of(f"port/{link.lower}") is not None
    }
    for group in topology.peer_groups:
        groups |= dict.fromkeys(group.members, group.name)
    return groups


def job_groups(jobs: Iterable[Job]) -> dict[str, str]:
    """Return the group by component that jobs tell: one data-parallel group, one kind of work."""
    groups = {}
    for job in jobs:
        for rank in job.ranks:
            group = f"{job.component}/{rank.data_parallel_group}"
            groups[rank.gpu] = group
            if rank.nic:
                groups[rank.nic] = f"{group}/nics"
    return groups


@dataclass(slots=True)
class _Member:
    """What a member lately said: its level is the newest value, or the mean over the span."""

    seen_ns: int = 0
    level: float = 0.0
    recent: deque[tuple[int, float]] = field(default_factory=deque)

    def take(self, at_ns: int, value: float, *, summed: bool) -> None:
        self.seen_ns = at_ns
        if not summed:
            self.level = value
            return
        if self.recent and at_ns - self.recent[-1][0] > _QUICK_NS:
            self.recent.clear()
        self.recent.append((at_ns, value))
        while at_ns - self.recent[0][0] >= _SPAN_NS:
            self.recent.popleft()
        # Summed anew: a running total would keep the rounding of every value it ever held.
        self.level = sum(value for _, value in self.recent) / len(self.recent)


@dataclass(slots=True)
class _Group:
    """Every member's level, and the highest level the group lately had."""

    members: dict[SeriesKey, _Member] = field(default_factory=dict)
    peak: float = 0.0

    def take(self, key: SeriesKey, at_ns: int, value: float) -> None:
        member = self.members.setdefault(key, _Member())
        member.take(at_ns, value, summed=key.metric in _SUMMED)

    def ratio(self, key: SeriesKey, at_ns: int) -> float:
        """Return the member's level relative to its peers' median.

        NaN without three peers, or when the group is idle.
        """
        others = [
            member.level
            for other, member in self.members.items()
            if other != key and abs(at_ns - member.seen_ns) <= _FRESH_NS
        ]
        if len(others) < _LEAST_PEERS:
            return np.nan
        middle = median(others)
        self.peak = max(self.peak * _PEAK_DECAY, middle)
        if middle <= _IDLE_RATIO * self.peak:
            return np.nan
        return max(self.members[key].level / middle, _LOWEST_RATIO)


@dataclass(frozen=True, slots=True)
class PeerPlan:
    """The columns of a layout that have peers: places, series, and their group."""

    places: tuple[int, ...]
    keys: tuple[SeriesKey, ...]
    groups: tuple[str, ...]


class Peers:
    """Turns levels into ratios to the peers' median.

    The baseline that a ratio is judged by is the member's own learned offset.
    """

    def __init__(self, topology: Topology) -> None:
        self._static = static_groups(topology)
        self._by_job: dict[str, str] = {}
        self._groups: dict[tuple[str, str], _Group] = {}
        self._plans: dict[int, PeerPlan] = {}

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_plans": {}}

    def set_jobs(self, jobs: Mapping[str, Job]) -> None:
        """Take the jobs that run now; groups that are no more are forgotten."""
        self._by_job = job_groups(jobs.values())
        self._plans.clear()
        known = {*self._static.values(), *self._by_job.values()}
        self._groups = {
            key: group
            for key, group in self._groups.items()
            if key[0] in known or key[0].startswith(("role/", "rails/"))
        }

    def group_of(self, key: SeriesKey) -> str:
        """Return the series' group, empty when it has none."""
        kind = names.kind_of(key.component)
        if key.metric not in _METRICS.get(kind, ()):
            return ""
        if kind == "engine":
            role = role_of(key.attributes)
            return f"role/{role}" if role else ""
        told = self._static.get(key.component) or self._by_job.get(key.component, "")
        if kind == "nic" and not told:
            return f"rails/{names.owner_of(key.component)}"
        return told

    def members(self, key: SeriesKey) -> tuple[SeriesKey, ...]:
        """Return the series of the group that this one is in, itself included."""
        group = self._groups.get((self.group_of(key), key.metric))
        return tuple(group.members) if group else ()

    def plan(self, layout: Layout) -> PeerPlan:
        """Return the columns of a layout that have peers."""
        plan = self._plans.get(layout.layout_id)
        if plan is None:
            found = [
                (i, key, group)
                for i, key in enumerate(layout.columns)
                if (group := self.group_of(key))
            ]
            plan = PeerPlan(
                places=tuple(i for i, _, _ in found),
                keys=tuple(key for _, key, _ in found),
                groups=tuple(group for _, _, group in found),
            )
            self._plans[layout.layout_id] = plan
        return plan

    def ratios(self, plan: PeerPlan, at_ns: int, values: Floats) -> Floats:
        """Return each planned column's ratio to its peers; all members' newest values count."""
        ratios = np.full(len(plan.keys), np.nan)
        present = []
        for i, (place, key, name) in enumerate(
            zip(plan.places, plan.keys, plan.groups, strict=True)
        ):
            value = float(values[place])
            if value == value:  # noqa: PLR0124 - not NaN
                group = self._groups.setdefault((name, key.metric), _Group())
                group.take(key, at_ns, value)
                present.append((i, key, group))
        for i, key, group in present:
            ratios[i] = group.ratio(key, at_ns)
        return ratios
