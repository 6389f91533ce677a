"""A mended link gets its traffic back, and what a person decided stays theirs."""

from actuators.readings import Reading
from actuators.records import Event, Mode, ReasonCode
from cluster.frame import SeriesKey
from detectors.records import AlertState
from tests.actuators.inputs import SECOND, alert
from tests.agents.act_world import SLOW, World, closed_worlds  # noqa: F401 - a fixture
from tests.agents.test_act_life import DEGRADED, DRAINED, FULL, SENT, measured, opened


async def resolve(world, cell, revision=2):
    resolved = alert(evidence=(SLOW,), state=AlertState.RESOLVED, revision=revision)
    await cell.on_alert(resolved, sent_ns=world.clock.now_ns())


async def test_recovered_link_gets_its_traffic_back_after_the_hold_down(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    await measured(world, cell, 1.1)
    assert world.events()[-1] is Event.KEPT
    await resolve(world, cell)
    world.clock.seconds += 299.0
    await cell.tick()
    assert world.weights() == DRAINED
    world.clock.seconds += 1.0
    await cell.tick()
    await world.settle()
    assert world.events()[-2:] == [Event.IN_PROGRESS, Event.ROLLED_BACK]
    assert (world.last().reason_code, world.last().actor) == (ReasonCode.RECOVERED, "trimtab")
    assert world.weights() == FULL


async def test_what_a_person_approved_is_not_brought_back_by_itself(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.APPROVE)
    await cell.on_approval(world.ask("approve"))
    await world.settle()
    await measured(world, cell, 1.1)
    assert world.events()[-1] is Event.KEPT
    await resolve(world, cell)
    world.clock.seconds += 10_000.0
    await cell.tick()
    await world.settle()
    assert world.weights() == DRAINED


async def test_restart_keeps_the_hold_down(tmp_path):
    world, cell = await opened(tmp_path, mode=Mode.AUTO)
    await measured(world, cell, 1.1)
    await resolve(world, cell)
    world.clock.seconds += 200.0
    cell = await world.restart()
    world.clock.seconds += 100.0
    await cell.tick()
    await world.settle()
    assert world.weights() == FULL


def counted(world, start, seconds, octets_per_second, total):
    """Let the degraded link's lower port count octets, a reading a second; return its count."""
    key = SeriesKey("port/leaf1:e49", "net_if_out_octets_total")
    for n in range(seconds):
        at_ns = (start + n) * SECOND
        world.worker.feed.levels.note(key, [Reading(at_ns, at_ns, total)])
        total += octets_per_second
    return total


async def test_effect_of_a_reroute_tells_what_the_link_carried_before_and_after(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    total = counted(world, 90, 16, 1e9, 0.0)
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await world.settle()
    counted(world, 110, 16, 5e7, total)
    await measured(world, cell, 1.1)
    reason = next(e.reason for e in world.told if e.event is Event.MEASURED)
    assert reason.endswith("what its lower end sends went from 8 to 0.4 Gbit/s")
