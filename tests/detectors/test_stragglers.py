"""The slow worker of a job, apart from uneven work and uneven stages."""

import numpy as np
import pytest

from cluster.topology import Topology
from detectors.cell import CellDetector
from detectors.jobs import Job, Rank
from detectors.records import AlertState, Cause
from detectors.settings import DetectSettings
from detectors.stragglers import MICRO_BATCH
from tests.detectors.frames import frame

PIPELINES, STAGES, MICRO_BATCHES = 8, 4, 6


def gpu(pipeline, stage):
    """Four pipelines share a host a stage."""
    return f"gpu/h{stage}{pipeline // 4}:GPU-{pipeline % 4}"


JOB = Job(
    component="job/pretrain",
    ranks=tuple(
        Rank(rank=p * STAGES + s, gpu=gpu(p, s), data_parallel_group=s, pipeline=p)
        for p in range(PIPELINES)
        for s in range(STAGES)
    ),
)


def steps(*, slow=None, by=0.0, after=0, uneven=0.0, long_stage=0.0, count=20, seed=1):
    """Return a frame a step; ``uneven`` is the spread of sequence lengths."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        size = np.exp(uneven * rng.standard_normal((MICRO_BATCHES, PIPELINES, 1)))
        seconds = (
            0.2 * size * (1.0 + 0.005 * rng.standard_normal((MICRO_BATCHES, PIPELINES, STAGES)))
        )
        seconds[:, :, -1] *= 1.0 + long_stage
        if slow is not None and number >= after:
            seconds[:, slow[0], slow[1]] *= 1.0 + by
        columns = [
            (gpu(p, s), MICRO_BATCH, f'micro_batch="{m}",operation="forward"')
            for m in range(MICRO_BATCHES)
            for p in range(PIPELINES)
            for s in range(STAGES)
        ]
        found.append(frame(columns, [(number + 1, seconds.ravel())], source="job/pretrain"))
    return found


def alerts(frames):
    made = CellDetector("pod1", Topology(), DetectSettings(join_seconds=1.0))
    made.job_event(JOB, "joined")
    told = [
        (number, alert)
        for number, each in enumerate(frames, start=1)
        for alert in made.update(each).alerts
    ]
    return [(n, a.component, a.cause) for n, a in told if a.state is AlertState.OPENED]


@pytest.mark.parametrize("slow", [(0, 0), (3, 3), (7, 1)])
@pytest.mark.parametrize("uneven", [0.0, 0.3])
def test_a_worker_slow_by_a_twentieth_is_named_within_two_steps(slow, uneven):
    found = alerts(steps(slow=slow, by=0.05, after=10, uneven=uneven))
    accused = [(n, name) for n, name, _ in found if name.startswith("gpu/")]
    assert [name for _, name in accused] == [gpu(*slow)]
    assert accused[0][0] in {11, 12}


def test_a_worker_that_was_slow_from_the_start_is_named_in_the_second_step():
    assert alerts(steps(slow=(2, 1), by=0.9))[0][:2] == (2, gpu(2, 1))


@pytest.mark.parametrize("seed", range(5))
def test_uneven_work_accuses_no_worker(seed):
    found = alerts(steps(uneven=0.5, count=40, seed=seed))
    assert [name for _, name, _ in found if name != "job/pretrain"] == []


def test_a_long_stage_is_the_jobs_and_no_workers():
    found = alerts(steps(long_stage=0.5))
    assert [(name, cause) for _, name, cause in found] == [("job/pretrain", Cause.STAGE_IMBALANCE)]


def test_a_step_with_a_missing_time_says_nothing():
    frames = steps(slow=(0, 0), by=0.5)
    for each in frames:
        each.values[0, 5] = np.nan
    assert alerts(frames) == []


def test_a_host_whose_gpus_are_slow_together_is_named_itself():
    frames = steps(count=20)
    for number, each in enumerate(frames):
        if number >= 8:
            for place, key in enumerate(each.layout.columns):
                if key.component in {gpu(4, 1), gpu(5, 1), gpu(7, 1)}:
                    each.values[0, place] *= 1.3
    found = alerts(frames)
    assert [(name, cause) for _, name, cause in found] == [("host/h11", Cause.SLOW_HOST)]
