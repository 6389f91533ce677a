"""Which worker is slow by itself, when work is uneven too.

A worker is compared on the same micro-batch with the workers that do the same stage for other data
(its data-parallel peers), and what the other stages tell of that micro-batch's size is taken out:
long sequences make a whole pipeline slow, a slow GPU makes itself slow. A long stage is long for
everybody in it. So neither uneven work nor uneven stages accuse a worker, and no baseline is
needed: a worker that was slow from the first step on is found too.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from cluster.frame import Layout, SeriesKey
from detectors.jobs import Job
from detectors.judge import Judged, fact_id
from detectors.records import Detection, Scope
from detectors.series import Floats

MICRO_BATCH = "train_rank_micro_batch_seconds"
STAGES = "train_stage_imbalance_ratio"
WORKLOAD = "train_workload_imbalance_ratio"
# A worker is told when its excess over this many steps is this far out and this large.
_STEPS = 2
_LEAST_SIGMAS = 5.2
_LEAST_EXCESS = 0.015
_NOISE_STEPS = 8
_LEAST_NOISE = 0.001
_OVER_STEPS = 3
_LEAST_STAGE_RATIO = 0.15
_LEAST_WORKLOAD_RATIO = 0.10
_MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where each (operation and micro-batch, pipeline, stage) stands in a row; -1 = nowhere."""

    places: np.ndarray
    ranks: tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class _Workers:
    """What is known of a job's workers from its last steps; arrays by (pipeline, stage)."""

    excess: deque[Floats] = field(default_factory=lambda: deque(maxlen=_STEPS))
    noise: deque[float] = field(default_factory=lambda: deque(maxlen=_NOISE_STEPS))
    uneven: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_STEPS))
    began_ns: int = 0
    told: dict[SeriesKey, int] = field(default_factory=dict)


class Stragglers:
    """Takes the micro-batch times of a job's step in, a row a step."""

    def __init__(self, cell: str) -> None:
        self._cell = cell
        self._jobs: dict[str, Job] = {}
        self._workers: dict[str, _Workers] = {}
        self._plans: dict[int, tuple[tuple[str, _Plan], ...]] = {}

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_plans": {}}

    def set_jobs(self, jobs: Mapping[str, Job]) -> None:
        """Take the jobs that run now; what was known of others is forgotten."""
        self._jobs = dict(jobs)
        self._workers = {job: w for job, w in self._workers.items() if job in jobs}
        self._plans.clear()

    def take(
        self, layout: Layout, at_ns: int, values: Floats
    ) -> tuple[list[Detection], list[Judged]]:
        """Return workers that are slow, and imbalances, that began; and those that are over."""
        plans = self._plans.get(layout.layout_id)
        if plans is None:
            plans = self._plans[layout.layout_id] = _planned(layout, self._jobs)
        began: list[Detection] = []
        ended: list[Judged] = []
        for job, plan in plans:
            seconds = np.where(plan.places >= 0, values[plan.places], np.nan)
            if np.isnan(seconds).any() or (seconds <= 0.0).any():
                continue
            found, over = self._step(job, plan, at_ns, np.log(seconds))
            began += found
            ended += over
        return began, ended

    def _step(
        self, job: str, plan: _Plan, at_ns: int, logs: Floats
    ) -> tuple[list[Detection], list[Judged]]:
        known = self._workers.setdefault(job, _Workers())
        own = own_excess(logs)
        known.excess.append(own)
        known.noise.append(_spread(own))
        known.uneven.append((_stage_ratio(logs), _workload_ratio(logs)))
        if len(known.excess) < _STEPS:
            known.began_ns = at_ns
            return [], []
        mean = np.mean(known.excess, axis=0)
        noise = max(float(np.median(known.noise)), _LEAST_NOISE) / np.sqrt(_STEPS)
        limit = max(_LEAST_SIGMAS * noise, _LEAST_EXCESS)
        levels = {
            SeriesKey(plan.ranks[pipeline][stage], MICRO_BATCH): (
                float(mean[pipeline, stage]),
                limit,
                noise,
            )
            for pipeline, stage in zip(*np.nonzero(mean > limit / 2), strict=True)
        }
        stages, workload = np.min(known.uneven, axis=0)
        levels[SeriesKey(job, STAGES)] = (float(stages), _LEAST_STAGE_RATIO, 0.0)
        levels[SeriesKey(job, WORKLOAD)] = (float(workload), _LEAST_WORKLOAD_RATIO, 0.0)
        told = self._tell(known, levels, at_ns)
        known.began_ns = at_ns
        return told, _over(known, levels)

    def _tell(
        self, known: _Workers, levels: dict[SeriesKey, tuple[float, float, float]], at_ns: int
    ) -> list[Detection]:
        told = []
        for key, (level, limit, noise) in levels.items():
            if level < limit or key in known.told:
                continue
            known.told[key] = 0
            told.append(
                Detection(
                    detection_id=fact_id(self._cell, *key, str(known.began_ns)),
                    cell=self._cell,
                    series=key,
                    detector="stragglers",
                    scope=Scope.PEERS,
                    onset_ns=known.began_ns,
                    detected_ns=at_ns,
                    shift_sigmas=level / noise if noise else 0.0,
                    before=1.0,
                    after=float(np.exp(level)),
                )
            )
        return told


def own_excess(logs: Floats) -> Floats:
    """Return by (pipeline, stage) how much longer a worker took than its work explains.

    ``logs`` are logarithms of seconds by (operation and micro-batch, pipeline, stage).
    """
    among_peers = logs - np.median(logs, axis=1, keepdims=True)
    stages = logs.shape[2]
    if stages == 1:
        return np.asarray(np.min(among_peers, axis=0))
    own = np.empty_like(among_peers)
    for stage in range(stages):
        others = np.median(np.delete(among_peers, stage, axis=2), axis=2)
        own[:, :, stage] = _unexplained(others, among_peers[:, :, stage])
    return np.asarray(np.median(own, axis=0))


def _unexplained(size: Floats, excess: Floats) -> Floats:
    """Return what is left of one stage's excess when the other stages' is fitted to it."""
    x, y = size.ravel(), excess.ravel()
    kept = np.ones(len(x), dtype=bool)
    left = y
    for _ in range(3):
        spread = float(np.var(x[kept]))
        slope = float(np.mean((x[kept] - x[kept].mean()) * (y[kept] - y[kept].mean())))
        slope /= spread + 1e-4
        left = y - slope * x
        left = left - np.median(left[kept])
        near = np.abs(left) < 3.0 * (_MAD_TO_SIGMA * float(np.median(np.abs(left))) + 1e-6)
        kept = near if np.count_nonzero(near) >= len(x) // 2 else kept
    return np.asarray(left.reshape(size.shape))


def _spread(own: Floats) -> float:
    return _MAD_TO_SIGMA * float(np.median(np.abs(own - np.median(own))))


def _stage_ratio(logs: Floats) -> float:
    """Return how much longer the longest stage is than the others' median."""
    by_stage = np.median(np.log(np.sum(np.exp(logs), axis=0)), axis=0)
    if len(by_stage) < 2:  # noqa: PLR2004 - one stage cannot be uneven
        return 0.0
    longest = int(np.argmax(by_stage))
    return float(np.exp(by_stage[longest] - np.median(np.delete(by_stage, longest))) - 1.0)


def _workload_ratio(logs: Floats) -> float:
    """Return how much more the pipeline with most work has than the usual one.

    What all its stages agree on: the least of them, so that one slow worker is no workload.
    """
    by_worker = np.log(np.sum(np.exp(logs), axis=0))
    ahead = by_worker - np.median(by_worker, axis=0, keepdims=True)
    if logs.shape[2] < 2:  # noqa: PLR2004 - one stage cannot tell work from worker
        return 0.0
    return float(np.exp(np.max(np.min(ahead, axis=1))) - 1.0)


def _over(known: _Workers, levels: dict[SeriesKey, tuple[float, float, float]]) -> list[Judged]:
    over: list[Judged] = []
    for key in list(known.told):
        level, limit, _ = levels.get(key, (0.0, 1.0, 0.0))
        known.told[key] = 0 if level > limit / 2 else known.told[key] + 1
        if known.told[key] >= _OVER_STEPS:
            del known.told[key]
            over.append((key, Scope.PEERS))
    return over


def _planned(layout: Layout, jobs: Mapping[str, Job]) -> tuple[tuple[str, _Plan], ...]:
    columns = [(i, key) for i, key in enumerate(layout.columns) if key.metric == MICRO_BATCH]
    return tuple(
        (name, plan)
        for name, job in jobs.items()
        if columns and (plan := _plan_of(job, columns)) is not None
    )


def _plan_of(job: Job, columns: list[tuple[int, SeriesKey]]) -> _Plan | None:
    """Return the plan of a job whose pipelines are all there and equally long; else None."""
    grid: dict[tuple[int, int], str] = {}
    for rank in job.ranks:
        if rank.pipeline >= 0:
            # Of the tensor-parallel ranks of a stage, which work in step, one speaks for all.
            grid.setdefault((rank.pipeline, rank.data_parallel_group), rank.gpu)
    pipelines = sorted({pipeline for pipeline, _ in grid})
    stages = sorted({stage for _, stage in grid})
    if len(pipelines) < 2 or len(grid) != len(pipelines) * len(stages):  # noqa: PLR2004
        return None
    ranks = tuple(tuple(grid[p, s] for s in stages) for p in pipelines)
    told = sorted({key.attributes for _, key in columns})
    place = {(key.component, key.attributes): i for i, key in columns}
    places = np.array(
        [[[place.get((gpu, each), -1) for gpu in row] for row in ranks] for each in told],
        dtype=np.intp,
    )
    return _Plan(places, ranks) if (places >= 0).all() else None
