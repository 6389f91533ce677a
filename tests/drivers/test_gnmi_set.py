import asyncio

import grpc
import pytest
from gnmi_pb import gnmi_pb2

from actuators.carry_out import Hands, bring_about, take_back
from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change, Event, ReasonCode
from pipelines.drivers.gnmi_path import integer_of, parse_path, path_key
from pipelines.drivers.gnmi_session import Session
from pipelines.drivers.gnmi_set import GnmiSet
from tests.actuators.inputs import no_pause, topology, weight_path
from tests.drivers.switch import Switch, serving

PATHS = [weight_path("leaf1", index) for index in ("1", "2")]
KEYS = [path_key(parse_path(path)) for path in PATHS]


def changes(switch="leaf1"):
    path = weight_path(switch, "1")
    return (Change(target=f"switch/{switch}", path=path, from_value="20", to_value="1"),)


def fabric(*sessions, rollback_seconds=60.0):
    return GnmiSet(
        {f"switch/{s.name}": s for s in sessions}, topology(), rollback_seconds=rollback_seconds
    )


def full(switch="leaf1"):
    return {path_key(parse_path(weight_path(switch, index))): 20 for index in ("1", "2")}


async def test_weights_are_read_by_the_routes_paths():
    async with serving(Switch(full())) as session:
        assert await fabric(session).weights("leaf1") == dict.fromkeys(PATHS, 20)


async def test_weight_the_switch_does_not_have_is_absent():
    async with serving(Switch({KEYS[0]: 20})) as session:
        assert await fabric(session).weights("leaf1") == {PATHS[0]: 20}


async def test_change_is_committed_then_confirmed():
    switch = Switch(full())
    async with serving(switch) as session:
        driver = fabric(session)
        await driver.write(changes())
        assert (switch.values[KEYS[0]], switch.commit) == (1, "trimtab-leaf1")
        await driver.confirm(changes())
    assert (switch.values, switch.commit) == ({KEYS[0]: 1, KEYS[1]: 20}, None)
    arbitration, commit = switch.requests[0].extension
    assert arbitration.master_arbitration.role.id == "trimtab"
    assert arbitration.master_arbitration.election_id.low == 7
    assert commit.commit.commit.rollback_duration.seconds == 60


@pytest.mark.parametrize("extensions", [("master_arbitration",), ("commit",), ()])
async def test_switch_without_an_extension_is_written_without_it_and_that_is_remembered(
    extensions,
):
    switch = Switch(full(), extensions=extensions)
    async with serving(switch) as session:
        driver = fabric(session)
        await driver.write(changes())
        await driver.confirm(changes())
        tried = len(switch.requests)
        await driver.write(changes())
        await driver.confirm(changes())
        repeated = len(switch.requests) - tried
        await driver.close()
    assert switch.values[KEYS[0]] == 1
    assert session.takes_commits is ("commit" in extensions)
    assert repeated == (2 if "commit" in extensions else 1)


async def test_unconfirmed_change_of_a_switch_without_commits_is_taken_back_by_us():
    switch = Switch(full(), extensions=())
    async with serving(switch) as session:
        driver = fabric(session, rollback_seconds=0.01)
        await driver.write(changes())
        while switch.values[KEYS[0]] == 1:  # noqa: ASYNC110 - the switch tells nobody
            await asyncio.sleep(0.005)
        await driver.close()
    assert switch.values == full()


async def test_same_value_again_is_success():
    """C81: some servers answer a repeated Set with AlreadyExists."""
    switch = Switch(full() | {KEYS[0]: 1})
    switch.faults = [(grpc.StatusCode.ALREADY_EXISTS, "duplicate of the last change")]
    async with serving(switch) as session:
        await fabric(session).write(changes())


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (grpc.StatusCode.UNAVAILABLE, TransientActuationError),
        (grpc.StatusCode.DEADLINE_EXCEEDED, TransientActuationError),
        (grpc.StatusCode.PERMISSION_DENIED, PermanentActuationError),
        (grpc.StatusCode.NOT_FOUND, PermanentActuationError),
    ],
)
async def test_errors_are_of_two_families(code, error):
    switch = Switch(full())
    switch.faults = [(code, "said no")]
    async with serving(switch) as session:
        with pytest.raises(error, match=f"switch/leaf1: Set answered {code.name}: said no"):
            await fabric(session).write(changes())


async def test_switch_that_is_away_is_a_passing_failure():
    away = Session(
        name="leaf1",
        channel=grpc.aio.insecure_channel("127.0.0.1:1"),
        metadata=(),
        election_id=7,
        rollback_seconds=60.0,
        timeout_seconds=2.0,
    )
    driver = fabric(away)
    with pytest.raises(TransientActuationError, match="switch/leaf1: Get answered UNAVAILABLE"):
        await driver.weights("leaf1")
    await driver.close()


async def test_older_controller_is_refused():
    switch = Switch(full())
    async with serving(switch, election_id=9) as newer:
        await fabric(newer).write(changes())
        await fabric(newer).confirm(changes())
    async with serving(switch, election_id=8) as older:
        with pytest.raises(PermanentActuationError, match="not the primary"):
            await fabric(older).write(changes())


async def test_commit_that_a_killed_run_left_is_cancelled_before_writing_again():
    switch = Switch(full())
    async with serving(switch) as first:
        await fabric(first).write(changes())
    async with serving(switch, election_id=8) as second:
        driver = fabric(second)
        await driver.write(changes())
        await driver.confirm(changes())
    assert (switch.values[KEYS[0]], switch.commit) == (1, None)


async def test_commit_that_a_killed_run_left_can_be_confirmed():
    switch = Switch(full())
    async with serving(switch) as first:
        await fabric(first).write(changes())
    async with serving(switch, election_id=8) as second:
        await fabric(second).confirm(changes())
    assert (switch.values[KEYS[0]], switch.commit) == (1, None)


async def test_foreign_commit_is_busy_and_left_alone():
    switch = Switch(full())
    switch.commit = "somebody"
    async with serving(switch) as session:
        with pytest.raises(TransientActuationError, match="busy with somebody else's commit"):
            await fabric(session).write(changes())
    assert (switch.values, switch.commit) == (full(), "somebody")


@pytest.mark.parametrize("extensions", [("commit", "master_arbitration"), ()])
async def test_second_switch_that_refuses_undoes_the_first(extensions):
    """C80."""
    leaf1, leaf2 = (Switch(full(name), extensions=extensions) for name in ("leaf1", "leaf2"))
    leaf2.faults = [(grpc.StatusCode.NOT_FOUND, "no such path")] * 4
    both = (*changes("leaf1"), *changes("leaf2"))
    async with serving(leaf1) as one, serving(leaf2, name="leaf2") as two:
        driver = fabric(one, two)
        with pytest.raises(PermanentActuationError, match="switch/leaf2: Set answered NOT_FOUND"):
            await driver.write(both)
        await driver.close()
    assert (leaf1.values, leaf1.commit) == (full("leaf1"), None)
    assert leaf2.values == full("leaf2")


async def test_lost_answer_of_a_set_is_read_back():
    switch = Switch(full())
    switch.faults = [(grpc.StatusCode.UNAVAILABLE, "connection lost")]
    switch.applies_before_fault = True
    async with serving(switch) as session:
        hands = Hands(driver=fabric(session), retries=2, pause=no_pause)
        outcome = await bring_about(changes(), hands, written=lambda: None)
    assert outcome.event is Event.VERIFIED
    assert (switch.values[KEYS[0]], switch.commit) == (1, None)


async def test_whole_action_and_its_taking_back_on_real_switches():
    leaf1, leaf2 = Switch(full("leaf1")), Switch(full("leaf2"))
    both = (*changes("leaf1"), *changes("leaf2"))
    async with serving(leaf1) as one, serving(leaf2, name="leaf2") as two:
        hands = Hands(driver=fabric(one, two), retries=1, pause=no_pause)
        outcome = await bring_about(both, hands, written=lambda: None)
        assert (outcome.event, leaf1.values[KEYS[0]]) == (Event.VERIFIED, 1)
        outcome = await take_back(both, hands, reason_code=ReasonCode.EFFECT_WORSE, reason="worse")
    assert outcome.event is Event.ROLLED_BACK
    assert (leaf1.values, leaf2.values) == (full("leaf1"), full("leaf2"))
    assert (leaf1.commit, leaf2.commit) == (None, None)


async def test_target_that_is_not_writable_is_named():
    async with serving(Switch(full())) as session:
        with pytest.raises(PermanentActuationError, match="switch/leaf9 is not writable"):
            await fabric(session).read(
                (Change(target="switch/leaf9", path="/x", from_value="1", to_value="2"),)
            )


@pytest.mark.parametrize(
    "value",
    [
        gnmi_pb2.TypedValue(uint_val=20),
        gnmi_pb2.TypedValue(int_val=20),
        gnmi_pb2.TypedValue(json_ietf_val=b'"20"'),
        gnmi_pb2.TypedValue(json_val=b"20"),
        gnmi_pb2.TypedValue(string_val="20"),
        gnmi_pb2.TypedValue(double_val=20.0),
    ],
)
def test_integer_is_read_from_every_arm(value):
    assert integer_of(value) == 20
    assert integer_of(gnmi_pb2.TypedValue(json_ietf_val=b"{}")) is None
    assert integer_of(gnmi_pb2.TypedValue()) is None


async def test_json_is_spoken_where_proto_is_not_offered():
    switch = Switch(full(), encodings=[gnmi_pb2.JSON_IETF])
    async with serving(switch) as session:
        await fabric(session).write(changes())
    assert switch.requests[0].update[0].val.json_ietf_val == b"1"
