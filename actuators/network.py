"""The flows of announced jobs on the fabric, and where their connections send them now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from actuators.placement import Placement
from actuators.placement.hashing import hashed
from actuators.placement.layers import NONE, Layers, layers_of
from actuators.view import Job, View
from cluster import traffic
from cluster.fabric import Fabric
from cluster.fairness_paths import placed_rates
from cluster.flows import Flows
from cluster.topology import Link, SourcePortRule, Topology

_SEED = 0

PlaneRule = tuple[SourcePortRule, int]


class Sender(NamedTuple):
    """A connection whose source port a job lets be chosen."""

    job: str
    rank: int
    connection: int
    source_port: int


@dataclass(frozen=True, kw_only=True)
class Network:
    """What jobs send, connection by connection.

    Attributes
    ----------
    senders
        By flow; None = its source port cannot be chosen.
    now
        Every flow on the plane that its source port's rule sends it to. Who sends from another port
        is hashed, and where to nobody knows: such a flow is placed as a hash might.
    is_known
        By flow: a rule says where it goes.
    names_of_jobs
        Components, by the flows' numbers of jobs.
    rules
        By leaf, each with the plane that it leads to.
    """

    senders: tuple[Sender | None, ...]
    now: Placement
    is_known: NDArray[np.bool_]
    names_of_jobs: tuple[str, ...]
    rules: Mapping[str, Sequence[PlaneRule]]

    def cable(self, link: Link) -> int:
        """Return a link's number in the fabric."""
        return self.now.fabric.cables.index(link.component)

    def crossing(self, link: Link) -> NDArray[np.bool_]:
        """Tell by flow whether its source port sends it over a link."""
        crosses: NDArray[np.bool_] = (self.now.links // 2 == self.cable(link)).any(axis=1)
        return crosses & self.is_known

    def worst_ratio(self, placement: Placement, fabric: Fabric) -> dict[str, float]:
        """Return by job what its slowest flow gets of what it wants, 0.0 to 1.0, max-min fair."""
        flows = placement.flows
        rates = placed_rates(
            fabric,
            flows,
            flow=placement.flow,
            links=placement.links,
            bits_per_second=placement.bits_per_second,
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(placement.bits_per_second > 0, rates / placement.bits_per_second, 1.0)
        worst: dict[str, float] = {}
        for row, name in enumerate(self._jobs_of(placement)):
            worst[name] = min(worst.get(name, 1.0), float(ratio[row]))
        return worst

    def port_for(self, row: int, plane: int) -> int | None:
        """Return a source port that sends a flow by a plane; None when no rule does."""
        sender, fabric = self.senders[row], self.now.fabric
        leaf = fabric.switches[int(fabric.endpoint_leaf[self.now.flows.source[row]])]
        for rule, leads_to in self.rules.get(leaf, ()):
            if leads_to == plane and sender is not None:
                span = rule.last_port - rule.first_port + 1
                # Neighbours differ, so that no two connections of a host need one port.
                return rule.first_port + (sender.rank * 31 + sender.connection) % span
        return None

    def _jobs_of(self, placement: Placement) -> Iterator[str]:
        for row in placement.flow.tolist():
            yield self.names_of_jobs[int(placement.flows.job[row])]


def network_of(view: View) -> Network:
    """Return the network as jobs announced their traffic.

    Of each job its heaviest phase counts: jobs are not in step, so these may meet.

    Raises
    ------
    ValueError
        The topology is no fabric of two tiers, no job says what it sends between leaves, or one
        cannot be used.
    """
    fabric = Fabric.of(view.topology)
    layers = layers_of(fabric)
    if layers.cores:
        raise ValueError("source ports choose the plane only, and the fabric has cores above")
    known_nics = frozenset(fabric.endpoints)
    jobs = [
        job
        for job in view.jobs.values()
        if job.collectives and all(rank.nic in known_nics for rank in job.ranks)
    ]
    phases = traffic.phases_of([_traffic_of(job) for job in jobs], fabric)
    meeting = traffic.together(phases)
    if not meeting:
        raise ValueError("no job has announced what it sends between leaves")
    pairs = Flows.concatenate([phase.flows for phase in meeting[0]])
    flows, senders = _by_connection(pairs, jobs, fabric)
    rules = _rules_by_leaf(view.topology, planes_by_cable(fabric, layers))
    plane, known = _planes_now(rules, fabric, layers, flows, senders)
    now = Placement.of(
        fabric,
        flows,
        flow=np.arange(len(flows), dtype=np.int32),
        bits_per_second=flows.bits_per_second,
        plane=plane,
        core=np.full(len(flows), NONE, dtype=np.int32),
    )
    return Network(
        senders=senders,
        now=now,
        is_known=known,
        names_of_jobs=tuple(job.component for job in jobs),
        rules=rules,
    )


def planes_by_cable(fabric: Fabric, layers: Layers) -> dict[str, int]:
    """Return the plane that each cable of a leaf leads to."""
    resource = np.repeat(np.arange(len(layers.low.cable)), np.diff(layers.low.starts))
    return {
        fabric.cables[cable]: int(number % layers.planes)
        for cable, number in zip(layers.low.cables.tolist(), resource.tolist(), strict=True)
    }


def _rules_by_leaf(topology: Topology, planes: Mapping[str, int]) -> dict[str, list[PlaneRule]]:
    """Return the rules that lead to a plane; one for another port leads to none."""
    rules: dict[str, list[PlaneRule]] = {}
    for rule in topology.source_port_rules:
        plane = planes.get(f"link/{rule.switch}:{rule.interface}")
        if plane is not None:
            rules.setdefault(rule.switch, []).append((rule, plane))
    return rules


def _traffic_of(job: Job) -> traffic.Job:
    return traffic.Job(
        job_id=job.component.partition("/")[2],
        nics={rank.rank: rank.nic for rank in job.ranks},
        collectives=job.collectives,
        priority=job.priority,
        is_steerable=False,
    )


def _by_connection(
    pairs: Flows, jobs: Iterable[Job], fabric: Fabric
) -> tuple[Flows, tuple[Sender | None, ...]]:
    """Return one flow a connection, with the pair's traffic shared evenly among its connections."""
    number_of = {name: n for n, name in enumerate(fabric.endpoints)}
    found: dict[tuple[int, int, int], list[Sender]] = {}
    for n, job in enumerate(jobs):
        for place, sender in _senders(job, number_of):
            found.setdefault((n, *place), []).append(sender)
    rows: list[int] = []
    senders: list[Sender | None] = []
    shares: list[float] = []
    for row in range(len(pairs)):
        key = (int(pairs.job[row]), int(pairs.source[row]), int(pairs.target[row]))
        own: list[Sender | None] = [*found.get(key, [])] or [None]
        rows += [row] * len(own)
        senders += own
        shares += [1.0 / len(own)] * len(own)
    taken = pairs.take(np.array(rows, dtype=np.int64))
    flows = Flows.of(
        taken.source,
        taken.target,
        taken.bits_per_second * np.array(shares),
        priority=taken.priority,
        job=taken.job,
        steerable=np.array([sender is not None for sender in senders], dtype=bool),
    )
    return flows, tuple(senders)


def _senders(job: Job, number_of: Mapping[str, int]) -> Iterator[tuple[tuple[int, int], Sender]]:
    nics = {rank.rank: number_of[rank.nic] for rank in job.ranks}
    for rank in job.ranks:
        for n, connection in enumerate(rank.connections):
            ends = nics[rank.rank], nics[connection.peer]
            yield ends, Sender(job.component, rank.rank, n, connection.source_port)


def _planes_now(
    rules: Mapping[str, Sequence[PlaneRule]],
    fabric: Fabric,
    layers: Layers,
    flows: Flows,
    senders: Iterable[Sender | None],
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return each flow's plane, and whether a rule says so."""
    count = len(flows)
    plane = hashed(np.arange(count, dtype=np.int64), _SEED, max(1, layers.planes))
    known = np.zeros(count, dtype=bool)
    for row, sender in enumerate(senders):
        leaf = fabric.switches[int(fabric.endpoint_leaf[flows.source[row]])]
        port = 0 if sender is None else sender.source_port
        for rule, leads_to in rules.get(leaf, ()):
            if rule.first_port <= port <= rule.last_port:
                plane[row], known[row] = leads_to, True
    local = fabric.endpoint_leaf[flows.source] == fabric.endpoint_leaf[flows.target]
    plane[local] = NONE
    return plane, known
