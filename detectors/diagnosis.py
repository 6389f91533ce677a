"""Joins shifts over topology and onset order into one cause on the component at fault."""

from cluster import component as names
from detectors.evidence import PORT_RATES, Diagnosis, Scene
from detectors.gpus import diagnose_gpus
from detectors.imbalance import diagnose_imbalance
from detectors.links import diagnose_drops, diagnose_links
from detectors.nics import diagnose_nics
from detectors.records import Cause, Detection, RuledOut
from detectors.starvation import diagnose_pools
from detectors.traffic import CARRIES, MOVED

_KINDS_WITHOUT_TOPOLOGY = frozenset({"port", "switch", "nic", "host"})


def diagnose(scene: Scene) -> list[Diagnosis]:
    """Return what is wrong, culprits first; whom a culprit explains is not accused."""
    culprits = _without_rivals(
        [
            *diagnose_links(scene),
            *diagnose_gpus(scene),
            *diagnose_pools(scene),
            *diagnose_drops(scene),
        ]
    )
    blamed = {component for culprit in culprits for component in culprit.affected}
    # A job that has a culprit sends less on every rail it uses, and not evenly so.
    culprits += [nic for nic in diagnose_nics(scene) if not blamed.intersection(nic.affected)]
    slow = {each.component for each in culprits if names.kind_of(each.component) == "gpu"}
    culprits += diagnose_imbalance(scene, slow)
    explained = {d.detection_id for culprit in culprits for d in culprit.evidence}
    return [
        *culprits,
        *_suffering_jobs(scene, culprits),
        *_strongest_unknown(scene, explained),
    ]


def _without_rivals(found: list[Diagnosis]) -> list[Diagnosis]:
    """Drop weak hypotheses that a sure one explains by what both claim.

    A slow GPU slows its whole job, and with it what every link carries; a link that carries less
    than its siblings without an error on it is then a victim.
    """
    claimed = {d.detection_id for each in found if each.sure for d in each.evidence}
    kept = []
    for each in found:
        shared = {d.detection_id for d in each.evidence} & claimed
        if each.sure or not shared or each.confidence > 0.5:  # noqa: PLR2004 - weak
            kept.append(each)
    return kept


def _suffering_jobs(scene: Scene, culprits: list[Diagnosis]) -> list[Diagnosis]:
    """Return jobs that became slower and no culprit explains."""
    explained = {component for culprit in culprits for component in culprit.affected}
    return [
        Diagnosis(
            component=job,
            cause=Cause.UNEXPLAINED,
            evidence=tuple(shifts),
            confidence=0.3,
            sure=False,
            affected=(job,),
            ruled_out=_nobody(scene, job),
            summary=f"{job} became slower; no link and no GPU of it left its peers",
        )
        for job, shifts in scene.job_shifts().items()
        if shifts and job not in explained
    ]


def _nobody(scene: Scene, job: str) -> tuple[RuledOut, ...]:
    ranks = scene.jobs[job].gpus if job in scene.jobs else ()
    if not ranks:
        return ()
    return (
        RuledOut(
            component=job,
            cause=Cause.SLOW_GPU_CLOCK,
            reason=f"none of its {len(ranks)} GPUs left its peers",
        ),
    )


def _strongest_unknown(scene: Scene, explained: set[str]) -> list[Diagnosis]:
    """Return what changed on each switch or host that topology does not know, strongest first.

    A port's rate by itself is load; that traffic moved between a device's ports is not.
    """
    known = scene.topology.cells
    by_owner: dict[str, list[Detection]] = {}
    for component, detections in scene.by_component.items():
        owner = names.owner_of(component)
        if names.kind_of(component) in _KINDS_WITHOUT_TOPOLOGY and owner not in known:
            rest = [d for d in detections if d.detection_id not in explained]
            by_owner.setdefault(owner, []).extend(
                d for d in rest if d.series.metric not in PORT_RATES
            )
    found = [_unknown(rest) for rest in by_owner.values() if rest]
    return sorted(found, key=lambda each: (not each.sure, each.onset_ns, each.component))


def _unknown(detections: list[Detection]) -> Diagnosis:
    strongest = max(
        detections,
        key=lambda d: (d.series.metric == CARRIES, abs(d.shift_sigmas), d.detection_id),
    )
    component = strongest.series.component
    moved = strongest.series.metric in {CARRIES, MOVED}
    return Diagnosis(
        component=component,
        cause=Cause.UNEXPLAINED,
        evidence=tuple(detections),
        confidence=0.5 if moved else 0.3,
        sure=moved,
        summary=_what_changed(strongest),
        apart=False,
    )


def _what_changed(strongest: Detection) -> str:
    component, metric = strongest.series.component, strongest.series.metric
    if metric == CARRIES:
        now = "carries traffic again" if strongest.after > strongest.before else "carries nothing"
        return f"{component} {now}, and the other ports of its device still do as before"
    if metric == MOVED:
        return f"traffic moved between the ports of {component}"
    return f"{component}: {metric} shifted"
