import pytest

from actuators.arbiter import pick
from actuators.planner import Ports, Question, Settings, plan
from actuators.ports import TransientActuationError
from actuators.proposal import Proposal, Refusal
from actuators.records import Action, ActionKind, Alternative, ReasonCode
from actuators.settings import ObjectiveConfig
from detectors.records import Cause
from tests.actuators.inputs import alert, detection, fabric_targets, view

OBJECTIVES = (ObjectiveConfig(component="job/train", metric="train_step_seconds"),)
SLOW = detection("port/leaf1:e49", "net_if_out_octets_per_second", before=10.0, after=3.0)


async def planned(asked, *, ports=None, objectives=OBJECTIVES):
    return await plan(
        Question(
            alert=asked,
            view=view(),
            ports=ports or Ports(fabric=fabric_targets()),
            settings=Settings(objectives=objectives),
            action_id="x",
        )
    )


async def test_degraded_link_is_rerouted_and_judged_by_the_job_that_suffers():
    found = await planned(alert(evidence=(SLOW,)))
    assert found.proposal.action.kind is ActionKind.REROUTE
    assert found.objective == OBJECTIVES[0]
    assert found.reason_code is ReasonCode.ALERT_ANSWERED


@pytest.mark.parametrize(
    "cause", [Cause.TELEMETRY_FAULT, Cause.STORAGE_STALL, Cause.UNEXPLAINED, Cause.SLOW_HOST]
)
async def test_cause_without_an_actuator_is_answered_by_nothing(cause):
    found = await planned(alert(cause=cause))
    assert (found.proposal, found.reason_code) == (None, ReasonCode.NO_ACTUATOR)


async def test_nothing_is_done_that_no_objective_would_judge():
    found = await planned(alert(evidence=(SLOW,)), objectives=())
    assert (found.proposal, found.reason_code) == (None, ReasonCode.NO_PROPOSAL)
    assert [a.target for a in found.alternatives] == ["link/leaf1:e49"]


class Away:
    async def weights(self, switch):
        raise TransientActuationError(f"{switch} does not answer")


async def test_switch_that_does_not_answer_is_a_reason():
    found = await planned(alert(evidence=(SLOW,)), ports=Ports(fabric=Away()))
    assert (found.reason_code, found.reason) == (
        ReasonCode.DRIVER_UNREACHABLE,
        "leaf1 does not answer",
    )


@pytest.mark.parametrize(
    ("component", "cause", "reason"),
    [
        ("gpu/h9:G9", Cause.SLOW_GPU_THERMAL, "no announced job runs on it"),
        ("gpu/h1:G1", Cause.SLOW_GPU_THERMAL, "there is no job channel"),
        ("service/chat", Cause.DECODE_STARVED, "no service of it may be changed"),
        ("engine/chat-0", Cause.KV_PRESSURE, "no engine of it may be changed"),
    ],
)
async def test_what_may_not_be_changed_is_a_reason(component, cause, reason):
    found = await planned(alert(component, cause))
    assert (found.reason_code, found.reason) == (ReasonCode.NO_PROPOSAL, reason)


def proposal(target, gain, cost):
    return Proposal(
        action=Action(
            action_id="x",
            kind=ActionKind.REASSIGN,
            target=target,
            parameter="role",
            from_value="prefill",
            to_value="decode",
            changes=(),
            expected_gain_ratio=gain,
            expected_cost_seconds=cost,
            driver="serving",
        ),
        scope=(target,),
        touched=(target,),
        reason="",
    )


def test_largest_net_gain_is_picked_and_the_rest_recorded():
    best, rejected = pick(
        [
            proposal("engine/a", 0.1, 30.0),
            proposal("engine/b", 0.1, 5.0),
            Refusal(
                kind=ActionKind.REROUTE,
                target="link/x",
                reason_code=ReasonCode.LAST_PATH,
                reason="last path",
            ),
        ]
    )
    assert best.action.target == "engine/b"
    assert rejected == (
        Alternative(
            action_kind=ActionKind.REASSIGN,
            target="engine/a",
            reason="gains 30 s in 600 s, the pick 55 s",
        ),
        Alternative(action_kind=ActionKind.REROUTE, target="link/x", reason="last path"),
    )


def test_cure_that_costs_more_than_it_gains_is_not_taken():
    """C78."""
    best, rejected = pick([proposal("engine/a", 0.01, 30.0)])
    assert best is None
    assert rejected[0].reason == "gains -24 s in 600 s: not worth its cost of 30 s"


class Broken:
    """A fabric whose driver has a fault of its own."""

    async def weights(self, switch):
        raise ZeroDivisionError(f"{switch} divides by nothing")


async def test_fault_of_one_actuator_is_told_and_leaves_the_others_theirs():
    found = await planned(alert(evidence=(SLOW,)), ports=Ports(fabric=Broken()))
    assert (found.proposal, found.reason_code) == (None, ReasonCode.NO_PROPOSAL)
    assert found.reason == "could not be planned: ZeroDivisionError: leaf1 divides by nothing"
