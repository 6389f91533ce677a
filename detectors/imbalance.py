"""Is the work uneven? Long stages and long sequences make a job slow, and accuse nobody."""

from cluster import component as names
from detectors.evidence import Diagnosis, Scene, told_by
from detectors.records import Cause, RuledOut
from detectors.stragglers import STAGES, WORKLOAD

_CAUSES = (
    (STAGES, Cause.STAGE_IMBALANCE, "one pipeline stage takes {:.0%} longer than the others"),
    (WORKLOAD, Cause.WORKLOAD_IMBALANCE, "one pipeline has {:.0%} more work than the others"),
)


def diagnose_imbalance(scene: Scene, slow: set[str]) -> list[Diagnosis]:
    """Return jobs whose work is uneven; ``slow`` are GPUs that are accused of being slow.

    A job with a slow GPU is not told besides: its alert says what it suffers from.
    """
    found = []
    for component, detections in scene.by_component.items():
        job = scene.jobs.get(component)
        if names.kind_of(component) != "job" or job is None or slow.intersection(job.gpus):
            continue
        for metric, cause, words in _CAUSES:
            told = told_by(detections, {metric})
            if told:
                found.append(
                    Diagnosis(
                        component=component,
                        cause=cause,
                        evidence=tuple(told),
                        confidence=0.7,
                        sure=False,
                        ruled_out=(
                            RuledOut(
                                component=component,
                                cause=Cause.SLOW_GPU_CLOCK,
                                reason=f"none of its {len(job.gpus)} GPUs is slow on the same work",
                            ),
                        ),
                        summary=f"{component}: {words.format(told[-1].after - 1.0)}",
                    )
                )
                break
    return found
