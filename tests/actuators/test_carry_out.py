import pytest

from actuators.carry_out import Hands, Outcome, bring_about, take_back
from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change, Event, ReasonCode
from tests.actuators.inputs import Targets, no_pause

CHANGES = tuple(
    Change(target=f"switch/leaf{n}", path="/w", from_value="20", to_value="1") for n in (1, 2)
)
FROM = {(c.target, c.path): c.from_value for c in CHANGES}
TO = {(c.target, c.path): c.to_value for c in CHANGES}


def hands(targets, retries=2):
    return Hands(driver=targets, retries=retries, pause=no_pause)


async def brought(targets, retries=2):
    told = []
    outcome = await bring_about(
        CHANGES, hands(targets, retries), written=lambda: told.append("written")
    )
    return outcome, told


async def test_changes_are_written_read_back_and_confirmed():
    targets = Targets(FROM)
    outcome, told = await brought(targets)
    assert outcome == Outcome(
        event=Event.VERIFIED,
        reason_code=ReasonCode.READ_BACK_EQUAL,
        reason="read back equal in 2 of 2 places",
    )
    assert (targets.values, targets.confirmed, told) == (TO, [CHANGES], ["written"])


async def test_what_is_there_already_is_not_written_again():
    targets = Targets(TO)
    outcome, told = await brought(targets)
    assert (outcome.event, targets.writes, told) == (Event.VERIFIED, [], [])
    assert outcome.reason == "was so already in 2 of 2 places"


async def test_lost_answer_is_read_back_not_taken_for_a_failure():
    """C81."""
    targets = Targets(FROM)
    targets.refuse, targets.lose = [TransientActuationError("timed out")], True
    outcome, _ = await brought(targets)
    assert (outcome.event, len(targets.writes)) == (Event.VERIFIED, 1)


async def test_passing_failure_is_tried_again_within_limits():
    targets = Targets(FROM)
    targets.refuse = [TransientActuationError("busy")] * 2
    outcome, _ = await brought(targets)
    assert (outcome.event, targets.values) == (Event.VERIFIED, TO)
    targets = Targets(FROM)
    targets.refuse = [TransientActuationError("busy")] * 3
    outcome, _ = await brought(targets)
    assert outcome == Outcome(
        event=Event.FAILED,
        reason_code=ReasonCode.DRIVER_UNREACHABLE,
        reason="busy; everything is as it was",
    )


async def test_refused_action_leaves_nothing_half_done():
    """C80."""
    targets = Targets(FROM | {("switch/leaf1", "/w"): "1"})
    targets.refuse = [PermanentActuationError("no such path")]
    outcome, _ = await brought(targets)
    assert outcome == Outcome(
        event=Event.FAILED,
        reason_code=ReasonCode.DRIVER_REFUSED,
        reason="no such path; everything is as it was",
    )
    assert targets.values == FROM


async def test_what_cannot_be_taken_back_is_told_exactly():
    """C80."""
    targets = Targets(FROM | {("switch/leaf1", "/w"): "1"})
    targets.refuse = [PermanentActuationError("no such path")] * 2
    outcome, _ = await brought(targets)
    assert outcome.reason == (
        "no such path; taking it back failed: no such path; remaining: switch/leaf1 /w is '1'"
    )


async def test_what_somebody_changed_since_is_not_overwritten():
    """C75."""
    targets = Targets(FROM | {("switch/leaf2", "/w"): "7"})
    outcome, _ = await brought(targets)
    assert (outcome.reason_code, targets.writes) == (ReasonCode.READ_BACK_DIFFERS, [])
    assert outcome.reason == "changed by somebody else: switch/leaf2 /w is '7'"


class Forgetful(Targets):
    """Takes a change back when it is confirmed."""

    async def confirm(self, changes):
        await super().confirm(changes)
        self.values |= FROM


async def test_change_that_does_not_last_is_a_failure():
    outcome, _ = await brought(Forgetful(FROM))
    assert (outcome.event, outcome.reason) == (
        Event.FAILED,
        "it did not last; everything is as it was",
    )


@pytest.mark.parametrize("start", [TO, FROM, FROM | {("switch/leaf1", "/w"): "1"}])
async def test_taking_back_ends_where_it_began(start):
    targets = Targets(start)
    outcome = await take_back(
        CHANGES, hands(targets), reason_code=ReasonCode.EFFECT_WORSE, reason="worse"
    )
    assert outcome == Outcome(
        event=Event.ROLLED_BACK, reason_code=ReasonCode.EFFECT_WORSE, reason="worse"
    )
    assert targets.values == FROM


async def test_taking_back_is_in_reverse_and_leaves_what_somebody_set():
    targets = Targets(TO)
    await take_back(CHANGES, hands(targets), reason_code=ReasonCode.EFFECT_WORSE, reason="worse")
    assert [change.target for change in targets.writes[0]] == ["switch/leaf2", "switch/leaf1"]
    targets = Targets(TO | {("switch/leaf2", "/w"): "7"})
    outcome = await take_back(
        CHANGES, hands(targets), reason_code=ReasonCode.EFFECT_WORSE, reason="worse"
    )
    assert outcome.reason == "worse; left as somebody set it: switch/leaf2 /w is '7'"
