"""What happens to a placement: failures, churn, hosts that cannot be steered, wrong sizes."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median

import numpy as np

from actuators.placement import Placement, adapt, place
from actuators.placement.baselines import ecmp
from actuators.placement.kernels import warm_up
from actuators.placement.reserve import Reserve
from benchmarks.quality.nslb_cases import (
    BASELINES,
    MILLISECONDS,
    TRAFFIC,
    cost_row,
    quality_row,
)
from benchmarks.quality.nslb_measure import joined, scored, timed
from benchmarks.quality.nslb_metrics import Ints, Score, ideal_rates, score
from benchmarks.quality.nslb_traffic import all_hosts, cut, fabric_of, mixed, ring, rings
from benchmarks.row import Row
from cluster.fabric import Fabric
from cluster.flows import Flows


def n3(tiers: int, event: str, traffic: str, seeds: Sequence[int]) -> list[Row]:
    """A link, a switch, 1 % of the links fail at full load."""
    warm_up()
    most_seconds = {"link": 0.001, "switch": 0.005, "percent": 0.010}[event]
    fabric = fabric_of(tiers, 16_384)
    scores, moved, needless, seconds = [], [], [], []
    for seed in seeds:
        flows = TRAFFIC[traffic](fabric, seed)
        before = place(fabric, flows)
        dead = _dead_cables(fabric, event, np.random.default_rng(seed))
        capacity = fabric.capacity.copy()
        capacity[np.concatenate((2 * dead, 2 * dead + 1))] = 0.0
        broken = fabric.with_capacity(capacity)
        hit = (capacity[before.links] == 0.0) & (before.links >= 0)
        own = timed(lambda b=before, f=broken: adapt(b, f), repeats=5)  # type: ignore[misc]
        went = own.placement.moved_from(before)
        moved.append(float(went.mean()))
        needless.append(float((went & ~hit.any(axis=1)).mean()))
        seconds.append(own.cpu_seconds)
        ways = {"placed": own.placement, "ecmp": ecmp(broken, flows, seed=seed)}
        scores.append(scored(broken, flows, ways))
    case = f"N3-{event}-{traffic}-{tiers}t"
    what = f"{len(dead)} of {len(fabric.cables):,} cables dead, {len(flows):,} flows"
    told = {
        "moved_share": max(moved),
        "moved_though_not_hit_share": max(needless),
        "cpu_seconds": median(seconds),
    }
    rows = [quality_row(case, what, "phase", scores, target=1.0, **told)]
    if event == "link":
        rows.append(cost_row(f"{case}-moved", "of all flows", max(moved) * 100, "%", most=0.02))
    else:
        rows.append(
            cost_row(
                f"{case}-moved", "not on dead links, of all", max(needless) * 100, "%", most=0.0
            )
        )
    cpu = median(seconds) * MILLISECONDS
    return [
        *rows,
        cost_row(f"{case}-time", "CPU time", cpu, "ms", most=most_seconds * MILLISECONDS),
    ]


def _dead_cables(fabric: Fabric, event: str, random: np.random.Generator) -> Ints:
    cables = len(fabric.cables)
    if event == "link":
        return random.integers(cables, size=1).astype(np.int32)
    if event == "switch":
        switch = random.choice(np.flatnonzero(fabric.tier > 1))
        at = (fabric.upper == switch) | (fabric.lower == switch)
        return np.flatnonzero(at).astype(np.int32)
    return random.choice(cables, size=cables // 100, replace=False).astype(np.int32)


def n5(tiers: int, seeds: Sequence[int], *, rounds: int = 10, subflows: int = 8) -> list[Row]:
    """Churn: jobs with 18 % of the flows end each round and new ones take their hosts."""
    warm_up()
    fabric = fabric_of(tiers, 16_384)
    scores, moved, seconds = [], [], []
    for seed in seeds:
        random = np.random.default_rng(seed)
        flows = rings(all_hosts(fabric, random), random)
        now = place(fabric, flows, subflows=subflows)
        for _ in range(rounds):
            flows, kept = _churned(now.flows, random, 0.18)
            before = now
            own = timed(
                lambda b=before, f=flows, k=kept: adapt(  # type: ignore[misc]
                    b, fabric, f, kept=k, subflows=subflows
                ),
                repeats=1,
            )
            now = own.placement
            moved.append(_moved_share(before, now, kept))
            seconds.append(own.cpu_seconds)
            ways = {"placed": now}
            if len(scores) < 2:
                ways |= {
                    name: way(fabric, flows, subflows=subflows) for name, way in BASELINES.items()
                }
            scores.append(scored(fabric, flows, ways))
    case = f"N5-churn-{tiers}t"
    what = f"{len(flows):,} flows, q = {subflows}, {rounds} rounds, {len(seeds)} seeds"
    told = {
        "cpu_seconds": median(seconds),
        "mean_of_rounds": mean(s["placed"].jobs for s in scores),
    }
    return [
        quality_row(case, what, "jobs", scores, target=0.99, **told),
        cost_row(f"{case}-moved", "of running flows, worst", max(moved) * 100, "%", most=1.0),
    ]


def _churned(flows: Flows, random: np.random.Generator, share: float) -> tuple[Flows, Ints]:
    """Return the flows after some jobs ended and others began on their hosts, and who is who."""
    jobs, sizes = np.unique(flows.job, return_counts=True)
    order = random.permutation(len(jobs))
    ended = jobs[order[: int(np.searchsorted(np.cumsum(sizes[order]), share * len(flows))) + 1]]
    goes = np.isin(flows.job, ended)
    hosts = random.permutation(np.unique(flows.source[goes] // 8)).astype(np.int64)
    first = int(jobs.max()) + 1
    begun = [ring(own, job=first + n) for n, own in enumerate(cut(hosts, random, 4, 128))]
    staying = np.flatnonzero(~goes).astype(np.int32)
    fresh = Flows.concatenate(begun)
    kept = np.concatenate((staying, np.full(len(fresh), -1, dtype=np.int32)))
    return Flows.concatenate([flows.take(staying), fresh]), kept


def _moved_share(before: Placement, after: Placement, kept: Ints) -> float:
    """Return the share of running flows of which a sub-flow took another path."""
    running = kept >= 0
    old = np.flatnonzero(np.isin(before.flow, kept[running]))
    new = np.flatnonzero(running[after.flow])
    other = (before.plane[old] != after.plane[new]) | (before.core[old] != after.core[new])
    return len(np.unique(after.flow[new[other]])) / int(running.sum())


def n7(tiers: int, seeds: Sequence[int], *, subflows: int = 4) -> list[Row]:
    """Jobs on 10 % of the hosts cannot be steered: switches hash what they send.

    The plan does not know the hash: what is judged is hashed with another seed.
    """
    warm_up()
    fabric = fabric_of(tiers, 16_384)
    rows = []
    for case, rate, target in (("N7-hashed", 0.8, 0.9), ("N7-hashed-full", 1.0, None)):
        scores = []
        for seed in seeds:
            random = np.random.default_rng(seed)
            flows = _with_hashed_jobs(
                rings(all_hosts(fabric, random), random, rate=rate), random, 0.1
            )
            ideal = ideal_rates(fabric, flows)
            plan = place(fabric, flows, subflows=subflows, seed=seed)
            ways = {"placed": _hashed_otherwise(plan, seed + 1_000)}
            ways["ecmp"] = ecmp(fabric, flows, subflows=subflows, seed=seed)
            told = scored(fabric, flows, ways, ideal)
            told["nothing_kept"] = _nothing_kept(fabric, flows, subflows, seed)
            scores.append(told)
        hashed = 1.0 - float(flows.steerable.mean())
        what = (
            f"rings at {rate:.0%} of line rate, {hashed:.1%} of {len(flows):,} flows hashed, "
            f"q = {subflows}, {len(seeds)} seeds"
        )
        rows.append(quality_row(f"{case}-{tiers}t", what, "jobs", scores, target=target))
    return rows


def _with_hashed_jobs(flows: Flows, random: np.random.Generator, share: float) -> Flows:
    """Return the flows; as many jobs as the share of all flows has room for cannot be steered."""
    jobs, sizes = np.unique(flows.job, return_counts=True)
    left, hashed = share * len(flows), []
    for n in random.permutation(len(jobs)):
        if sizes[n] <= left:
            hashed.append(jobs[n])
            left -= sizes[n]
    return replace(flows, steerable=~np.isin(flows.job, hashed))


def _hashed_otherwise(plan: Placement, seed: int) -> Placement:
    """Return a plan as another hash carries it out."""
    free = plan.flows.steerable[plan.flow]
    kept = Reserve.of(plan.layers, plan.ends, plan.bits_per_second, free)
    plane, core = plan.plane.copy(), plan.core.copy()
    plane[kept.rows], core[kept.rows] = kept.hash_rows(plan.layers, plan.ends, seed)
    return Placement(
        fabric=plan.fabric,
        flows=plan.flows,
        layers=plan.layers,
        flow=plan.flow,
        bits_per_second=plan.bits_per_second,
        plane=plane,
        core=core,
    )


def _nothing_kept(fabric: Fabric, flows: Flows, subflows: int, seed: int) -> Score:
    """Place what can be steered as if the rest were not there, and hash the rest everywhere."""
    steered, hashed = flows.take(flows.steerable), flows.take(~flows.steerable)
    both = Flows.concatenate([steered, hashed])
    paths = joined(
        place(fabric, steered, subflows=subflows),
        ecmp(fabric, hashed, subflows=subflows, seed=seed),
    )
    return score(fabric, both, paths, ideal_rates(fabric, both))


def n8(tiers: int, seeds: Sequence[int], *, subflows: int = 4, sigma: float = 0.3) -> list[Row]:
    """Announced sizes are wrong: what is sent differs by a log-normal factor."""
    warm_up()
    fabric = fabric_of(tiers, 16_384)
    scores = []
    for seed in seeds:
        random = np.random.default_rng(seed)
        announced = mixed(all_hosts(fabric, random), random)
        true = _sent(fabric, announced, np.exp(random.normal(0.0, sigma, len(announced))))
        ways = {"placed": place, **BASELINES}
        placements = {
            name: _sends(way(fabric, announced, subflows=subflows), true)
            for name, way in ways.items()
        }
        scores.append(scored(fabric, true, placements))
    what = f"{len(true):,} flows, sizes off by sigma = {sigma}, q = {subflows}, {len(seeds)} seeds"
    return [quality_row(f"N8-wrong-sizes-{tiers}t", what, "mean", scores, target=0.99)]


def _sent(fabric: Fabric, announced: Flows, factor: np.ndarray) -> Flows:
    """Return what is really sent, no more than the NICs at both ends carry."""
    bits = announced.bits_per_second * factor
    for end in (announced.source, announced.target):
        load = np.bincount(end, bits, minlength=len(fabric.endpoint_capacity))
        bits = bits / np.maximum(1.0, load / fabric.endpoint_capacity)[end]
    return Flows.of(announced.source, announced.target, bits, job=announced.job)


def _sends(placement: Placement, true: Flows) -> Placement:
    """Return the placement when its flows send something else than was announced."""
    return Placement(
        fabric=placement.fabric,
        flows=true,
        layers=placement.layers,
        flow=placement.flow,
        bits_per_second=placement.bits_per_second
        * (true.bits_per_second / placement.flows.bits_per_second)[placement.flow],
        plane=placement.plane,
        core=placement.core,
    )
