"""kill -9 in every state of a decision, with a broker that remembers and one that does not."""

import asyncio

import pytest

from actuators.decision import chain_fault
from actuators.ports import TransientActuationError
from actuators.records import Event, Mode, Verdict
from pipelines.agents.act_journal import Entry, Journal, journal_path
from pipelines.messages.decisions import event_hash
from tests.actuators.inputs import SECOND, Targets, alert, fabric_targets
from tests.agents.act_world import SLOW, World, closed_worlds  # noqa: F401 - a fixture

FULL, DRAINED = ["20"] * 4, ["1", "20", "1", "20"]
DEGRADED = alert(evidence=(SLOW,))
SENT = 110 * SECOND
both = pytest.mark.parametrize("forgets", [False, True])


class Stuck(Targets):
    """Writes, but never answers, until ``freed``."""

    def __init__(self, values, *, applied):
        super().__init__(values)
        self.applied = applied
        self.freed = False

    async def write(self, changes):
        if self.freed:
            await super().write(changes)
            return
        for change in changes[: self.applied]:
            self.values[change.target, change.path] = change.to_value
        await asyncio.Event().wait()


@pytest.mark.parametrize("applied", [0, 1, 2])
@both
async def test_write_of_unknown_outcome_is_read_back_and_finished(tmp_path, applied, forgets):
    targets = Stuck(fabric_targets().values, applied=applied)
    world = World(tmp_path, targets, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    for _ in range(5):
        await asyncio.sleep(0)
    assert world.events() == [Event.PROPOSED, Event.INVOKED]
    cell = await world.restart(broker_forgets=forgets)
    targets.freed = True
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await cell.tick()
    await world.settle()
    assert world.weights() == DRAINED
    written = [] if applied == 2 else [Event.SUCCEEDED]
    assert world.events() == [
        Event.PROPOSED,
        Event.INVOKED,
        Event.IN_PROGRESS,
        *written,
        Event.VERIFIED,
    ]
    assert len(targets.writes) == (0 if applied == 2 else 1)
    assert {event.decision_id for event in world.told} == {"a1-1"}


@both
async def test_effect_is_still_judged_after_a_restart(tmp_path, forgets):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await world.settle()
    cell = await world.restart(broker_forgets=forgets)
    world.steps(113.0, 12, 1.1)
    world.clock.seconds = 125.0
    await cell.tick()
    assert world.events()[4:] == [Event.MEASURED, Event.KEPT]
    effect = world.last().effect
    assert effect.verdict is Verdict.IMPROVED
    assert effect.before == pytest.approx(2.0, rel=0.02)
    history = {event.sequence: event for event in world.told}
    assert chain_fault([history[n] for n in sorted(history)], event_hash) is None


@both
async def test_taking_back_goes_on_after_a_restart(tmp_path, forgets):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await world.settle()
    world.targets.refuse = [TransientActuationError("away")]
    await cell.on_approval(world.ask("revert"))
    cell = await world.restart(broker_forgets=forgets)
    assert world.events()[-1] is Event.IN_PROGRESS
    await cell.tick()
    await world.settle()
    assert (world.last().event, world.last().actor) == (Event.ROLLED_BACK, "ada")
    assert world.weights() == FULL


@both
async def test_proposal_still_waits_for_a_person_after_a_restart(tmp_path, forgets):
    world = World(tmp_path, mode=Mode.APPROVE)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    cell = await world.restart(broker_forgets=forgets)
    world.degraded()
    await cell.tick()
    assert world.events()[-1] is Event.APPROVAL_REQUESTED
    await cell.on_approval(world.ask("approve"))
    await world.settle()
    assert world.events()[-1] is Event.VERIFIED


async def test_kept_action_can_be_taken_back_after_a_restart(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await world.settle()
    world.steps(113.0, 12, 1.1)
    world.clock.seconds = 125.0
    await cell.tick()
    assert world.events()[-1] is Event.KEPT
    cell = await world.restart()
    await cell.on_approval(world.ask("revert"))
    await world.settle()
    assert (world.last().event, world.weights()) == (Event.ROLLED_BACK, FULL)


async def test_alert_that_was_not_decided_before_the_kill_is_decided_after_it(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    cell = await world.start()
    # No reading of the objective yet: a passing refusal, nothing told.
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    assert world.told == []
    cell = await world.restart()
    world.degraded()
    await cell.tick()
    await world.settle()
    assert world.events()[-1] is Event.VERIFIED


async def test_worker_elsewhere_goes_on_from_the_topic_alone(tmp_path):
    world = World(tmp_path / "here", mode=Mode.AUTO)
    cell = await world.start()
    world.degraded()
    await cell.on_alert(DEGRADED, sent_ns=SENT)
    await world.settle()
    world.folder = tmp_path / "elsewhere"
    cell = await world.restart()
    world.steps(113.0, 12, 1.1)
    world.clock.seconds = 125.0
    await cell.tick()
    assert world.events()[-1] is Event.KEPT


def test_entry_cut_off_by_a_crash_is_dropped(tmp_path):
    journal = Journal(journal_path(tmp_path, "pod/1"))
    journal.append(b"E", b"first")
    journal.append(b"A", b"second")
    journal.close()
    path = journal_path(tmp_path, "pod/1")
    path.write_bytes(path.read_bytes()[:-3])
    assert journal.load() == [Entry(b"E", b"first")]
