import pytest

from actuators import reroute
from actuators.proposal import Proposal, Refusal
from actuators.readings import Reading
from actuators.records import Action, ActionKind, Change, ReasonCode
from actuators.settings import RerouteConfig
from actuators.view import Levels
from cluster.frame import SeriesKey
from tests.actuators.inputs import (
    LINK,
    SECOND,
    alert,
    counters,
    detection,
    fabric_targets,
    levels,
    topology,
    view,
    weight_path,
)

CONFIG = RerouteConfig()
SLOW = detection("port/leaf1:e49", "net_if_out_octets_per_second", before=10.0, after=3.0)


async def planned(targets, *, known=None, config=CONFIG, evidence=(SLOW,), component=LINK):
    return await reroute.plan(
        alert(component, evidence=evidence),
        view=view(known),
        fabric=targets,
        config=config,
        action_id="x",
    )


def test_both_directions_over_a_link_are_found():
    link = reroute.link_of(LINK, topology())
    crossed = reroute.crossings(link, topology())
    assert [(c.route.switch, c.route.prefix, c.next_hop.index) for c in crossed] == [
        ("leaf1", "10.0.2.0/24", "1"),
        ("leaf2", "10.0.1.0/24", "1"),
    ]


async def test_degraded_link_is_drained_in_both_directions():
    proposal = await planned(fabric_targets())
    assert isinstance(proposal, Proposal)
    assert proposal.action == Action(
        action_id="x",
        kind=ActionKind.REROUTE,
        target=LINK,
        parameter="weight_share",
        from_value="1.00",
        to_value="0.05",
        changes=tuple(
            Change(
                target=f"switch/{switch}",
                path=weight_path(switch, "1"),
                from_value="20",
                to_value="1",
            )
            for switch in ("leaf1", "leaf2")
        ),
        expected_gain_ratio=pytest.approx(1 - (20 / 21) / (0.5 / 0.3)),
        expected_cost_seconds=1.0,
        driver="gnmi",
    )
    assert (proposal.scope, proposal.touched) == ((LINK,), ("switch/leaf1", "switch/leaf2"))


async def test_gain_counts_only_the_communication_share_of_a_step():
    known = levels(
        {
            ("job/train", "train_step_seconds"): 2.0,
            ("job/train", "train_communication_seconds"): 0.5,
        }
    )
    proposal = await planned(fabric_targets(), known=known)
    assert proposal.action.expected_gain_ratio == pytest.approx(
        0.25 * (1 - (20 / 21) / (0.5 / 0.3))
    )


async def test_speed_is_taken_from_siblings_when_they_show_less():
    known = counters(
        {
            ("port/leaf1:e49", "net_if_out_octets_total"): 1.0,
            ("port/leaf1:e50", "net_if_out_octets_total"): 10.0,
        }
    )
    proposal = await planned(fabric_targets(), known=known, evidence=())
    assert proposal.action.expected_gain_ratio == pytest.approx(1 - (20 / 21) / (0.5 / 0.1))
    assert "its rate against its siblings" in proposal.reason


async def test_speed_is_taken_from_the_jobs_communication_time():
    known = Levels()
    key = SeriesKey("job/train", "train_communication_seconds")
    known.note(key, [Reading(n * SECOND, n, 0.2) for n in range(90, 100)])
    known.note(key, [Reading(n * SECOND, n, 0.8) for n in range(106, 112)])
    proposal = await planned(fabric_targets(), known=known, evidence=())
    assert "(the job's communication time before)" in proposal.reason
    assert "runs at 25% of its speed" in proposal.reason


@pytest.mark.parametrize(
    ("weights", "evidence", "component", "code"),
    [
        ({("leaf1", "1"): 1, ("leaf2", "1"): 1}, (SLOW,), LINK, ReasonCode.ALREADY_SO),
        ({("leaf1", "2"): 1, ("leaf2", "2"): 1}, (SLOW,), LINK, ReasonCode.LAST_PATH),
        ({}, (), LINK, ReasonCode.NO_PROPOSAL),
        ({}, (SLOW,), "link/h1:mlx0", ReasonCode.NO_PROPOSAL),
        (
            {},
            (detection(LINK, "net_if_out_octets_per_second", before=10.0, after=9.9),),
            LINK,
            ReasonCode.NO_GAIN,
        ),
    ],
)
async def test_what_is_not_planned_has_a_reason(weights, evidence, component, code):
    refusal = await planned(fabric_targets(weights), evidence=evidence, component=component)
    assert isinstance(refusal, Refusal)
    assert refusal.reason_code is code


async def test_a_route_that_would_lose_its_last_path_keeps_it():
    proposal = await planned(fabric_targets({("leaf2", "2"): 1}))
    assert [change.target for change in proposal.action.changes] == ["switch/leaf1"]


async def test_port_component_names_its_link():
    proposal = await planned(fabric_targets(), component="port/spine1:e1")
    assert proposal.action.target == LINK


def test_drained_weight_is_zero_only_when_asked_for():
    assert RerouteConfig(full_weight=3).drained_weight == 1
    assert RerouteConfig(drained_weight_share=0.0).drained_weight == 0
