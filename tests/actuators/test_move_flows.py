"""Flows moved by their source ports, on the simulated cluster that has rules for them."""

import numpy as np
import pytest

from actuators import move_flows
from actuators.network import network_of
from actuators.proposal import Proposal, Refusal
from actuators.readings import Reading
from actuators.records import ReasonCode
from actuators.settings import RerouteConfig
from actuators.steering.paths import rank_and_connection
from actuators.view import Levels, View
from cluster.frame import SeriesKey
from cluster.topology import Topology
from pipelines.messages.jobs import job_of
from pipelines.wire import jobs_pb2
from simulator.inventory import topology
from simulator.job import announcement
from simulator.world.faults import FaultRequest
from tests.simulator.worlds import first_light, network, step_seconds

LINK = "leaf2:Ethernet51"


def view_of(world, shape: Topology | None = None):
    event = jobs_pb2.JobEvent(job_id="pretrain", announcement=announcement(world))
    levels = Levels()
    last = world.training.last
    for metric in ("step_seconds", "communication_seconds") if last else ():
        key = SeriesKey("job/pretrain", f"train_{metric}")
        levels.note(key, [Reading(0, 0, getattr(last, metric))])
    return View(
        topology=shape or topology(world.names),
        jobs={"job/pretrain": job_of(event)},
        levels=levels,
    )


def together(world):
    return move_flows.together(view=view_of(world), config=RerouteConfig(), action_id="a")


def off_link(world, speed=0.41):
    link = view_of(world).topology.links_by_port[LINK]
    return move_flows.off_link(link, speed, "its own rate", view=view_of(world), action_id="a")


def carry_out(world, proposal):
    assert isinstance(proposal, Proposal), proposal
    ports = {}
    for change in proposal.action.changes:
        rank, connection = rank_and_connection(change.path)
        assert (change.target, connection) == ("job/pretrain", 0)
        assert str(world.training.source_ports[rank]) == change.from_value
        ports[rank] = int(change.to_value)
    assert world.training.connect(ports) == ""
    return ports


@pytest.fixture
def world():
    return network()


def test_announced_flows_are_placed_together_at_the_bound(world):
    hashed = step_seconds(world, 20.0)
    proposal = together(world)
    ports = carry_out(world, proposal)
    assert len(ports) == 32
    placed = step_seconds(world, 20.0)
    assert placed < 0.9 * hashed
    certificate = network_of(view_of(world)).now.certificate
    assert certificate.reached == 1.0
    assert proposal.scope == ("job/pretrain",)
    assert "100.0% of what is possible" in proposal.reason


def test_placed_flows_are_left_where_they_are(world):
    carry_out(world, together(world))
    again = together(world)
    assert isinstance(again, Refusal)
    assert again.reason_code is ReasonCode.ALREADY_SO


def test_degraded_link_loses_some_of_its_own_flows_and_no_others_move(world):
    carry_out(world, together(world))
    before = network_of(view_of(world))
    world.inject(FaultRequest(kind="degraded_link", target=LINK))
    slowed = step_seconds(world, 20.0)
    proposal = off_link(world)
    moved = carry_out(world, proposal)
    cable = list(before.now.fabric.cables).index(f"link/{LINK}")
    crossing = np.flatnonzero((before.now.links // 2 == cable).any(axis=1))
    assert set(moved) <= {before.senders[row].rank for row in crossing}
    assert 0 < len(moved) < len(crossing)
    assert proposal.action.target == f"link/{LINK}"
    assert proposal.scope == (f"link/{LINK}", "job/pretrain")
    eased = step_seconds(world, 20.0)
    assert eased < 0.8 * slowed
    # What was predicted is what came.
    gained = 1.0 - eased / slowed
    assert proposal.action.expected_gain_ratio == pytest.approx(gained, abs=0.1)


def test_taking_the_move_back_restores_every_port(world):
    carry_out(world, together(world))
    ports = world.training.source_ports.copy()
    proposal = off_link(world)
    carry_out(world, proposal)
    back = {
        rank_and_connection(change.path)[0]: int(change.from_value)
        for change in proposal.action.changes
    }
    world.training.connect(back)
    assert world.training.source_ports.tolist() == ports.tolist()


def test_link_that_carries_nothing_pinned_is_left_to_weights(world):
    answer = off_link(world)
    assert isinstance(answer, Refusal)
    assert answer.reason == "no flow whose source port is chosen crosses the link"
    link = view_of(world).topology.links_by_port[LINK]
    assert move_flows.pinned_on(link, view_of(world)) == 0
    carry_out(world, together(world))
    assert move_flows.pinned_on(link, view_of(world)) == 4


def test_link_that_still_carries_its_flows_keeps_them(world):
    carry_out(world, together(world))
    answer = off_link(world, speed=0.99)
    assert isinstance(answer, Refusal)
    assert answer.reason_code is ReasonCode.NO_GAIN


def test_job_whose_ports_cannot_be_chosen_is_not_moved():
    world = first_light()
    answer = move_flows.together(view=view_of(world), config=RerouteConfig(), action_id="a")
    assert answer.reason == "no job lets its source ports be chosen"


def test_nothing_announced_is_told(world):
    view = View(topology=topology(world.names), jobs={}, levels=Levels())
    answer = move_flows.together(view=view, config=RerouteConfig(), action_id="a")
    assert answer.reason == "no job has announced what it sends between leaves"
