"""Places a scene in every way and says how good each is, and what it cost."""

import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actuators.placement import Placement
from benchmarks.quality.nslb_metrics import Floats, Paths, Score, ideal_rates, score
from cluster.fabric import Fabric
from cluster.flows import Flows


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A placement, the least CPU time that it took in some runs, and the first."""

    placement: Placement
    cpu_seconds: float


def timed(work: Callable[[], Placement], *, repeats: int = 3) -> Timed:
    """Return a placement with its paths and the least CPU seconds it took."""
    best = np.inf
    for _ in range(repeats):
        started = time.process_time()
        placement = work()
        _ = placement.links
        best = min(best, time.process_time() - started)
    return Timed(placement=placement, cpu_seconds=float(best))


def paths_of(placement: Placement) -> Paths:
    return Paths(
        flow=placement.flow,
        bits_per_second=placement.bits_per_second,
        links=placement.links,
        stranded=placement.is_stranded,
    )


def joined(one: Placement, other: Placement) -> Paths:
    """Return the paths of two placements over one fabric, whose flows stand behind each other."""
    return Paths(
        flow=np.concatenate((one.flow, other.flow + len(one.flows))).astype(np.int32),
        bits_per_second=np.concatenate((one.bits_per_second, other.bits_per_second)),
        links=np.concatenate((one.links, other.links)),
        stranded=np.concatenate((one.is_stranded, other.is_stranded)),
    )


def scored(
    fabric: Fabric, flows: Flows, placements: Mapping[str, Placement], ideal: Floats | None = None
) -> dict[str, Score]:
    """Return the metrics of each placement."""
    best = ideal_rates(fabric, flows) if ideal is None else ideal
    return {way: score(fabric, flows, paths_of(p), best) for way, p in placements.items()}


def peak_megabytes() -> float:
    """Return the most memory that this process has had at once."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
