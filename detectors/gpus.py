"""Is it a GPU? Slower than the GPUs of its job, and what its own sensors say about why."""

from cluster import component as names
from detectors.evidence import (
    GPU_CLOCKS,
    GPU_MEMORY,
    GPU_POWER,
    GPU_THERMAL,
    RANK_COMPUTE,
    Diagnosis,
    Scene,
    metrics_of,
    told_by,
)
from detectors.facts import XID, cause_of_code
from detectors.jobs import Job
from detectors.records import Cause, Detection, RuledOut
from detectors.stragglers import MICRO_BATCH

_LEAST_OF_HOST = 2
_OWN_WORK = frozenset({RANK_COMPUTE, MICRO_BATCH})
_REASONS = (
    (GPU_THERMAL, Cause.SLOW_GPU_THERMAL),
    (GPU_POWER, Cause.SLOW_GPU_POWER),
    (GPU_MEMORY, Cause.SLOW_GPU_MEMORY_ERRORS),
)


def cause_of(detections: list[Detection]) -> tuple[Cause, list[Detection]]:
    """Return why a slow GPU is slow, by its sensors, with what says so."""
    for metrics, cause in _REASONS:
        reasons = told_by(detections, metrics)
        if reasons:
            return cause, reasons
    return Cause.SLOW_GPU_CLOCK, []


def diagnose_gpus(scene: Scene) -> list[Diagnosis]:
    """Return GPUs that are slow; hot or erring ones that are not slow accuse nobody."""
    found = []
    for component, detections in scene.by_component.items():
        if names.kind_of(component) != "gpu":
            continue
        stated = told_by(detections, {XID})
        if stated:
            found.append(_erring(component, detections, stated[-1]))
            continue
        clocks = [d for d in told_by(detections, GPU_CLOCKS) if d.shift_sigmas < 0]
        compute = [d for d in told_by(detections, _OWN_WORK) if d.shift_sigmas > 0]
        if clocks or compute:
            found.append(_slow(scene, component, detections, clocks=clocks, compute=compute))
    return _by_host(scene, found)


def _by_host(scene: Scene, found: list[Diagnosis]) -> list[Diagnosis]:
    """Return one diagnosis of a host where most of a job's GPUs in it are slow; else the GPUs'.

    What slows all of a host's GPUs and is told by no sensor of theirs is the host's.
    """
    kept, by_host = [], dict[str, list[Diagnosis]]()
    for each in found:
        if each.cause in {Cause.UNEXPLAINED, Cause.SLOW_GPU_CLOCK} and not each.critical:
            by_host.setdefault(names.owner_of(each.component), []).append(each)
        else:
            kept.append(each)
    for host, slow in by_host.items():
        ranks = [gpu for job in scene.jobs.values() for gpu in job.gpus if _is_in(gpu, host)]
        if len(slow) < _LEAST_OF_HOST or 2 * len(slow) <= len(ranks):
            kept += slow
            continue
        kept.append(
            Diagnosis(
                component=f"host/{host}",
                cause=Cause.SLOW_HOST,
                evidence=tuple(d for each in slow for d in each.evidence),
                confidence=max(each.confidence for each in slow),
                sure=False,
                affected=tuple(dict.fromkeys(a for each in slow for a in each.affected)),
                ruled_out=tuple(r for each in slow for r in each.ruled_out),
                summary=f"{len(slow)} of {len(ranks)} GPUs of host/{host} are slow together",
            )
        )
    return kept


def _is_in(gpu: str, host: str) -> bool:
    return names.owner_of(gpu) == host


def _erring(gpu: str, detections: list[Detection], stated: Detection) -> Diagnosis:
    """Return what an error code of the driver says, with whatever else its sensors say."""
    code = int(stated.after)
    return Diagnosis(
        component=gpu,
        cause=cause_of_code(code) or Cause.UNEXPLAINED,
        evidence=(stated, *(d for d in detections if d is not stated)),
        confidence=0.9,
        sure=True,
        critical=True,
        summary=f"the driver reports XID {code} on {gpu}",
    )


def _slow(
    scene: Scene,
    gpu: str,
    detections: list[Detection],
    *,
    clocks: list[Detection],
    compute: list[Detection],
) -> Diagnosis:
    cause, reasons = cause_of(detections)
    if not clocks and not reasons:
        cause = Cause.UNEXPLAINED
    # Compared on the same work with the workers of the same stage: uneven work is taken out.
    apart = bool(told_by(compute, {MICRO_BATCH}))
    kinds = bool(clocks) + bool(reasons) + bool(compute)
    job = _job_of(scene, gpu)
    shifts = scene.job_shifts().get(job.component, []) if job else []
    return Diagnosis(
        component=gpu,
        cause=cause,
        evidence=(*clocks, *reasons, *compute, *shifts),
        confidence={1: 0.8 if apart else 0.45, 2: 0.85, 3: 0.95}[kinds],
        # Its sensors tell first; what it costs the job is known when the ranks' steps are in.
        sure=apart or (kinds > 1 and (job is None or bool(compute))),
        affected=_victims(job, gpu),
        ruled_out=_other_reasons(gpu, cause, clocks=bool(clocks)),
        summary=f"{gpu} is slower than its peers: {', '.join(sorted(metrics_of(detections)))}",
    )


def _job_of(scene: Scene, gpu: str) -> Job | None:
    return next((job for job in scene.jobs.values() if gpu in job.gpus), None)


def _victims(job: Job | None, gpu: str) -> tuple[str, ...]:
    """Return the job, then its other ranks: they wait for the slowest."""
    if job is None:
        return ()
    return (job.component, *(other for other in job.gpus if other != gpu))


def _other_reasons(gpu: str, cause: Cause, *, clocks: bool) -> tuple[RuledOut, ...]:
    ruled_out = [
        RuledOut(component=gpu, cause=other, reason="its counters did not move")
        for _, other in _REASONS
        if cause is not Cause.UNEXPLAINED and other is not cause
    ]
    if not clocks:
        ruled_out.append(
            RuledOut(component=gpu, cause=Cause.SLOW_GPU_CLOCK, reason="its clock is as before")
        )
    return tuple(ruled_out)
