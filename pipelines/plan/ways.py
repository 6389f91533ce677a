"""Phases that meet, placed together, beside the other ways of choosing paths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from actuators.placement import Placement, adapt, place
from actuators.placement.baselines import ecmp, greedy
from cluster.fabric import Fabric
from cluster.flows import Flows
from cluster.traffic import Phase
from pipelines.plan.result import CertificateFacts, SetFacts, Way
from pipelines.plan.routed import Routed

_FULL = 1.005
_LEAST = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A set of phases with their paths, by way and phase."""

    phases: tuple[Phase, ...]
    routed: Mapping[str, tuple[Routed, ...]]
    facts: SetFacts


class Sets:
    """Places one set after the other.

    Parameters
    ----------
    whole
        The fabric before a what-if; None where there is none.
    """

    def __init__(self, fabric: Fabric, whole: Fabric | None, *, subflows: int, seed: int) -> None:
        self._fabric = fabric
        self._whole = whole
        self._subflows = subflows
        self._seed = seed
        self._first: Placed | None = None
        self._first_before: tuple[Routed, ...] = ()

    def place(self, phases: Sequence[Phase], names: Sequence[str]) -> Placed:
        """Return the set's placement, its phases told by names; the first has each job's heaviest.

        A job without a phase in a later set has its heaviest one on the network, where it was
        placed: what that leaves of the links is what the set is placed on.
        """
        beside = self._beside(phases)
        flows = Flows.concatenate([phase.flows for phase in phases])
        room = _left(self._fabric, [routed["placed"] for _, routed in beside])
        best = place(room, flows, subflows=self._subflows)
        placements = {
            "ecmp": ecmp(self._fabric, flows, subflows=self._subflows, seed=self._seed),
            "greedy": greedy(room, flows, subflows=self._subflows),
        }
        moved = None
        if self._whole is not None:
            placements["anew"] = best
            before = self._before(phases, flows)
            best = adapt(before, room)
            moved = len(np.unique(best.flow[best.moved_from(before)]))
        placements["placed"] = best
        routed = {way: _by_phase(made, phases) for way, made in placements.items()}
        ways = tuple(
            self._way(way, phases, own, [route[way] for _, route in beside])
            for way, own in routed.items()
        )
        everything = Routed.join([*routed["placed"], *(route["placed"] for _, route in beside)])
        placed = Placed(
            phases=tuple(phases),
            routed=routed,
            facts=SetFacts(
                phases=tuple(names),
                beside=tuple(phase.job_id for phase, _ in beside),
                flows=len(flows),
                subflows=len(best.flow),
                ways=ways,
                certificate=_certificate(everything, self._fabric, ways[-1].highest_load_ratio),
                moved_flows=moved,
            ),
        )
        self._first = self._first or placed
        return placed

    def _beside(self, phases: Sequence[Phase]) -> list[tuple[Phase, dict[str, Routed]]]:
        if self._first is None:
            return []
        here = {(phase.job, phase.period_seconds) for phase in phases}
        first = self._first
        return [
            (phase, {way: routed[n] for way, routed in first.routed.items()})
            for n, phase in enumerate(first.phases)
            if (phase.job, phase.period_seconds) not in here
        ]

    def _before(self, phases: Sequence[Phase], flows: Flows) -> Placement:
        """Return the placement without the what-if."""
        assert self._whole is not None  # noqa: S101 - asked before
        here = {(phase.job, phase.period_seconds) for phase in phases}
        first = zip(self._first.phases if self._first else (), self._first_before, strict=True)
        beside = [own for phase, own in first if (phase.job, phase.period_seconds) not in here]
        before = place(_left(self._whole, beside), flows, subflows=self._subflows)
        self._first_before = self._first_before or _by_phase(before, phases)
        return before

    def _way(
        self, way: str, phases: Sequence[Phase], own: Sequence[Routed], others: Sequence[Routed]
    ) -> Way:
        fabric = self._fabric
        everything = Routed.join([*own, *others])
        load, rates = everything.load(fabric), everything.rates(fabric)
        share = np.divide(load, fabric.capacity, out=np.zeros(len(load)), where=load > 0.0)
        busiest = int(share.argmax()) if len(share) else -1
        wanted = everything.flows.bits_per_second
        slowdown: dict[str, float] = {}
        first = 0
        for phase in phases:
            last = first + len(phase.flows)
            slowest = _slowdown(wanted[first:last], rates[first:last])
            slowdown[phase.job_id] = max(slowdown.get(phase.job_id, 1.0), slowest)
            first = last
        return Way(
            name=way,
            highest_load_ratio=float(share.max(initial=0.0)),
            highest_link=fabric.link_name(busiest) if busiest >= 0 else "",
            links_over=int((share > _FULL).sum()),
            delivered_ratio=float(rates.sum() / wanted.sum()) if wanted.any() else 1.0,
            slowdown_by_job=slowdown,
        )


def _left(fabric: Fabric, others: Sequence[Routed]) -> Fabric:
    """Return the fabric with what others leave of it; a working link is never quite full."""
    if not others:
        return fabric
    taken = sum((other.load(fabric) for other in others), np.zeros(fabric.links))
    left = np.maximum(fabric.capacity - taken, _LEAST * fabric.capacity)
    return fabric.with_capacity(left)


def _by_phase(placement: Placement, phases: Sequence[Phase]) -> tuple[Routed, ...]:
    ends = np.cumsum([0, *(len(phase.flows) for phase in phases)]).tolist()
    return tuple(Routed.of(placement, first, last) for first, last in pairwise(ends))


def _slowdown(wanted: NDArray[np.float64], rates: NDArray[np.float64]) -> float:
    with np.errstate(divide="ignore"):
        return float(np.max(wanted / rates, initial=1.0))


def _certificate(everything: Routed, fabric: Fabric, highest: float) -> CertificateFacts:
    proof = everything.certificate(fabric)
    return CertificateFacts(
        bound=proof.bound,
        reached_ratio=min(proof.bound / highest, 1.0) if highest else 1.0,
        component=proof.component,
        words=proof.words,
    )
