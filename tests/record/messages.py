"""A small set of facts, as the other processes send them."""

from dataclasses import replace

import numpy as np

from actuators.records import (
    Action,
    ActionKind,
    Approval,
    Change,
    DecisionEvent,
    Effect,
    Event,
    Mode,
    ReasonCode,
    Verdict,
)
from cluster.frame import Frame, Layout, SeriesKey
from detectors.records import Alert, AlertState, Cause, Detection, RuledOut, Scope, Severity
from pipelines.messages.decisions import event_hash

NOW_NS = 1_796_040_000_000_000_000  # 2026-11-30 12:00:00 UTC
SECOND_NS = 1_000_000_000

PORT_LAYOUT = Layout(
    (
        SeriesKey("port/leaf1:Ethernet1", "net_if_out_octets_total"),
        SeriesKey("port/leaf1:Ethernet2", "net_if_out_octets_total"),
        SeriesKey("port/leaf1:Ethernet1", "net_queue_dropped_packets_total", 'queue="3"'),
    )
)
JOB_LAYOUT = Layout((SeriesKey("job/pretrain", "train_step_seconds"),))


def frame(
    values: list[list[float]],
    *,
    sequence: int,
    layout: Layout = PORT_LAYOUT,
    source: str = "switch/leaf1",
    start_ns: int = NOW_NS,
    step_ns: int = SECOND_NS,
) -> Frame:
    rows = len(values)
    return Frame(
        source=source,
        cell="pod1",
        layout=layout,
        time_ns=start_ns + step_ns * np.arange(rows, dtype=np.int64),
        values=np.array(values, dtype=np.float64).reshape(rows, len(layout.columns)),
        received_ns=start_ns + step_ns * rows,
        collector="collect-1",
        sequence=sequence,
    )


DETECTION = Detection(
    detection_id="det-1",
    cell="pod1",
    series=SeriesKey("port/leaf1:Ethernet1", "net_queue_dropped_packets_total", 'queue="3"'),
    detector="cusum",
    scope=Scope.SELF,
    onset_ns=NOW_NS,
    detected_ns=NOW_NS + 4 * SECOND_NS,
    shift_sigmas=7.5,
    before=0.0,
    after=120.0,
)

ALERT = Alert(
    alert_id="alert-1",
    cell="pod1",
    component="link/leaf1:Ethernet1",
    cause=Cause.LINK_DEGRADED,
    state=AlertState.OPENED,
    revision=1,
    severity=Severity.CRITICAL,
    onset_ns=NOW_NS,
    detected_ns=NOW_NS + 5 * SECOND_NS,
    revised_ns=NOW_NS + 5 * SECOND_NS,
    confidence=0.9,
    evidence=(DETECTION,),
    ruled_out=(
        RuledOut(component="gpu/h1:a", cause=Cause.SLOW_GPU_CLOCK, reason="clocks are steady"),
    ),
    affected=("job/pretrain",),
    summary="FEC errors rise on leaf1:Ethernet1",
)

ACTION = Action(
    action_id="action-1",
    kind=ActionKind.REROUTE,
    target="link/leaf1:Ethernet1",
    parameter="weight_share",
    from_value="1.0",
    to_value="0.05",
    changes=(Change(target="switch/leaf1", path="/weight", from_value="20", to_value="1"),),
    expected_gain_ratio=0.4,
    expected_cost_seconds=1.0,
    driver="gnmi_set",
)

EFFECT = Effect(
    component="job/pretrain",
    metric="train_step_seconds",
    better="lower",
    healthy=1.0,
    before=1.6,
    after=1.1,
    gain_low_ratio=0.25,
    gain_high_ratio=0.37,
    samples=20,
    verdict=Verdict.IMPROVED,
)


def decision_events() -> list[DecisionEvent]:
    """Return the events of one decision, chained: proposed, invoked, succeeded, measured, kept."""
    told = [
        (Event.PROPOSED, ReasonCode.ALERT_ANSWERED, None),
        (Event.INVOKED, ReasonCode.WITHIN_POLICY, None),
        (Event.SUCCEEDED, ReasonCode.READ_BACK_EQUAL, None),
        (Event.MEASURED, ReasonCode.EFFECT_IMPROVED, EFFECT),
        (Event.KEPT, ReasonCode.EFFECT_IMPROVED, EFFECT),
    ]
    events: list[DecisionEvent] = []
    for sequence, (event, reason_code, effect) in enumerate(told, start=1):
        made = DecisionEvent(
            decision_id="decision-1",
            alert_id="alert-1",
            cell="pod1",
            component="link/leaf1:Ethernet1",
            cause="link_degraded",
            sequence=sequence,
            at_ns=NOW_NS + (5 + sequence) * SECOND_NS,
            event=event,
            reason_code=reason_code,
            reason=f"because of {reason_code}",
            mode=Mode.AUTO,
            action=ACTION,
            effect=effect,
            evidence_ids=("det-1",),
            previous_hash=events[-1].event_hash if events else "",
        )
        events.append(replace(made, event_hash=event_hash(made)))
    return events


APPROVAL = Approval(
    request_id="request-1",
    decision_id="decision-1",
    cell="pod1",
    verb="approve",
    who="ana",
    why="maintenance is over",
    at_ns=NOW_NS + 6 * SECOND_NS,
)
