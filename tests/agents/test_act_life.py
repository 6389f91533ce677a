"""The life of a decision in every mode."""

import pytest

from actuators.decision import chain_fault
from actuators.ports import PermanentActuationError
from actuators.readings import Reading
from actuators.records import Event, Mode, ReasonCode, Verdict
from cluster.frame import SeriesKey
from detectors.records import AlertState, Cause
from pipelines.messages.decisions import event_hash
from tests.actuators.inputs import SECOND, alert
from tests.agents.act_world import SLOW, World, closed_worlds  # noqa: F401 - a fixture

FULL, DRAINED = ["20"] * 4, ["1", "20", "1", "20"]
DEGRADED = alert(evidence=(SLOW,))
SENT = 110 * SECOND


async def opened(tmp_path, **settings):
    """Return a world whose alert has just come in."""
    world = World(tmp_path, **settings)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await world.settle()
    return world, cell


async def measured(world, cell, level):
    """Let the window pass with steps of a level."""
    world.steps(113.0, 12, level)
    world.clock.seconds = 125.0
    await cell.tick()
    await world.settle()


async def test_auto_acts_measures_and_keeps(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    assert world.weights() == DRAINED
    assert world.events() == [Event.PROPOSED, Event.INVOKED, Event.SUCCEEDED, Event.VERIFIED]
    await measured(world, cell, 1.1)
    assert world.events()[4:] == [Event.MEASURED, Event.KEPT]
    effect = world.last().effect
    assert (effect.verdict, effect.component) == (Verdict.IMPROVED, "job/train")
    assert effect.healthy == pytest.approx(1.0, rel=0.02)
    assert effect.before == pytest.approx(2.0, rel=0.02)
    assert effect.after == pytest.approx(1.1, rel=0.02)
    assert effect.gain_low_ratio < 0.45 < effect.gain_high_ratio
    assert chain_fault(world.told, event_hash) is None


async def test_action_that_harms_is_taken_back_before_the_window_ends(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    world.steps(113.0, 6, 4.0)
    await cell.tick()
    await world.settle()
    assert world.events()[4:] == [Event.MEASURED, Event.IN_PROGRESS, Event.ROLLED_BACK]
    assert world.last().reason_code is ReasonCode.EFFECT_WORSE
    assert world.weights() == FULL


async def test_action_whose_objective_falls_silent_is_kept_as_unknown(tmp_path):
    """C77."""
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    world.clock.seconds = 131.0
    await cell.tick()
    assert world.events()[-1] is Event.VERIFIED
    world.clock.seconds = 133.0
    await cell.tick()
    assert world.events()[4:] == [Event.MEASURED, Event.KEPT]
    assert world.last().reason_code is ReasonCode.EFFECT_UNKNOWN


async def test_advice_changes_nothing_and_tells_what_came_of_it(tmp_path):
    world, cell = await opened(tmp_path)
    assert world.events() == [Event.PROPOSED, Event.ADVISED]
    await measured(world, cell, 2.0)
    assert world.events()[2:] == [Event.MEASURED]
    assert world.last().effect.verdict is Verdict.NEUTRAL
    assert world.weights() == FULL
    assert world.targets.writes == []


async def test_approved_action_runs_in_the_name_of_who_approved(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.APPROVE)
    assert world.events() == [Event.PROPOSED, Event.APPROVAL_REQUESTED]
    assert world.weights() == FULL
    await cell.on_approval(world.ask("approve"))
    await cell.on_approval(world.ask("approve"))
    await world.settle()
    assert world.events()[2:] == [
        Event.APPROVED,
        Event.INVOKED,
        Event.SUCCEEDED,
        Event.VERIFIED,
    ]
    approved = world.told[2]
    assert (approved.actor, approved.reason) == ("ada", "approve it")
    assert world.weights() == DRAINED


async def test_rejected_action_is_not_taken(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.APPROVE)
    await cell.on_approval(world.ask("reject"))
    await cell.on_approval(world.ask("approve"))
    assert world.events()[2:] == [Event.REJECTED]
    assert (world.last().actor, world.last().reason) == ("ada", "reject it")
    assert world.weights() == FULL


async def test_nobody_decides_and_the_proposal_lapses(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.APPROVE, approval_expiry_seconds=60.0)
    world.clock.seconds = 169.0
    await cell.tick()
    assert world.events()[-1] is Event.APPROVAL_REQUESTED
    world.clock.seconds = 170.0
    await cell.tick()
    await cell.on_approval(world.ask("approve"))
    assert (world.last().event, world.last().reason_code) == (
        Event.EXPIRED,
        ReasonCode.APPROVAL_EXPIRED,
    )


async def test_approval_is_checked_again_when_it_runs(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.APPROVE)
    world.clock.seconds = 200.0
    await cell.on_alert(DEGRADED, sent_ns=199 * SECOND)
    await cell.on_approval(world.ask("approve"))
    assert world.events()[2:] == [Event.APPROVED, Event.SKIPPED_STALE]
    assert world.last().reason_code is ReasonCode.STALE_DATA
    assert world.weights() == FULL


async def test_approval_does_nothing_about_an_alert_that_nobody_says_stands(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.APPROVE)
    world.clock.seconds = 200.0
    await cell.on_approval(world.ask("approve"))
    assert world.events()[2:] == [Event.APPROVED, Event.SKIPPED_STALE]
    assert world.last().reason_code is ReasonCode.STALE_ALERT
    assert world.weights() == FULL


async def test_alert_too_old_after_an_outage_is_decided_when_it_is_told_again(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    world.clock.seconds = 150.0
    await cell.on_alert(DEGRADED, sent_ns=110 * SECOND)
    assert world.last("a1-1").reason_code is ReasonCode.STALE_ALERT
    await cell.on_alert(DEGRADED, sent_ns=159 * SECOND)
    world.steps(159.0, 2, 2.0)
    world.clock.seconds = 161.0
    await cell.tick()
    await world.settle()
    assert world.events("a1-2")[-1] is Event.VERIFIED


async def test_resolved_alert_cancels_what_waits_for_a_person(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.APPROVE)
    await cell.on_alert(alert(state=AlertState.RESOLVED, revision=2), sent_ns=world.clock.now_ns())
    assert world.last().reason_code is ReasonCode.ALERT_RESOLVED
    await cell.on_approval(world.ask("approve"))
    assert world.last().event is Event.EXPIRED


async def test_resolved_alert_leaves_an_action_in_force(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    await measured(world, cell, 1.1)
    await cell.on_alert(alert(state=AlertState.RESOLVED, revision=2), sent_ns=world.clock.now_ns())
    assert world.last().event is Event.KEPT
    assert world.weights() == DRAINED


async def test_person_takes_a_kept_action_back(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    await measured(world, cell, 1.1)
    await cell.on_approval(world.ask("revert"))
    await world.settle()
    await cell.on_approval(world.ask("revert"))
    assert world.events()[6:] == [Event.IN_PROGRESS, Event.ROLLED_BACK]
    assert (world.last().actor, world.last().reason_code, world.last().reason) == (
        "ada",
        ReasonCode.REVERTED_BY_PERSON,
        "revert it",
    )
    assert world.weights() == FULL


async def test_alert_delivered_again_makes_no_second_decision(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    before = len(world.told)
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await cell.on_alert(alert(evidence=(SLOW,), state=AlertState.UPDATED, revision=2), sent_ns=SENT)
    await world.settle()
    assert len(world.told) == before
    assert len(world.targets.writes) == 1


async def test_refused_write_is_a_failed_decision(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    world.targets.refuse = [PermanentActuationError("switch/leaf1: no such path")]
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await world.settle()
    assert (world.last().event, world.last().reason) == (
        Event.FAILED,
        "switch/leaf1: no such path; everything is as it was",
    )


async def test_kill_switch_stops_everything(tmp_path):
    world, _ = await opened(tmp_path, mode=Mode.AUTO, enabled=False)
    assert world.events() == [Event.PROPOSED, Event.SKIPPED_BREAKER]
    assert world.last().reason_code is ReasonCode.KILL_SWITCH
    assert world.targets.writes == []


async def test_replayed_alert_never_acts(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=10 * SECOND)
    for _ in range(3):
        world.clock.seconds += 20.0
        await cell.tick()
    assert world.events() == [Event.PROPOSED, Event.SKIPPED_STALE]
    assert {e.decision_id for e in world.told} == {"a1-1"}


async def test_nothing_is_a_decision_with_its_reason(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    await cell.on_alert(alert("switch/leaf1", Cause.TELEMETRY_FAULT), sent_ns=SENT)
    assert world.events() == [Event.NOTHING]
    assert (world.last().reason_code, world.last().reason) == (
        ReasonCode.NO_ACTUATOR,
        "no actuator answers telemetry_fault",
    )


async def test_passing_refusal_is_looked_at_again_and_told_once(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    # Nothing tells yet how slow the link is.
    await cell.on_alert(alert(), sent_ns=SENT)
    assert world.told == []
    world.clock.seconds = 120.0
    await cell.tick()
    assert world.events() == [Event.NOTHING]
    world.clock.seconds = 140.0
    await cell.tick()
    assert world.events("a1-2") == []
    world.steps(139.0, 2, 2.0)
    await cell.on_alert(
        alert(evidence=(SLOW,), state=AlertState.UPDATED, revision=2), sent_ns=140 * SECOND
    )
    world.clock.seconds = 155.0
    await cell.tick()
    await world.settle()
    assert world.events("a1-2")[-1] is Event.VERIFIED


async def test_second_action_on_one_objective_waits_for_the_first(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    roles = {"engine/chat-0": "prefill", "engine/chat-1": "prefill", "engine/chat-2": "decode"}
    world.targets.values |= {(engine, "role"): role for engine, role in roles.items()}
    world.targets.limits = dict.fromkeys(roles, 10)
    for engine, running in zip(roles, (1.0, 2.0, 10.0), strict=True):
        for metric, value in (("running", running), ("waiting", 0.0)):
            world.worker.feed.levels.note(
                SeriesKey(engine, f"llm_requests_{metric}"), [Reading(0, 0, value)]
            )
    starved = alert("service/chat", Cause.DECODE_STARVED, alert_id="a2")
    await cell.on_alert(starved, sent_ns=SENT)
    world.clock.seconds = 121.0
    await cell.tick()
    assert world.events("a2-1") == [Event.PROPOSED, Event.SKIPPED_CONFLICT]
    assert world.last("a2-1").reason == "job/train is under the open action of a1-1"
    await measured(world, cell, 1.1)
    world.clock.seconds = 135.0
    await cell.tick()
    await world.settle()
    assert world.events("a2-2")[-1] is Event.VERIFIED


async def test_target_cools_down_between_two_actions(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    await measured(world, cell, 1.1)
    await cell.on_approval(world.ask("revert"))
    await world.settle()
    again = alert(evidence=(SLOW,), alert_id="a2")
    await cell.on_alert(again, sent_ns=115 * SECOND)
    await cell.tick()
    assert world.events("a2-1") == [Event.PROPOSED, Event.SKIPPED_COOLDOWN]
    assert world.weights() == FULL


async def test_alert_that_waited_for_the_harm_to_rest_is_still_acted_on(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.steps(80.0, 20, 1.0)
    for second in range(11):
        world.steps(100.0 + second, 1, 1.5 + second / 10)
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    for second in range(31):
        world.steps(111.0 + second, 1, 2.6 + second / 5)
        await cell.tick()
        if second < 28:
            assert world.told == []
    await world.settle()
    assert world.events()[-1] is Event.VERIFIED


async def test_replayed_alert_that_first_led_to_nothing_never_acts(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    # Nothing tells how slow the link is; later its rates do.
    await cell.on_alert(alert(), sent_ns=10 * SECOND)
    assert world.events() == [Event.NOTHING]
    for port, rate in (("e49", 1.0), ("e50", 10.0)):
        world.worker.feed.levels.note(
            SeriesKey(f"port/leaf1:{port}", "net_if_out_octets_total"),
            [Reading(0, 0, 0.0), Reading(SECOND, SECOND, rate)],
        )
    world.steps(111.0, 20, 2.0)
    await cell.tick()
    await world.settle()
    assert (len(world.told), world.targets.writes) == (1, [])
