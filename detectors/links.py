"""Is it a link? Errors on either of its ports, and less through it than through its siblings."""

from statistics import median

from cluster import component as names
from cluster.topology import Topology
from detectors.evidence import (
    CONGESTION,
    PHYSICAL,
    PORT_RATES,
    SILENT_DROPS,
    Diagnosis,
    Scene,
    metrics_of,
    told_by,
)
from detectors.facts import SIGNAL_LOST
from detectors.records import Cause, Detection, RuledOut, Scope

# This share of all links, and so many at least, do not go bad by themselves at once.
_SHARING = 0.25
_LEAST_SHARING = 4
_LOUDER = 2.0


def link_of(topology: Topology, port: str) -> str:
    """Return the link that a port is an end of; the port itself where topology knows none."""
    link = topology.links_by_port.get(names.name_of(port))
    return link.component if link is not None else port


def diagnose_links(scene: Scene) -> list[Diagnosis]:
    """Return links that are degraded, and those that are congested without being so."""
    by_link: dict[str, list[Detection]] = {}
    for component, detections in scene.by_component.items():
        if names.kind_of(component) == "port":
            by_link.setdefault(link_of(scene.topology, component), []).extend(detections)
    by_link = _without_shared(by_link, len(scene.topology.links))
    found = []
    for link, detections in by_link.items():
        victims = _victims(scene, link)
        diagnosis = _degraded(link, detections, victims) or _congested(link, detections, victims)
        if diagnosis is not None:
            found.append(diagnosis)
    return found


def _without_shared(by_link: dict[str, list[Detection]], links: int) -> dict[str, list[Detection]]:
    """Leave out what a good part of all links tells at once: no cable is the cause of that.

    A link that tells it much louder than the others keeps it.
    """
    loudness: dict[str, list[float]] = {}
    for detections in by_link.values():
        for metric in metrics_of(told_by(detections, PHYSICAL)):
            loudest = max(abs(d.shift_sigmas) for d in told_by(detections, {metric}))
            loudness.setdefault(metric, []).append(loudest)
    least = max(_LEAST_SHARING, links * _SHARING)
    usual = {m: median(each) for m, each in loudness.items() if len(each) >= least}
    return {
        link: [
            d
            for d in detections
            if abs(d.shift_sigmas) > _LOUDER * usual.get(d.series.metric, 0.0)
            or d.series.metric not in usual
        ]
        for link, detections in by_link.items()
    }


def diagnose_drops(scene: Scene) -> list[Diagnosis]:
    """Return switches and ports that drop packets without a word."""
    found = []
    for component, detections in scene.by_component.items():
        drops = told_by(detections, SILENT_DROPS)
        if drops:
            found.append(
                Diagnosis(
                    component=component,
                    cause=Cause.SILENT_DROP,
                    evidence=tuple(drops),
                    confidence=0.6,
                    sure=False,
                    summary=f"{component} drops packets in its pipeline",
                )
            )
    return found


def _victims(scene: Scene, link: str) -> dict[str, list[Detection]]:
    """Return jobs that suffer: those with a NIC on the link, any job for a link of the fabric."""
    fabric = scene.topology.fabric_link_of("port/" + names.name_of(link)) is not None
    host = names.name_of(link).partition(":")[0]
    return {
        job: shifts
        for job, shifts in scene.job_shifts().items()
        if shifts
        and (
            fabric
            or any(
                names.owner_of(rank.gpu) == host
                for rank in (scene.jobs[job].ranks if job in scene.jobs else ())
            )
        )
    }


def _degraded(
    link: str, detections: list[Detection], victims: dict[str, list[Detection]]
) -> Diagnosis | None:
    physical = told_by(detections, PHYSICAL)
    slower = [d for d in told_by(detections, PORT_RATES) if d.shift_sigmas < 0]
    if not physical:
        return _slower_than_siblings(link, slower, victims)
    hurts = bool(slower or victims)
    several = len(metrics_of(physical)) > 1
    dark = bool(told_by(physical, {SIGNAL_LOST}))
    return Diagnosis(
        component=link,
        cause=Cause.LINK_DEGRADED,
        evidence=(*physical, *slower, *_all(victims)),
        confidence=0.95 if hurts and several else 0.85 if hurts else 0.7 if several else 0.5,
        sure=bool(victims) or dark,
        critical=dark,
        affected=tuple(sorted(victims)),
        ruled_out=tuple(
            RuledOut(component=link, cause=Cause.CONGESTION, reason="errors on the wire rose too")
            for _ in told_by(detections, CONGESTION)[:1]
        ),
        summary=f"{link} gets no light"
        if dark
        else f"{link}: {_told(physical)} left their usual levels"
        + (", and less gets through it" if slower else ""),
    )


def _slower_than_siblings(
    link: str, slower: list[Detection], victims: dict[str, list[Detection]]
) -> Diagnosis | None:
    left = [d for d in slower if d.scope is Scope.PEERS]
    if not left or not victims:
        return None
    return Diagnosis(
        component=link,
        cause=Cause.LINK_DEGRADED,
        evidence=(*slower, *_all(victims)),
        confidence=0.5,
        sure=False,
        affected=tuple(sorted(victims)),
        summary=f"{link} carries less than its ECMP siblings, without errors",
    )


def _congested(
    link: str, detections: list[Detection], victims: dict[str, list[Detection]]
) -> Diagnosis | None:
    queues = told_by(detections, CONGESTION)
    if not queues:
        return None
    return Diagnosis(
        component=link,
        cause=Cause.CONGESTION,
        evidence=(*queues, *_all(victims)),
        confidence=0.6 if victims else 0.4,
        sure=False,
        affected=tuple(sorted(victims)),
        ruled_out=(
            RuledOut(component=link, cause=Cause.LINK_DEGRADED, reason="no errors on the wire"),
        ),
        summary=f"{link}: {_told(queues)} rose",
    )


def _all(victims: dict[str, list[Detection]]) -> list[Detection]:
    return [detection for job in sorted(victims) for detection in victims[job]]


def _told(detections: list[Detection]) -> str:
    return ", ".join(sorted(metrics_of(detections)))
