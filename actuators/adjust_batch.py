"""Gives a slow GPU less of its job's work, or an engine fewer requests at a time."""

import math

from actuators.micro_batches import slowest_seconds, spread
from actuators.ports import Jobs, ServingPool
from actuators.proposal import Proposal, Refusal
from actuators.records import Action, ActionKind, Change, ReasonCode
from actuators.settings import AdjustBatchConfig
from actuators.view import Job, View
from detectors.records import Alert, Cause

_KIND = ActionKind.ADJUST_BATCH


async def plan_job(
    alert: Alert, *, job: Job, view: View, jobs: Jobs, config: AdjustBatchConfig, action_id: str
) -> Proposal | Refusal:
    """Return fewer micro-batches for the alert's GPU, the rest spread over its job's others.

    Raises
    ------
    ActuationError
        The job could not be asked.
    """
    seconds = view.levels.by_rank(job, "train_rank_compute_seconds")
    now = {r: n for r, n in (await jobs.micro_batches(job.component)).items() if n > 0}
    slow = next(rank for rank in job.ranks if rank.gpu == alert.component)
    peers = [r.rank for r in job.ranks if r.group == slow.group and r.rank in now]
    if slow.rank not in peers or any(rank not in seconds for rank in peers):
        return _refusal(
            alert, ReasonCode.NO_PROPOSAL, f"{job.component} does not tell how long its ranks work"
        )
    return share_out(
        alert,
        job=job.component,
        slow=slow.rank,
        now={rank: now[rank] for rank in peers},
        seconds=seconds,
        step_seconds=view.levels.level(job.component, "train_step_seconds"),
        config=config,
        action_id=action_id,
    )


def share_out(
    alert: Alert,
    *,
    job: str,
    slow: int,
    now: dict[int, int],
    seconds: dict[int, float],
    step_seconds: float | None,
    config: AdjustBatchConfig,
    action_id: str,
) -> Proposal | Refusal:
    """Return the new spread, or why there is none, from what each rank has and needs now."""
    wanted = spread(
        now, seconds, least=config.least_micro_batches, largest_step_ratio=config.largest_step_ratio
    )
    before, after = slowest_seconds(now, now, seconds), slowest_seconds(wanted, now, seconds)
    if wanted[slow] >= now[slow]:
        return _refusal(
            alert,
            ReasonCode.NO_GAIN,
            f"rank {slow} computes {seconds[slow]:.3g} s of at most {before:.3g} s a step: moving "
            "a micro-batch away from it shortens nothing",
        )
    step = step_seconds or before
    gain = (before - after) / max(step, before)
    return Proposal(
        action=Action(
            action_id=action_id,
            kind=_KIND,
            target=job,
            parameter="micro_batches",
            from_value=f"rank {slow}: {now[slow]}",
            to_value=f"rank {slow}: {wanted[slow]}",
            changes=tuple(
                Change(
                    target=job,
                    path=f"micro_batches[rank={rank}]",
                    from_value=str(now[rank]),
                    to_value=str(wanted[rank]),
                )
                for rank in sorted(now)
                if wanted[rank] != now[rank]
            ),
            expected_gain_ratio=gain,
            expected_cost_seconds=step,
            driver="job_channel",
        ),
        scope=(job,),
        touched=(job,),
        reason=(
            f"rank {slow} computes {seconds[slow]:.3g} s a step for {now[slow]} of "
            f"{sum(now.values())} micro-batches; with {wanted[slow]} the slowest rank takes "
            f"{after:.3g} s instead of {before:.3g} s of a step of {step:.3g} s"
        ),
    )


async def plan_engine(
    alert: Alert,
    *,
    engine: str,
    view: View,
    pool: ServingPool,
    config: AdjustBatchConfig,
    action_id: str,
) -> Proposal | Refusal:
    """Return a lower limit of concurrently running requests for an engine.

    Raises
    ------
    ActuationError
        The service could not be asked.
    """
    service = view.service_of(engine)
    limit = None if service is None else (await pool.concurrency_limits(service)).get(engine)
    running = view.levels.level(engine, "llm_requests_running")
    if service is None or limit is None or running is None:
        return _refusal(alert, ReasonCode.NO_PROPOSAL, f"limit or load of {engine} is not known")
    keep, gain, why = _engine_step(alert, engine, view=view, running=running, config=config)
    floor = max(config.least_concurrency, math.ceil(limit / config.largest_step_ratio))
    wanted = max(floor, min(limit, math.floor(min(running, limit) * keep)))
    if wanted >= limit or gain <= 0.0:
        return _refusal(alert, ReasonCode.NO_GAIN, why)
    return Proposal(
        action=Action(
            action_id=action_id,
            kind=_KIND,
            target=engine,
            parameter="concurrency_limit",
            from_value=str(limit),
            to_value=str(wanted),
            changes=(
                Change(
                    target=engine,
                    path="concurrency_limit",
                    from_value=str(limit),
                    to_value=str(wanted),
                ),
            ),
            expected_gain_ratio=gain,
            expected_cost_seconds=0.0,
            driver="serving",
        ),
        scope=(engine,),
        touched=(engine,),
        reason=why,
    )


def _engine_step(
    alert: Alert, engine: str, *, view: View, running: float, config: AdjustBatchConfig
) -> tuple[float, float, str]:
    """Return the share of its running requests an engine should keep, the gain, and the basis."""
    if alert.cause in {Cause.KV_PRESSURE, Cause.BATCH_TOO_LARGE}:
        usage = view.levels.level(engine, "llm_kv_cache_usage_ratio") or 0.0
        keep = min(1.0, config.kv_usage_ratio / usage) if usage > 0.0 else 1.0
        lost = view.levels.rate(engine, "llm_preemptions_total") or 0.0
        done = view.levels.rate(engine, "llm_requests_finished_total") or 0.0
        gain = lost / (lost + done) if lost > 0.0 else 1.0 - keep
        return (
            keep,
            gain,
            (
                f"{engine} uses {usage:.0%} of its KV cache with {running:.0f} requests and starts "
                f"{lost:.3g} of them again each second while {done:.3g} finish"
            ),
        )
    ratios = [
        d.after / d.before
        for d in alert.evidence
        if d.series.metric == "gpu_sm_clock_hertz" and d.before > 0.0
    ]
    keep = min(1.0, *ratios) if ratios else 1.0
    return keep, 1.0 - keep, f"the GPU of {engine} runs at {keep:.0%} of its clock"


def _refusal(alert: Alert, code: ReasonCode, reason: str) -> Refusal:
    return Refusal(kind=_KIND, target=alert.component, reason_code=code, reason=reason)
