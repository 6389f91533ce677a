"""Row D6: the slow worker of a training job, by its operation traces; nobody where work is uneven.

Every trace of the folder is a job of its own: a frame a step, a column a worker, operation and
micro-batch. What was done to the job is in `label-*.json`, which the scorer alone opens.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality.detect_cluster_data import CELL, folder
from cluster.frame import Frame, Layout, SeriesKey
from detectors.jobs import Job, Rank
from detectors.stragglers import MICRO_BATCH

_WORK = ("forward-compute", "backward-compute")
_STEP_NS = 10_000_000_000


def files() -> list[Path]:
    return sorted(folder("bytedance-straggler").glob("trace-*.parquet"))


def worker(pipeline: int, stage: int) -> str:
    return f"gpu/dp{pipeline}:stage{stage}"


def job_of(path: Path, work: pd.DataFrame) -> Job:
    """Return the job as it would announce itself: who works on which stage of which replica."""
    places = sorted({(int(p), int(s)) for p, s in zip(work.dp_rank, work.stage, strict=True)})
    return Job(
        component=f"job/{path.stem}",
        ranks=tuple(
            Rank(rank=i, gpu=worker(p, s), data_parallel_group=s, pipeline=p)
            for i, (p, s) in enumerate(places)
        ),
    )


def read(path: Path) -> pd.DataFrame:
    table = pd.read_parquet(path)
    return table[table.optype.isin(_WORK)]


def frames(
    job: Job, work: pd.DataFrame, *, slowed: str = "", by: float = 0.0, after: int = 0
) -> list[Frame]:
    """Return a frame a step; with ``slowed``, a worker takes longer from a step on (injected)."""
    found = []
    for number, (_, step) in enumerate(work.groupby("step", sort=True)):
        keys = tuple(
            SeriesKey(worker(p, s), MICRO_BATCH, f'micro_batch="{mb}",operation="{op}"')
            for p, s, mb, op in zip(step.dp_rank, step.stage, step.mb_id, step.optype, strict=True)
        )
        seconds = step.duration.to_numpy(dtype=float)
        if slowed and number >= after:
            seconds = seconds * np.where([k.component == slowed for k in keys], 1.0 + by, 1.0)
        at_ns = (number + 1) * _STEP_NS
        found.append(
            Frame(
                source=job.component,
                cell=CELL,
                layout=Layout(keys),
                time_ns=np.array([at_ns]),
                values=seconds[None, :],
                received_ns=at_ns,
            )
        )
    return found


def culprit(path: Path) -> str:
    """Return the worker that was slowed, by the authors' what-if analysis; empty = nobody.

    M_W is the share of the slowdown that the slowest workers explain: 1 = all of it.
    """
    name = path.stem.removeprefix("trace-")
    label = json.loads((path.parent / f"label-{name}.json").read_text())
    explained = json.loads((path.parent / f"mw-{name}.json").read_text())["Mw"]
    if explained < 0.5:
        return ""
    by_pipeline = label["blocking_decompose_by_dp_rank"]
    by_stage = label["blocking_decompose_by_stage"]
    return worker(int(max(by_pipeline, key=by_pipeline.get)), int(max(by_stage, key=by_stage.get)))
