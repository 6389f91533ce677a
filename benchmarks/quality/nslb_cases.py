"""The cases of BENCHMARKS "nslb" that place traffic once; each returns its rows."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from actuators.placement import Placement, place
from actuators.placement.baselines import ecmp, greedy, local
from actuators.placement.kernels import warm_up
from actuators.placement.layers import layers_of
from benchmarks.quality.nslb_measure import peak_megabytes, scored, timed
from benchmarks.quality.nslb_metrics import Score
from benchmarks.quality.nslb_traffic import all_hosts, experts, fabric_of, mixed, ring, rings
from benchmarks.row import Row
from cluster.fabric import Fabric, leaf_spine, three_tier
from cluster.flows import Flows

BASELINES: dict[str, Callable[..., Placement]] = {"ecmp": ecmp, "local": local, "greedy": greedy}
MILLISECONDS = 1e3
Traffic = Callable[[Fabric, int], Flows]

TRAFFIC: dict[str, Traffic] = {
    "ring": lambda fabric, seed: ring(all_hosts(fabric, _random(seed))),
    "rings": lambda fabric, seed: rings(all_hosts(fabric, _random(seed)), _random(seed)),
    "all-to-all": lambda fabric, seed: experts(all_hosts(fabric, _random(seed))),
    "skewed": lambda fabric, seed: experts(all_hosts(fabric, _random(seed)), skew=0.8, seed=seed),
    "mixed": lambda fabric, seed: mixed(all_hosts(fabric, _random(seed)), _random(seed)),
}


def quality_row(
    case: str,
    what: str,
    metric: str,
    scores: Sequence[dict[str, Score]],
    *,
    target: float | None,
    **others: float,
) -> Row:
    """Return the worst of all seeds for the placement, the mean of all seeds for the others."""
    value = min(getattr(one["placed"], metric) for one in scores)
    named = {
        way: float(np.mean([getattr(one[way], metric) for one in scores if way in one]))
        for way in sorted({way for one in scores for way in one} - {"placed"})
    }
    for other in ("mean", "jobs", "phase"):
        if other != metric:
            named[other] = min(getattr(one["placed"], other) for one in scores)
    return Row(
        id=case,
        what=what,
        value=value,
        unit=f"{metric} / bound",
        baseline=named.get("ecmp"),
        bound=1.0,
        target=target,
        holds=None if target is None else value >= target - 1e-9,
        others=named | others,
    )


def cost_row(case: str, what: str, value: float, unit: str, *, most: float) -> Row:
    """Return a figure of which less is better."""
    return Row(id=case, what=what, value=value, unit=unit, target=most, holds=value <= most)


def placed(
    case: str,
    *,
    fabric: Fabric,
    traffic: str,
    metric: str,
    target: float | None,
    seeds: Sequence[int],
    subflows: int = 1,
    most_seconds: float | None = None,
    most_megabytes: float | None = None,
    baseline_seeds: int = 5,
) -> list[Row]:
    """Place one kind of traffic for every seed; the choices of the fabric are known before."""
    warm_up()
    layers = layers_of(fabric)
    scores, seconds = [], []
    peak = 0.0
    for seed in seeds:
        flows = TRAFFIC[traffic](fabric, seed)
        own = timed(lambda flows=flows: place(fabric, flows, subflows=subflows, layers=layers))  # type: ignore[misc]
        if not scores:
            peak = peak_megabytes()
        seconds.append(own.cpu_seconds)
        ways = {"placed": own.placement}
        if len(scores) < baseline_seeds:
            ways |= _baselines(fabric, flows, subflows, seed)
        scores.append(scored(fabric, flows, ways))
    count = len(flows)
    what = f"{traffic}, {count:,} flows, q = {subflows}, {len(seeds)} seeds"
    cpu = median(seconds)
    rows = [quality_row(case, what, metric, scores, target=target, cpu_seconds=cpu, peak_mb=peak)]
    if most_seconds is not None:
        most = most_seconds * MILLISECONDS
        rows.append(cost_row(f"{case}-time", "CPU time", cpu * MILLISECONDS, "ms", most=most))
    if most_megabytes is not None:
        rows.append(cost_row(f"{case}-memory", "whole process", peak, "MB", most=most_megabytes))
    return rows


def _baselines(fabric: Fabric, flows: Flows, subflows: int, seed: int) -> dict[str, Placement]:
    given: dict[str, dict[str, Any]] = {"ecmp": {"seed": seed}}
    return {
        name: way(fabric, flows, subflows=subflows, **given.get(name, {}))
        for name, way in BASELINES.items()
    }


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def n1(tiers: int, traffic: str, seeds: Sequence[int], gpus: int = 16_384) -> list[Row]:
    """16,384 GPUs."""
    asked: dict[str, dict[str, Any]] = {
        "ring": {"metric": "phase", "target": 1.0, "most_seconds": 0.005},
        "rings": {"metric": "phase", "target": 1.0, "most_seconds": 0.005},
        "all-to-all": {"metric": "phase", "target": 1.0, "most_seconds": 0.3},
        "skewed": {"metric": "phase", "target": None},
        "mixed": {"metric": "jobs", "target": 0.99, "most_seconds": 0.5, "subflows": 4},
    }
    return placed(
        f"N1-{traffic}-{tiers}t",
        fabric=fabric_of(tiers, gpus),
        traffic=traffic,
        seeds=seeds,
        **asked[traffic],
    )


def n2(tiers: int, traffic: str, seeds: Sequence[int]) -> list[Row]:
    """65,536 GPUs."""
    asked: dict[str, dict[str, Any]] = {
        "ring": {"target": 1.0, "most_seconds": 0.015},
        "all-to-all": {"target": 0.999, "most_seconds": 2.0, "most_megabytes": 1_100.0},
    }
    return placed(
        f"N2-{traffic}-{tiers}t",
        fabric=fabric_of(tiers, 65_536),
        traffic=traffic,
        metric="phase",
        seeds=seeds,
        baseline_seeds=1,
        **asked[traffic],
    )


def n6(spines: int, traffic: str, seeds: Sequence[int]) -> list[Row]:
    """Any spine count: 64 endpoints a leaf, and as many cores as spines with three tiers."""
    rows = []
    for tiers in (2, 3):
        fabric = (
            leaf_spine(leaves=64, spines=spines, endpoints=64)
            if tiers == 2
            else three_tier(pods=8, leaves=8, spines=spines, cores=spines, endpoints=32)
        )
        rows += placed(
            f"N6-{spines}-{traffic}-{tiers}t",
            fabric=fabric,
            traffic=traffic,
            metric="phase",
            target=1.0,
            seeds=seeds,
        )
    return rows
