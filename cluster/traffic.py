"""What jobs send, when in their period: the flows of each phase, and when the network is idle."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cluster.arrays import summed
from cluster.collectives import Collective, sends
from cluster.fabric import Fabric
from cluster.flows import Flows

_MOST_FLOWS: Final = 20_000_000
_BITS: Final = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as it takes the network.

    Attributes
    ----------
    nics
        Where a rank's traffic leaves, ``host:device``, by rank.
    priority
        Larger is more important.
    is_steerable
        Its hosts can choose the path of a connection.
    """

    job_id: str
    nics: Mapping[int, str]
    collectives: tuple[Collective, ...]
    priority: int = 0
    is_steerable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A stretch of a job's period in which it sends without a pause.

    Attributes
    ----------
    period_seconds
        After which it comes again; 0: it never ends.
    start_seconds, duration_seconds
        Where in the period it lies, when every flow gets what it wants.
    collectives
        Their places in the job's own list.
    flows
        One per pair of NICs and collective, each with the rate that lets its collective take no
        longer than its duration.
    """

    job: int
    job_id: str
    period_seconds: float
    start_seconds: float
    duration_seconds: float
    collectives: tuple[int, ...]
    flows: Flows

    @property
    def bits_per_second(self) -> float:
        return float(self.flows.bits_per_second.sum())


class _Timed(NamedTuple):
    """A collective's flows, and when they run."""

    number: int
    start: float
    duration: float
    period: float
    flows: Flows


def phases_of(jobs: Sequence[Job], fabric: Fabric) -> list[Phase]:
    """Return every job's phases in order of time.

    What overlaps, directly or by way of a third, is one phase. Collectives of one job with
    different periods are not in step, so each period has phases of its own. Ranks on one host
    exchange over NVLink or memory and make no flow.

    Raises
    ------
    ValueError
        A job cannot be used; every reason is named.
    """
    number_of = {name: n for n, name in enumerate(fabric.endpoints)}
    faults = [fault for job in jobs for fault in _faults(job, number_of)]
    if faults:
        raise ValueError("; ".join(faults))
    return [phase for n, job in enumerate(jobs) for phase in _phases(n, job, fabric, number_of)]


def together(phases: Iterable[Phase]) -> list[list[Phase]]:
    """Return the phases that are placed together, the heaviest set first.

    Jobs are not in step, so any phase of one meets any of another: the first set has each job's
    heaviest phase, the second each job's next one, and so on. Two phases of one job and period are
    never in one set, as they never meet.
    """
    ranked: dict[tuple[int, float], list[Phase]] = {}
    for phase in phases:
        ranked.setdefault((phase.job, phase.period_seconds), []).append(phase)
    for own in ranked.values():
        own.sort(key=lambda phase: -phase.bits_per_second)
    deepest = max((len(own) for own in ranked.values()), default=0)
    return [[own[n] for own in ranked.values() if n < len(own)] for n in range(deepest)]


def idle_stretches(phases: Sequence[Phase], *, job: int) -> dict[float, list[tuple[float, float]]]:
    """Return (start, end) of each pause of a job in seconds, by period.

    An end beyond the period lies in the next one. A job with several periods is idle for sure only
    where all of them are; they drift against each other, so nothing more is said.
    """
    idle: dict[float, list[tuple[float, float]]] = {}
    for phase in phases:
        if phase.job != job or phase.period_seconds <= 0.0:
            continue
        own = [
            other
            for other in phases
            if (other.job, other.period_seconds) == (job, phase.period_seconds)
        ]
        idle[phase.period_seconds] = [
            (end, start) for end, start in _pauses(own, phase.period_seconds) if start > end
        ]
    return idle


def leaf_matrix(fabric: Fabric, flows: Flows) -> NDArray[np.float64]:
    """Return bits per second by (leaf of the source, leaf of the target).

    Leaves are numbered in the order of the fabric's switches of tier 1; what stays at a leaf is on
    the diagonal.
    """
    leaves = np.flatnonzero(fabric.tier == 1)
    place = np.full(len(fabric.tier), -1)
    place[leaves] = np.arange(len(leaves))
    source, target = (place[fabric.endpoint_leaf[end]] for end in (flows.source, flows.target))
    total = summed(source * len(leaves) + target, flows.bits_per_second, len(leaves) ** 2)
    return total.reshape(len(leaves), len(leaves))


def _faults(job: Job, number_of: Mapping[str, int]) -> Iterable[str]:
    for rank, nic in job.nics.items():
        if nic not in number_of:
            yield f"job {job.job_id!r} rank {rank}: the fabric has no NIC {nic!r}"
    for collective in job.collectives:
        yield from (f"job {job.job_id!r}: {fault}" for fault in collective.faults(job.nics))


def _phases(number: int, job: Job, fabric: Fabric, number_of: Mapping[str, int]) -> Iterable[Phase]:
    by_period: dict[float, list[_Timed]] = {}
    for place, collective in enumerate(job.collectives):
        timed = _timed(number, place, job, fabric, number_of)
        if len(timed.flows):
            by_period.setdefault(collective.period_seconds, []).append(timed)
    for period, all_timed in by_period.items():
        for run in _runs(all_timed, period):
            start = min(timed.start for timed in run)
            end = max(timed.start + timed.duration for timed in run)
            yield Phase(
                job=number,
                job_id=job.job_id,
                period_seconds=period,
                start_seconds=start % period if period else 0.0,
                duration_seconds=end - start,
                collectives=tuple(sorted(timed.number for timed in run)),
                flows=Flows.concatenate([timed.flows for timed in run]),
            )


def _timed(
    number: int, place: int, job: Job, fabric: Fabric, number_of: Mapping[str, int]
) -> _Timed:
    collective = job.collectives[place]
    ranks = collective.ranks or tuple(sorted(job.nics))
    nics = [job.nics[rank] for rank in ranks]
    endpoints = np.array([number_of[nic] for nic in nics], dtype=np.int64)
    hosts = np.unique([nic.partition(":")[0] for nic in nics], return_inverse=True)[1]
    if _pairs(collective, len(ranks)) > _MOST_FLOWS:
        raise ValueError(
            f"job {job.job_id!r}: {collective.kind} over {len(ranks)} ranks makes more than "
            f"{_MOST_FLOWS:,} flows"
        )
    sent = sends(collective, ranks)
    apart = (hosts[sent.source] != hosts[sent.target]) & (sent.bytes > 0.0)
    many = len(fabric.endpoints)
    pair, inverse = np.unique(
        endpoints[sent.source[apart]] * many + endpoints[sent.target[apart]], return_inverse=True
    )
    bits = summed(inverse, sent.bytes[apart] * _BITS, len(pair))
    source, target = pair // many, pair % many
    shortest = _shortest_seconds(fabric, source, target, bits)
    duration = max(collective.duration_seconds, shortest)
    flows = Flows.of(
        source,
        target,
        bits / duration if duration else bits,
        priority=min(job.priority, np.iinfo(np.int16).max),
        job=number,
        steerable=job.is_steerable,
    )
    return _Timed(place, collective.phase_seconds, duration, collective.period_seconds, flows)


def _pairs(collective: Collective, ranks: int) -> int:
    if collective.kind == "parameter_server":
        return 2 * len(collective.servers) * ranks
    direct = (collective.algorithm or collective.kind) in {"direct", "all_to_all"}
    return ranks * ranks if direct and collective.kind != "send_recv" else 4 * ranks


def _shortest_seconds(
    fabric: Fabric,
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    bits: NDArray[np.float64],
) -> float:
    """Return how long the busiest NIC needs when nothing else is in its way."""
    many = len(fabric.endpoint_capacity)
    busiest = [summed(ends, bits, many) / fabric.endpoint_capacity for ends in (source, target)]
    return float(np.max(busiest, initial=0.0))


def _runs(timed: Sequence[_Timed], period: float) -> list[list[_Timed]]:
    """Return what overlaps in time, around the end of the period too."""
    if period <= 0.0:
        return [list(timed)]
    ordered = sorted(timed, key=lambda one: one.start)
    runs: list[list[_Timed]] = []
    end = -1.0
    for one in ordered:
        if runs and one.start < end:
            runs[-1].append(one)
        else:
            runs.append([one])
        end = max(end, one.start + one.duration)
    # What runs over the end of the period meets the beginning of the next.
    while len(runs) > 1 and end - period > runs[0][0].start:
        early = [one._replace(start=one.start + period) for one in runs.pop(0)]
        end = max(end, *(one.start + one.duration for one in early))
        runs[-1] += early
    return runs


def _pauses(phases: Sequence[Phase], period: float) -> Iterable[tuple[float, float]]:
    ordered = sorted(phases, key=lambda phase: phase.start_seconds)
    for phase, following in zip(ordered, [*ordered[1:], ordered[0]], strict=True):
        end = phase.start_seconds + phase.duration_seconds
        start = following.start_seconds
        yield end, start if following is not ordered[0] else start + period
