from dataclasses import replace

from actuators.records import Mode
from pipelines.agents.explain import event_of_row, explain
from pipelines.messages.decisions import encode_event
from tests.actuators.inputs import SECOND, alert
from tests.agents.act_world import SLOW, World, closed_worlds  # noqa: F401 - a fixture


async def told(tmp_path):
    world = World(tmp_path, mode=Mode.APPROVE)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(alert(evidence=(SLOW,)), sent_ns=110 * SECOND)
    await cell.on_approval(world.ask("approve"))
    await world.settle()
    world.steps(113.0, 12, 1.1)
    world.clock.seconds = 125.0
    await cell.tick()
    return world.told


async def test_story_names_everything_that_matters(tmp_path):
    story = explain(await told(tmp_path), alert(evidence=(SLOW,)))
    for part in (
        "Decision a1-1",
        "link/leaf1:e49: link_degraded (cell pod1)",
        "port/leaf1:e49 net_if_out_octets_per_second: 10 -> 3 (+8.0 sigmas",
        "reroute link/leaf1:e49: weight_share 1.00 -> 0.05 by gnmi",
        "next-hop[index=1]/config/wecmp-weight: 20 -> 1",
        "kill switch: not pulled",
        "ada approved at 1970-01-01 00:01:50 UTC: approve it",
        "job/train train_step_seconds (lower is better)",
        "improved: gain between",
        "chain          whole, 8 events",
    ):
        assert part in story, story
    assert len(story.splitlines()) < 60


async def test_changed_history_shows(tmp_path):
    events = await told(tmp_path)
    events[2] = replace(events[2], actor="mallory")
    assert "BROKEN: event 3 was changed" in explain(events, None)
    assert "BROKEN: event 3 is missing" in explain([*events[:2], *events[3:]], None)


async def test_decision_to_do_nothing_is_a_story_too(tmp_path):
    world = World(tmp_path)
    cell = await world.start()
    quiet = replace(alert(), cause="telemetry_fault")
    await cell.on_alert(quiet, sent_ns=110 * SECOND)
    story = explain(world.told, None)
    assert "basis          no actuator answers telemetry_fault" in story
    assert "action         nothing" in story


async def test_row_of_the_database_is_the_event(tmp_path):
    events = await told(tmp_path)
    assert [event_of_row(encode_event(e)).event_hash for e in events] == [
        e.event_hash for e in events
    ]
