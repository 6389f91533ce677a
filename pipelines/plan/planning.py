"""Makes a plan: phases, placements beside ECMP and greedy, what-ifs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from cluster.consistency import Consistency
from cluster.fabric import Fabric
from cluster.topology import Topology
from cluster.traffic import Job, Phase, phases_of, together
from pipelines.errors import ConfigError
from pipelines.plan.heat import rows_of
from pipelines.plan.picture import svg
from pipelines.plan.result import FabricFacts, JobFacts, PhaseFacts, PlanFacts
from pipelines.plan.sources import MEASURED, Source
from pipelines.plan.text import text_of
from pipelines.plan.ways import Placed, Sets
from pipelines.plan.what_if import Change, WhatIf

_TITLES = {"ecmp": "before: ECMP, hashed", "placed": "after: placed together"}
_LEGEND = "load wanted of a link at the worst moment of all jobs, % of its capacity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks beside the source."""

    without: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    subflows: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A finished plan, in numbers and as a picture.

    Attributes
    ----------
    worst
        By way, bits per second wanted of each directed link when each job is in the phase that
        loads that link most.
    """

    facts: PlanFacts
    fabric: Fabric
    whole: Fabric
    worst: dict[str, NDArray[np.float64]]
    about: str

    def as_text(self) -> str:
        return text_of(self.facts)

    def as_json(self) -> str:
        return json.dumps(_finite(asdict(self.facts)), indent=2)

    def as_svg(self) -> str:
        loads = {title: self.worst[way] for way, title in _TITLES.items()}
        name = self.facts.fabric.name
        about = [f"{name}: {self.about}" if self.about else name]
        about += [f"what if: {change}" for change in self.facts.changes]
        return svg(
            rows_of(self.fabric, self.whole.capacity, loads),
            title="Link loads before and after",
            about=about,
            legend=_LEGEND,
        )


def make_plan(source: Source, options: Options) -> Plan:
    """Return the plan.

    Raises
    ------
    ConfigError
        The topology is none that traffic can be placed on, or a job or a what-if does not fit it.
    """
    if not source.jobs and source.measured is None:
        raise ConfigError("no job to place: name files with jobs behind the options")
    what_if = WhatIf(source.topology)
    changes = [change for option in options.without for change in what_if.without(option)]
    changes += [what_if.link(option) for option in options.links]
    try:
        whole = Fabric.of(source.topology)
        phases = phases_of(source.jobs, whole)
    except ValueError as error:
        raise ConfigError(f"{source.name}: {error}") from error
    if source.measured is not None:
        phases = [source.measured]
    fabric = _changed(whole, changes)
    placing = Sets(fabric, whole if changes else None, subflows=options.subflows, seed=options.seed)
    sets = [
        placing.place(own, [_name(phase, source.jobs) for phase in own]) for own in together(phases)
    ]
    worst = _worst(sets, fabric)
    return Plan(
        facts=_facts(source, phases, sets, changes=changes, fabric=fabric, worst=worst),
        fabric=fabric,
        whole=whole,
        worst=worst,
        about=source.about,
    )


def _name(phase: Phase, jobs: Sequence[Job]) -> str:
    if phase.job < 0:
        return phase.job_id
    return f"{phase.job_id} ({', '.join(_kinds(phase, jobs[phase.job]))})"


def _kinds(phase: Phase, job: Job | None) -> tuple[str, ...]:
    if job is None:
        return ("not announced",)
    collectives = [job.collectives[n] for n in phase.collectives]
    return tuple(dict.fromkeys(f"{c.kind} {c.algorithm}".strip() for c in collectives))


def _changed(fabric: Fabric, changes: Sequence[Change]) -> Fabric:
    if not changes:
        return fabric
    number_of = {cable: n for n, cable in enumerate(fabric.cables)}
    capacity = fabric.capacity.copy()
    for change in changes:
        place = 2 * number_of[change.link]
        capacity[place : place + 2] = fabric.capacity[place : place + 2] * change.ratio
    return fabric.with_capacity(capacity)


def _worst(sets: Sequence[Placed], fabric: Fabric) -> dict[str, NDArray[np.float64]]:
    """Return what every link is asked for when each job is in the phase that loads it most."""
    worst: dict[str, dict[tuple[int, float], NDArray[np.float64]]] = {}
    for one in sets:
        for way, routed in one.routed.items():
            of_way = worst.setdefault(way, {})
            for phase, own in zip(one.phases, routed, strict=True):
                key = (phase.job, phase.period_seconds)
                of_way[key] = np.maximum(of_way.get(key, 0.0), own.load(fabric))
    nothing = np.zeros(fabric.links)
    return {way: sum(of_way.values(), nothing) for way, of_way in worst.items()}


def _facts(
    source: Source,
    phases: Sequence[Phase],
    sets: Sequence[Placed],
    *,
    changes: Sequence[Change],
    fabric: Fabric,
    worst: dict[str, NDArray[np.float64]],
) -> PlanFacts:
    looked = Consistency(source.topology)
    alive = fabric.capacity > 0.0
    return PlanFacts(
        fabric=_fabric_facts(source.name, source.topology, fabric),
        changes=tuple(dict.fromkeys(change.words for change in changes)),
        findings=looked.findings,
        leaves=looked.leaves,
        pods=looked.pods,
        jobs=_job_facts(source, phases),
        notes=source.notes,
        sets=tuple(one.facts for one in sets),
        worst_load_ratio={
            way: float((load[alive] / fabric.capacity[alive]).max(initial=0.0))
            for way, load in worst.items()
        },
    )


def _fabric_facts(name: str, topology: Topology, fabric: Fabric) -> FabricFacts:
    tiers = sorted({int(tier) for tier in fabric.tier})
    up = fabric.capacity[0::2]
    return FabricFacts(
        name=name,
        switches_by_tier=tuple(int((fabric.tier == tier).sum()) for tier in tiers),
        nics=len(fabric.endpoints),
        links=len(fabric.cables),
        links_down=int((up <= 0.0).sum()),
        leaf_uplink_bits_per_second=float(up[fabric.tier[fabric.lower] == 1].sum()),
    )


def _job_facts(source: Source, phases: Sequence[Phase]) -> tuple[JobFacts, ...]:
    if source.measured is not None:
        return (
            JobFacts(
                job_id=MEASURED,
                priority=0,
                ranks=0,
                steerable=True,
                phases=(_phase_facts(source.measured, None),),
                idle_ratio=0.0,
            ),
        )
    return tuple(
        JobFacts(
            job_id=job.job_id,
            priority=job.priority,
            ranks=len(job.nics),
            steerable=job.is_steerable,
            phases=tuple(_phase_facts(phase, job) for phase in own),
            idle_ratio=_idle_ratio(own),
        )
        for n, job in enumerate(source.jobs)
        for own in [[phase for phase in phases if phase.job == n]]
    )


def _phase_facts(phase: Phase, job: Job | None) -> PhaseFacts:
    return PhaseFacts(
        start_seconds=phase.start_seconds,
        duration_seconds=phase.duration_seconds,
        period_seconds=phase.period_seconds,
        collectives=_kinds(phase, job),
        flows=len(phase.flows),
        bits_per_second=phase.bits_per_second,
    )


def _idle_ratio(phases: Sequence[Phase]) -> float:
    """Return the share of time a job is idle for sure; its periods drift against each other."""
    busy: dict[float, float] = {}
    for phase in phases:
        if phase.period_seconds <= 0.0:
            return 0.0
        share = phase.duration_seconds / phase.period_seconds
        busy[phase.period_seconds] = busy.get(phase.period_seconds, 0.0) + share
    return max(0.0, 1.0 - sum(busy.values()))


def _finite(value: object) -> object:
    """Return the value with null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
