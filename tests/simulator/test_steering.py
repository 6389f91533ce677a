"""Where flows go: by their source port's class, else by hash or weight."""

import pytest

from simulator.world.faults import FaultRequest
from simulator.world.steering import port_range
from tests.simulator.worlds import network, step_seconds


@pytest.fixture
def world():
    return network()


def two_a_spine(world):
    """Pin rank r's ring flow to spine (r % 8) // 2: what every leaf sends, equally shared."""
    ranks = range(world.training.ranks)
    return {rank: port_range(rank % 8 // 2)[0] for rank in ranks}


def test_hashed_flows_collide_and_equally_placed_ones_do_not(world):
    hashed = step_seconds(world, 20.0)
    assert world.training.connect(two_a_spine(world)) == ""
    assert step_seconds(world, 20.0) < 0.9 * hashed


def test_pinned_flow_takes_its_rules_spine_and_no_other(world):
    port = port_range(2)[0]
    world.training.connect({0: port})
    usage = world.fabric.usage(world.training.flows())[0]
    up = world.fabric.wiring.up[0]
    assert usage[up].tolist() == [0.0, 0.0, 1.0, 0.0]


def test_rule_whose_path_is_down_is_passed_over(world):
    world.training.connect({0: port_range(2)[0]})
    port = world.fabric.wiring.sender[world.fabric.wiring.up[0, 2]]
    world.fabric.enabled[port] = False
    usage = world.fabric.usage(world.training.flows())[0]
    assert usage[world.fabric.wiring.up[0]].sum() == 1.0
    assert usage[world.fabric.wiring.up[0, 2]] == 0.0


def test_degraded_link_slows_whom_it_carries_until_they_are_moved(world):
    placed = two_a_spine(world)
    world.training.connect(placed)
    world.inject(FaultRequest(kind="degraded_link", target="leaf2:Ethernet51"))
    slowed = step_seconds(world, 20.0)
    crossing = [
        rank for rank, port in placed.items() if rank // 8 == 1 and port == port_range(2)[0]
    ]
    coming = [rank for rank, port in placed.items() if rank // 8 == 0 and port == port_range(2)[0]]
    moves = dict(zip(crossing, (0, 1), strict=True)) | dict(zip(coming, (0, 1), strict=True))
    world.training.connect({rank: port_range(spine)[0] for rank, spine in moves.items()})
    assert step_seconds(world, 20.0) < 0.8 * slowed


@pytest.mark.parametrize(
    ("ports", "why"), [({99: 50000}, "no rank 99"), ({0: 80}, "source port 80")]
)
def test_ports_that_cannot_be_are_refused(world, ports, why):
    assert why in world.training.connect(ports)
    assert not world.training.source_ports.any()
