import numpy as np
import pytest

from actuators.placement import place
from actuators.steering.placed import assignment_of
from actuators.steering.rules import Match
from cluster.fabric import leaf_spine, three_tier
from cluster.flows import Flows


def match(row):
    return Match(source=f"10.1.0.{row}/32", target=f"10.2.0.{row}/32", protocol="udp")


def placed(fabric, pairs):
    source, target = np.array(pairs).T
    return place(fabric, Flows.of(source, target))


def test_every_sub_flow_has_the_uplink_it_is_placed_on_and_a_number_at_its_leaf():
    fabric = leaf_spine(leaves=2, spines=4, endpoints=4)
    placement = placed(fabric, [(0, 4), (1, 5), (2, 6), (3, 7), (4, 0), (0, 1)])
    found = assignment_of(placement, match)
    at = {
        (flow.switch, flow.match): interface
        for flow, interface in zip(found.flows, found.interfaces, strict=True)
    }
    expected = {}
    for row, links in enumerate(placement.links.tolist()):
        for link in links:
            if link >= 0 and link % 2 == 0:
                switch, _, interface = fabric.cables[link // 2].removeprefix("link/").partition(":")
                expected[switch, match(row)] = interface
    assert at == expected
    assert len({interface for (switch, _), interface in at.items() if switch == "leaf1"}) == 4
    assert [flow.number for flow in found.flows if flow.switch == "leaf1"] == [1, 2, 3, 4]
    assert [flow.bits_per_second for flow in found.flows] == [1.0] * 5


def test_flow_between_pods_is_steered_twice():
    fabric = three_tier(pods=2, leaves=2, spines=2, cores=2, endpoints=2)
    placement = placed(fabric, [(0, fabric.endpoint_leaf.size - 1)])
    found = assignment_of(placement, match)
    tiers = [int(fabric.tier[list(fabric.switches).index(flow.switch)]) for flow in found.flows]
    assert tiers == [1, 2]


def test_what_cannot_be_steered_is_left_out_and_numbers_are_kept():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=4)
    placement = placed(fabric, [(0, 4), (1, 5), (2, 6)])
    found = assignment_of(
        placement, lambda row: None if row == 0 else match(row), present={"leaf1": {match(2): 1}}
    )
    assert {flow.match: flow.number for flow in found.flows} == {match(1): 2, match(2): 1}


def test_sub_flows_that_look_alike_are_refused():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=4)
    placement = placed(fabric, [(0, 4), (1, 5)])
    with pytest.raises(ValueError, match="two sub-flows at leaf1"):
        assignment_of(placement, lambda _: match(0))
