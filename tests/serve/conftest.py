"""A database with one story in it: an alert, its decision, and what came of it."""

from dataclasses import dataclass, field

import pytest

from actuators.records import Action, ActionKind, Change, DecisionEvent, Event, Mode, ReasonCode
from cluster.frame import SeriesKey
from detectors.records import Alert, AlertState, Cause, Detection, Scope, Severity

_SECOND = 1_000_000_000


def an_alert(**fields):
    detection = Detection(
        detection_id="d1",
        cell="pod1",
        series=SeriesKey("port/spine2:Ethernet1", "net_if_pre_fec_ber_ratio"),
        detector="page_hinkley",
        scope=Scope.SELF,
        onset_ns=100 * _SECOND,
        detected_ns=103 * _SECOND,
        shift_sigmas=40.0,
        before=1e-9,
        after=1e-6,
    )
    return Alert(
        **(
            {
                "alert_id": "a1",
                "cell": "pod1",
                "component": "link/leaf1:Ethernet50",
                "cause": Cause.LINK_DEGRADED,
                "state": AlertState.OPENED,
                "revision": 1,
                "severity": Severity.WARNING,
                "onset_ns": 100 * _SECOND,
                "detected_ns": 104 * _SECOND,
                "revised_ns": 104 * _SECOND,
                "confidence": 0.9,
                "evidence": (detection,),
                "affected": ("job/pretrain",),
                "summary": "FEC errors rise",
            }
            | fields
        )
    )


def an_event(**fields):
    action = Action(
        action_id="x1",
        kind=ActionKind.REROUTE,
        target="link/leaf1:Ethernet50",
        parameter="weight_share",
        from_value="1.0",
        to_value="0.05",
        changes=(Change(target="switch/leaf1", path="/w", from_value="20", to_value="1"),),
        expected_gain_ratio=0.3,
        expected_cost_seconds=0.0,
        driver="gnmi",
    )
    return DecisionEvent(
        **(
            {
                "decision_id": "dec1",
                "alert_id": "a1",
                "cell": "pod1",
                "component": "link/leaf1:Ethernet50",
                "cause": "link_degraded",
                "sequence": 1,
                "at_ns": 105 * _SECOND,
                "event": Event.PROPOSED,
                "reason_code": ReasonCode.ALERT_ANSWERED,
                "reason": "reroute answers link_degraded",
                "mode": Mode.APPROVE,
                "action": action,
            }
            | fields
        )
    )


@dataclass
class StoredFacts:
    """Facts as `pipelines.facts.Facts` reads them, held in memory."""

    alert_revisions: list[Alert] = field(default_factory=list)
    decision_events: list[DecisionEvent] = field(default_factory=list)

    def alerts(self, *, limit=100):
        newest = {a.alert_id: a for a in self.alert_revisions}
        return list(newest.values())[:limit]

    def revisions(self, alert_id):
        return [a for a in self.alert_revisions if a.alert_id == alert_id]

    def decisions(self, *, limit=100):
        newest = {e.decision_id: e for e in self.decision_events}
        return list(newest.values())[:limit]

    def events(self, decision_id):
        return [e for e in self.decision_events if e.decision_id == decision_id]


@pytest.fixture
def facts():
    return StoredFacts(alert_revisions=[an_alert()], decision_events=[an_event()])
