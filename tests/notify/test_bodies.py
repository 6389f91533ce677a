import json
from dataclasses import replace

from detectors.records import AlertState, Severity
from pipelines.notify.alertmanager import alertmanager_body, fingerprint
from pipelines.notify.bodies import standard_body
from pipelines.notify.fields import LARGEST_BODY_BYTES
from pipelines.notify.notices import notice_of_alert, notice_of_decision
from tests.record.messages import ALERT, SECOND_NS, decision_events

PLACE = ("telemetry.alerts", 0, 7)
RESOLVED = replace(
    ALERT,
    revision=3,
    state=AlertState.RESOLVED,
    severity=Severity.WARNING,
    revised_ns=ALERT.onset_ns + 60 * SECOND_NS,
)


def test_alert_as_a_standard_webhook() -> None:
    assert json.loads(standard_body(notice_of_alert(ALERT, PLACE))) == {
        "type": "degradation.detected",
        "timestamp": "2026-11-30T12:00:05.000Z",
        "data": {
            "alert_id": "alert-1",
            "revision": 1,
            "state": "opened",
            "component": "link/leaf1:Ethernet1",
            "cause": "link_degraded",
            "severity": "critical",
            "cell": "pod1",
            "onset": "2026-11-30T12:00:00.000Z",
            "detected": "2026-11-30T12:00:05.000Z",
            "revised": "2026-11-30T12:00:05.000Z",
            "confidence": 0.9,
            "summary": "FEC errors rise on leaf1:Ethernet1",
            "affected": ["job/pretrain"],
            "evidence": [
                {
                    "detection_id": "det-1",
                    "component": "port/leaf1:Ethernet1",
                    "metric": "net_queue_dropped_packets_total",
                    "attributes": 'queue="3"',
                    "detector": "cusum",
                    "scope": "self",
                    "shift_sigmas": 7.5,
                    "before": 0.0,
                    "after": 120.0,
                }
            ],
            "ruled_out": [
                {
                    "component": "gpu/h1:a",
                    "cause": "slow_gpu_clock",
                    "reason": "clocks are steady",
                }
            ],
        },
    }


def test_events_of_a_decision_by_type() -> None:
    notices = [notice_of_decision(event, PLACE) for event in decision_events()]
    assert [n and n.event_type for n in notices] == [
        "action.proposed",
        "action.executing",
        "action.succeeded",
        None,
        None,
    ]


def test_unknown_level_is_null_not_nan() -> None:
    event = decision_events()[3]
    assert event.effect is not None
    event = replace(event, effect=replace(event.effect, healthy=float("nan")))
    notice = notice_of_decision(replace(event, event=decision_events()[2].event), PLACE)
    assert notice is not None
    assert json.loads(standard_body(notice))["data"]["effect"]["healthy"] is None


def test_long_text_is_cut_on_a_character() -> None:
    """C70: 5,000 characters of UTF-8 and 400 detections still make a whole body."""
    long = replace(ALERT, summary="Ж€😀" * 1700, evidence=ALERT.evidence * 400)
    body = standard_body(notice_of_alert(long, PLACE))
    data = json.loads(body.decode())["data"]
    assert len(body) < LARGEST_BODY_BYTES
    assert data["summary"].endswith("…")
    assert long.summary.startswith(data["summary"][:-1])
    assert 0 < len(data["evidence"]) < 400


def test_alertmanager_firing_and_resolved_meet() -> None:
    """C73: severity changes between the two, the identity does not."""
    firing = json.loads(alertmanager_body(notice_of_alert(ALERT, PLACE), receiver="ops"))
    resolved = json.loads(alertmanager_body(notice_of_alert(RESOLVED, PLACE), receiver="ops"))
    assert firing["version"] == "4"
    assert (firing["status"], resolved["status"]) == ("firing", "resolved")
    for key in ("groupKey", "groupLabels", "receiver"):
        assert firing[key] == resolved[key]
    assert firing["alerts"][0]["fingerprint"] == resolved["alerts"][0]["fingerprint"]
    assert [b["alerts"][0]["endsAt"] for b in (firing, resolved)] == [
        "0001-01-01T00:00:00Z",
        "2026-11-30T12:01:00.000Z",
    ]


def test_fingerprint_is_prometheus() -> None:
    # The vector of prometheus/common's own test.
    labels = {"name": "garland, briggs", "fear": "love is not enough"}
    assert fingerprint(labels) == f"{5799056148416392346:016x}"
    assert fingerprint({}) == f"{14695981039346656037:016x}"
