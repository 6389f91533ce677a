"""Is it a pool? Prefill and decode starve each other when their shares do not fit the load."""

from cluster import component as names
from detectors.evidence import Diagnosis, Scene, metrics_of, told_by
from detectors.records import Cause, Detection, RuledOut

# Requests that prefill has finished and decode cannot take pile up before decode, wherever they
# are counted, so prefill's in-flight queue speaks for decode.
_DECODE = frozenset(
    {
        "llm_requests_waiting",
        "llm_decode_prealloc_queue_requests",
        "llm_decode_transfer_queue_requests",
        "llm_kv_cache_usage_ratio",
        "llm_tpot_seconds_mean",
        "llm_preemptions_per_second",
        "llm_queue_seconds_mean",
    }
)
_PREFILL = frozenset({"llm_requests_waiting", "llm_ttft_seconds_mean", "llm_queue_seconds_mean"})
_BACK_PRESSURE = frozenset({"llm_prefill_inflight_queue_requests"})
_LEAST_SYMPTOMS = 2


def diagnose_pools(scene: Scene) -> list[Diagnosis]:
    """Return the pool of each service that is short of engines; none when load grew for both."""
    found = []
    for service in scene.topology.services:
        prefill = scene.by_component.get(names.pool(service.name, "prefill"), [])
        decode = scene.by_component.get(names.pool(service.name, "decode"), [])
        starved = {
            "decode": _up(decode, _DECODE) + _up(prefill, _BACK_PRESSURE),
            "prefill": _up(prefill, _PREFILL),
        }
        role = starved_role(starved, scene.join_ns)
        if role:
            found.append(_starved(scene, service.name, role, starved))
    return found


def starved_role(symptoms: dict[str, list[Detection]], join_ns: int) -> str:
    """Return the role that is short of engines, empty when it is neither or both.

    Where both show symptoms, the one that began clearly earlier is the cause: the other waits for
    it.
    """
    ill = {
        role: min(d.onset_ns for d in detections)
        for role, detections in symptoms.items()
        if len(metrics_of(detections)) >= _LEAST_SYMPTOMS
    }
    if len(ill) < 2:  # noqa: PLR2004 - one or none
        return next(iter(ill), "")
    first = min(ill, key=lambda role: ill[role])
    if abs(ill["decode"] - ill["prefill"]) > join_ns // 2:
        return first
    more = max(symptoms, key=lambda role: len(metrics_of(symptoms[role])))
    less = min(symptoms, key=lambda role: len(metrics_of(symptoms[role])))
    return more if more != less else ""


def _starved(
    scene: Scene, service: str, role: str, symptoms: dict[str, list[Detection]]
) -> Diagnosis:
    other = "prefill" if role == "decode" else "decode"
    pool, other_pool = names.pool(service, role), names.pool(service, other)
    cause = {"decode": Cause.DECODE_STARVED, "prefill": Cause.PREFILL_STARVED}
    shifted = metrics_of(symptoms[role])
    running = scene.pool_levels.get((other_pool, "llm_requests_running"), float("nan"))
    waiting = scene.pool_levels.get((other_pool, "llm_requests_waiting"), float("nan"))
    reason = "began later" if symptoms[other] else "none of its queues grew"
    return Diagnosis(
        component=pool,
        cause=cause[role],
        evidence=tuple(symptoms[role]),
        confidence=min(0.6 + 0.1 * len(shifted), 0.95),
        sure=len(shifted) > _LEAST_SYMPTOMS,
        affected=(f"service/{service}",),
        ruled_out=(
            RuledOut(
                component=other_pool,
                cause=cause[other],
                reason=f"{reason}: {running:.0f} running and {waiting:.0f} waiting an engine",
            ),
        ),
        summary=f"{pool} is short of engines: {', '.join(sorted(shifted))}",
    )


def _up(detections: list[Detection], metrics: frozenset[str]) -> list[Detection]:
    return [d for d in told_by(detections, metrics) if d.shift_sigmas > 0]
