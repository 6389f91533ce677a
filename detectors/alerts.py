"""The alerts of a cell: opened once, revised when it matters, resolved with hysteresis."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from cluster import component as names
from detectors.evidence import Diagnosis, metrics_of
from detectors.facts import FACTS
from detectors.false_alarms import Assurance
from detectors.judge import Judged, fact_id
from detectors.records import Alert, AlertState, Cause, Detection, Severity

_MATERIAL_CONFIDENCE = 0.1
_EVIDENCE_KEPT = 64
_JOB: Final = frozenset({"job"})
_OF_NETWORK: Final = frozenset({"job", "nic", "gpu", "host"})
_VICTIMS: Final[Mapping[str, frozenset[str]]] = {
    "link": _OF_NETWORK,
    "port": _OF_NETWORK,
    "switch": _OF_NETWORK,
    "gpu": frozenset({"job", "nic", "port"}),
    "job": frozenset(),
}
# Shifts on connected components this close together are one event.
_EVENT_NS = 60_000_000_000
_EVENT_KEPT_NS = 600_000_000_000


@dataclass(slots=True)
class _Open:
    """An open alert, when it was last revised, and since when its own evidence is quiet."""

    alert: Alert
    revised_ns: int
    evidence: dict[str, Detection] = field(default_factory=dict)
    quiet_since_ns: int | None = None

    def take(self, fresh: Iterable[Detection]) -> bool:
        """Add evidence; tell whether a source stated something that is not in it yet."""
        stated = False
        for detection in fresh:
            if detection.detection_id in self.evidence:
                continue
            stated |= detection.detector == FACTS
            if len(self.evidence) >= _EVIDENCE_KEPT and detection.detector == FACTS:
                del self.evidence[next(iter(self.evidence))]
            if len(self.evidence) < _EVIDENCE_KEPT:
                self.evidence[detection.detection_id] = detection
        return stated

    def own(self) -> Iterable[Judged]:
        """Series that keep the alert open: a victim's series do so for the victim's alert only.

        A job that has to do with less than before is slower for as long, and so is what it loads.
        """
        victims = _VICTIMS.get(names.kind_of(self.alert.component), _JOB)
        for detection in self.evidence.values():
            if names.kind_of(detection.series.component) not in victims:
                yield (detection.series, detection.scope)


class AlertBook:
    """Turns what diagnosis says now into alert revisions, one alert a component.

    Time is the collector's clock (`now_ns`), which runs evenly; what an alert tells is device time
    (`at_ns`).
    """

    def __init__(self, cell: str, *, join_seconds: float, resolve_seconds: float) -> None:
        self._cell = cell
        self._join_ns = int(join_seconds * 1e9)
        self._resolve_ns = int(resolve_seconds * 1e9)
        self._open: dict[str, _Open] = {}
        self._pending: dict[str, int] = {}
        self._moved: dict[str, int] = {}
        self._explained_until_ns: dict[str, int] = {}

    @property
    def is_idle(self) -> bool:
        """True when nothing is open and nothing waits to be."""
        return not self._open and not self._pending

    @property
    def open_alerts(self) -> tuple[Alert, ...]:
        """The newest revision of every alert that stands."""
        return tuple(opened.alert for opened in self._open.values())

    def update(
        self,
        diagnoses: Iterable[Diagnosis],
        active: Mapping[Judged, Detection],
        *,
        now_ns: int,
        at_ns: int,
        assurance: Assurance,
    ) -> list[Alert]:
        """Return the revisions that are due; what may be chance waits for more evidence."""
        best = _best_by_component(self._near(diagnoses, active))
        best = {c: d for c, d in best.items() if c in self._open or _bound(d, assurance) < math.inf}
        self._pending = {c: since for c, since in self._pending.items() if c in best}
        told = []
        for component, diagnosis in best.items():
            if component in self._open:
                bound = _bound(diagnosis, assurance)
                told += self._revise(self._open[component], diagnosis, now_ns, at_ns, bound)
            elif self._is_due(diagnosis, now_ns):
                told += [self._opened(diagnosis, now_ns, at_ns, _bound(diagnosis, assurance))]
                told += self._explained(diagnosis, at_ns)
        told += self._quiet(active, now_ns, at_ns)
        return told

    def _near(
        self, diagnoses: Iterable[Diagnosis], active: Mapping[Judged, Detection]
    ) -> list[Diagnosis]:
        """Leave out what became unexplained shortly before or after what already is an alert.

        Where links are not known, one event shows on many devices; what an alert stands for once
        opens no other, however long it lasts.
        """
        standing = {d.detection_id for d in active.values()}
        newest = max((d.detected_ns for d in active.values()), default=0)
        self._moved = {
            i: onset
            for i, onset in self._moved.items()
            if i in standing or newest - onset <= _EVENT_KEPT_NS
        }
        kept = []
        for diagnosis in diagnoses:
            if diagnosis.apart or diagnosis.component in self._open:
                kept.append(diagnosis)
                continue
            fresh = tuple(d for d in diagnosis.evidence if d.detection_id not in self._moved)
            told = [*self._moved.values()]
            near = tuple(
                d for d in fresh if any(abs(d.onset_ns - at_ns) <= _EVENT_NS for at_ns in told)
            )
            self._moved |= {d.detection_id: d.onset_ns for d in near}
            fresh = tuple(d for d in fresh if d not in near)
            if fresh:
                kept.append(replace(diagnosis, evidence=fresh))
        return kept

    def _is_due(self, diagnosis: Diagnosis, now_ns: int) -> bool:
        component = diagnosis.component
        if diagnosis.cause is Cause.UNEXPLAINED and self._is_explained(diagnosis):
            return False
        since_ns = self._pending.setdefault(component, now_ns)
        if not diagnosis.sure and now_ns - since_ns < self._join_ns:
            return False
        del self._pending[component]
        return True

    def _is_explained(self, diagnosis: Diagnosis) -> bool:
        """Tell whether a culprit is known for it, or was when it began.

        A victim may be slower for as long as it takes to give back what was taken from it.
        """
        component = diagnosis.component
        if diagnosis.onset_ns <= self._explained_until_ns.get(component, 0):
            return True
        return any(component in each.alert.affected for each in self._open.values())

    def _opened(self, diagnosis: Diagnosis, now_ns: int, at_ns: int, bound: float) -> Alert:
        evidence = {d.detection_id: d for d in diagnosis.evidence[:_EVIDENCE_KEPT]}
        if not diagnosis.apart:
            self._moved |= {d.detection_id: d.onset_ns for d in diagnosis.evidence}
        alert = Alert(
            alert_id=fact_id(
                self._cell, diagnosis.component, diagnosis.cause, str(diagnosis.onset_ns)
            ),
            cell=self._cell,
            component=diagnosis.component,
            cause=diagnosis.cause,
            state=AlertState.OPENED,
            revision=1,
            severity=_severity(diagnosis),
            onset_ns=diagnosis.onset_ns,
            detected_ns=at_ns,
            revised_ns=at_ns,
            confidence=diagnosis.confidence,
            evidence=tuple(evidence.values()),
            ruled_out=diagnosis.ruled_out,
            affected=diagnosis.affected,
            summary=diagnosis.summary,
            false_alarms_per_day=bound,
        )
        self._open[diagnosis.component] = _Open(alert, now_ns, evidence)
        return alert

    def _revise(
        self, opened: _Open, diagnosis: Diagnosis, now_ns: int, at_ns: int, bound: float
    ) -> list[Alert]:
        alert, fresh = opened.alert, diagnosis.evidence
        grew = metrics_of(fresh) - metrics_of(opened.evidence.values())
        stated = opened.take(fresh)
        surer = diagnosis.confidence - alert.confidence >= _MATERIAL_CONFIDENCE
        more = set(diagnosis.affected) - set(alert.affected)
        due = now_ns - opened.revised_ns >= self._join_ns
        if not stated and not (due and (grew or surer or more)):
            return []
        opened.revised_ns = now_ns
        better = diagnosis if diagnosis.confidence >= alert.confidence else None
        opened.alert = replace(
            alert,
            state=AlertState.UPDATED,
            revision=alert.revision + 1,
            revised_ns=at_ns,
            severity=_severity(diagnosis) if stated else alert.severity,
            cause=better.cause if better else alert.cause,
            confidence=max(alert.confidence, diagnosis.confidence),
            evidence=tuple(opened.evidence.values()),
            ruled_out=better.ruled_out if better else alert.ruled_out,
            affected=tuple(dict.fromkeys((*alert.affected, *diagnosis.affected))),
            summary=better.summary if better else alert.summary,
            false_alarms_per_day=min(bound, alert.false_alarms_per_day),
        )
        return [opened.alert]

    def _explained(self, culprit: Diagnosis, at_ns: int) -> list[Alert]:
        """Resolve what was told as unexplained and now has a culprit."""
        return [
            self._resolved(component, at_ns, f"explained by {culprit.component}")
            for component in culprit.affected
            if component in self._open
            and self._open[component].alert.cause is Cause.UNEXPLAINED
            and component != culprit.component
        ]

    def _quiet(self, active: Mapping[Judged, Detection], now_ns: int, at_ns: int) -> list[Alert]:
        over = []
        for component, opened in self._open.items():
            if any(key in active for key in opened.own()):
                opened.quiet_since_ns = None
            elif opened.quiet_since_ns is None:
                opened.quiet_since_ns = now_ns
            elif now_ns - opened.quiet_since_ns >= self._resolve_ns:
                over.append(component)
        return [self._resolved(component, at_ns, "back to normal") for component in over]

    def _resolved(self, component: str, at_ns: int, why: str) -> Alert:
        alert = self._open.pop(component).alert
        if alert.cause is not Cause.UNEXPLAINED:
            self._explained_until_ns |= dict.fromkeys(alert.affected, at_ns)
        return replace(
            alert,
            state=AlertState.RESOLVED,
            revision=alert.revision + 1,
            revised_ns=at_ns,
            summary=f"{alert.summary}; {why}",
        )


def _bound(diagnosis: Diagnosis, assurance: Assurance) -> float:
    return assurance.bound((d.series, d.scope) for d in diagnosis.evidence)


def _best_by_component(diagnoses: Iterable[Diagnosis]) -> dict[str, Diagnosis]:
    best: dict[str, Diagnosis] = {}
    for diagnosis in diagnoses:
        other = best.get(diagnosis.component)
        if other is None or diagnosis.confidence > other.confidence:
            best[diagnosis.component] = diagnosis
    return best


def _severity(diagnosis: Diagnosis) -> Severity:
    if diagnosis.critical:
        return Severity.CRITICAL
    return Severity.INFO if diagnosis.cause is Cause.UNEXPLAINED else Severity.WARNING
