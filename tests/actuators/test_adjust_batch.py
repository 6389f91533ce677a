import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuators import adjust_batch
from actuators.micro_batches import slowest_seconds, spread
from actuators.proposal import Proposal, Refusal
from actuators.records import Change, ReasonCode
from actuators.settings import AdjustBatchConfig
from detectors.records import Cause
from tests.actuators.inputs import Targets, alert, counters, detection, job, levels, view

GPU = "gpu/h2:G2"


async def planned(seconds, *, batches=(8, 8)):
    known = levels(
        {
            **{
                (f"gpu/h{n + 1}:G{n + 1}", "train_rank_compute_seconds"): value
                for n, value in enumerate(seconds)
            },
            ("job/train", "train_step_seconds"): 2.0,
        }
    )
    targets = Targets(
        {("job/train", f"micro_batches[rank={n}]"): str(count) for n, count in enumerate(batches)}
    )
    return await adjust_batch.plan_job(
        alert(GPU, Cause.SLOW_GPU_THERMAL),
        job=job(),
        view=view(known),
        jobs=targets,
        config=AdjustBatchConfig(),
        action_id="x",
    )


async def test_slow_rank_gives_micro_batches_to_its_peer():
    proposal = await planned((0.8, 1.6))
    assert isinstance(proposal, Proposal)
    action = proposal.action
    assert (action.target, action.from_value, action.to_value) == (
        "job/train",
        "rank 1: 8",
        "rank 1: 5",
    )
    assert action.changes == (
        Change(target="job/train", path="micro_batches[rank=0]", from_value="8", to_value="11"),
        Change(target="job/train", path="micro_batches[rank=1]", from_value="8", to_value="5"),
    )
    assert action.expected_gain_ratio == pytest.approx((1.6 - 1.1) / 2.0)


async def test_rank_that_is_not_slower_keeps_its_work():
    refusal = await planned((1.6, 1.6))
    assert isinstance(refusal, Refusal)
    assert refusal.reason_code is ReasonCode.NO_GAIN


async def test_ranks_that_do_not_tell_their_time_are_not_guessed():
    refusal = await planned((0.8,))
    assert refusal.reason_code is ReasonCode.NO_PROPOSAL


@given(
    st.dictionaries(
        st.integers(0, 7),
        st.tuples(st.integers(1, 16), st.floats(0.01, 10.0)),
        min_size=1,
        max_size=8,
    )
)
def test_spread_keeps_the_sum_and_never_slows_the_step(ranks):
    now = {rank: count for rank, (count, _) in ranks.items()}
    seconds = {rank: value for rank, (_, value) in ranks.items()}
    wanted = spread(now, seconds, least=1, largest_step_ratio=2.0)
    assert sum(wanted.values()) == sum(now.values())
    assert all(n // 2 <= wanted[r] <= 2 * n and wanted[r] >= 1 for r, n in now.items())
    assert slowest_seconds(wanted, now, seconds) <= slowest_seconds(now, now, seconds)


async def engine_planned(known, *, cause=Cause.KV_PRESSURE, limit=100, evidence=()):
    targets = Targets({})
    targets.limits = {"engine/chat-0": limit}
    return await adjust_batch.plan_engine(
        alert("engine/chat-0", cause, evidence=evidence),
        engine="engine/chat-0",
        view=view(known),
        pool=targets,
        config=AdjustBatchConfig(),
        action_id="x",
    )


async def test_engine_that_starts_requests_again_runs_fewer():
    known = counters(
        {
            ("engine/chat-0", "llm_preemptions_total"): 2.0,
            ("engine/chat-0", "llm_requests_finished_total"): 6.0,
        }
    )
    for key, value in (("llm_requests_running", 80.0), ("llm_kv_cache_usage_ratio", 1.0)):
        other = levels({("engine/chat-0", key): value})
        for series, readings in other._readings.items():
            known.note(series, list(readings))
    proposal = await engine_planned(known)
    assert (proposal.action.from_value, proposal.action.to_value) == ("100", "72")
    assert proposal.action.expected_gain_ratio == pytest.approx(0.25)


async def test_limit_is_at_most_halved():
    known = levels(
        {
            ("engine/chat-0", "llm_requests_running"): 10.0,
            ("engine/chat-0", "llm_kv_cache_usage_ratio"): 1.0,
        }
    )
    proposal = await engine_planned(known)
    assert proposal.action.to_value == "50"


async def test_engine_on_a_slow_gpu_takes_its_share():
    known = levels({("engine/chat-0", "llm_requests_running"): 100.0})
    proposal = await engine_planned(
        known,
        cause=Cause.SLOW_GPU_CLOCK,
        evidence=(detection(GPU, "gpu_sm_clock_hertz", before=2.0, after=1.5),),
    )
    assert proposal.action.to_value == "75"
    assert proposal.action.expected_gain_ratio == pytest.approx(0.25)


async def test_engine_whose_cache_is_not_full_is_left_alone():
    known = levels(
        {
            ("engine/chat-0", "llm_requests_running"): 100.0,
            ("engine/chat-0", "llm_kv_cache_usage_ratio"): 0.5,
        }
    )
    refusal = await engine_planned(known)
    assert refusal.reason_code is ReasonCode.NO_GAIN
