"""When a mended link gets its traffic back."""

from actuators import recovery
from actuators.decision import begin
from actuators.records import Action, ActionKind, Event, Mode, ReasonCode
from actuators.settings import RerouteConfig
from tests.actuators.inputs import SECOND, alert

CONFIG = RerouteConfig(hold_down_seconds=60.0, flap_memory_seconds=1000.0)


def returned(at_seconds, *, target="link/leaf1:e49", code=ReasonCode.RECOVERED):
    decision = begin(
        alert(),
        decision_id=f"d{at_seconds}",
        event=Event.PROPOSED,
        reason_code=ReasonCode.ALERT_ANSWERED,
        reason="",
        at_ns=0,
        mode=Mode.AUTO,
        config_hash="",
        hash_of=lambda _: "h",
        action=Action(
            action_id="a",
            kind=ActionKind.REROUTE,
            target=target,
            parameter="weight_share",
            from_value="1.00",
            to_value="0.05",
            changes=(),
            expected_gain_ratio=0.1,
            expected_cost_seconds=1.0,
            driver="gnmi",
        ),
    )
    at_ns = at_seconds * SECOND
    for event in (Event.INVOKED, Event.VERIFIED, Event.MEASURED, Event.KEPT, Event.IN_PROGRESS):
        decision.record(event, code, "", at_ns=at_ns)
    decision.record(Event.ROLLED_BACK, code, "", at_ns=at_ns)
    return decision


def hold(decisions, now_seconds):
    return recovery.hold_down_seconds(
        "link/leaf1:e49", decisions, now_ns=now_seconds * SECOND, config=CONFIG
    )


def test_every_return_doubles_the_hold_down_until_it_is_forgotten():
    flapping = [returned(100), returned(300)]
    assert hold([], 400) == 60.0
    assert hold(flapping, 400) == 240.0
    assert hold(flapping, 1150) == 120.0
    assert hold(flapping, 1300) == 60.0


def test_hold_down_is_bounded_and_other_links_and_persons_do_not_count():
    assert hold([returned(n) for n in range(1, 40)], 50) == 1000.0
    assert hold([returned(1, target="link/leaf2:e49")], 50) == 60.0
    assert hold([returned(1, code=ReasonCode.REVERTED_BY_PERSON)], 50) == 60.0
