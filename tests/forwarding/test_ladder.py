"""What a switch can do is found by asking and trying, and nothing is left of the trial."""

import json
import subprocess
from dataclasses import replace

import grpc
import pytest

from actuators.steering.capability import Rung
from actuators.steering.plan import change_set
from actuators.steering.site import Assignment
from pipelines.drivers.gnmi_session import Session
from pipelines.drivers.steering_probe import Probe, probe_switch
from tests.forwarding.lab import hands, placed, running_lab, steering

LEAVES = ("leaf1", "leaf2", "leaf3")
FEATURES = ("leaf1=policy,weights,commits", "leaf2=weights,commits", "leaf3=policy,weights")


@pytest.fixture(scope="module")
def ladder():
    """Three leaves that can do less and less."""
    with running_lab(leaves=3, spines=2, features=FEATURES) as running:
        yield running


def probe(lab, leaf):
    site = lab.site(leaf)
    hop = site.routes[0].next_hops[0]
    return Probe(
        next_hop=site.uplinks[0].next_hop,
        weight_path=site.routes[0].weight_path(hop),
        interface=hop.interface,
    )


async def probed(lab, leaf):
    async with hands(lab, leaf) as opened:
        session = opened[f"switch/{leaf}"].session
        before = await session.leaves("/network-instances")
        found = await probe_switch(session, probe(lab, leaf))
        assert await session.leaves("/network-instances") == before
    return found


async def test_what_each_leaf_can_do_is_told_and_nothing_is_left(ladder):
    found = {leaf: await probed(ladder, leaf) for leaf in ladder.shape.leaf_names}
    assert {leaf: one.best() for leaf, one in found.items()} == {
        "leaf1": Rung.POLICY_RULES,
        "leaf2": Rung.WEIGHTS,
        "leaf3": Rung.POLICY_RULES,
    }
    assert [one.takes_commits for one in found.values()] == [True, True, False]
    assert "UNIMPLEMENTED" in found["leaf2"].lacking[Rung.POLICY_RULES]
    assert "openconfig-policy-forwarding@0.7.0" in found["leaf1"].models
    assert Rung.DRAIN in found["leaf2"].rungs


async def test_switch_that_does_not_answer_can_be_advised_about_only():
    session = Session(
        name="leaf9",
        channel=grpc.aio.insecure_channel("127.0.0.1:9"),
        metadata=(),
        election_id=1,
        rollback_seconds=1.0,
    )
    found = await probe_switch(session, Probe(next_hop="10.101.1.1"))
    await session.channel.close()
    assert found.best() is Rung.ADVICE
    assert "UNAVAILABLE" in found.lacking[Rung.POLICY_RULES]


def way_of(lab, flow):
    """Return the port that the kernel sends a flow out of."""
    told = subprocess.run(
        [
            *("ip", "netns", "exec", lab.namespaces[flow.switch], "ip", "-json", "route", "get"),
            *(flow.match.target.removesuffix("/32"), "from", flow.match.source.removesuffix("/32")),
            *("iif", "Ethernet1", "ipproto", "udp", "sport", flow.match.source_ports),
            *("dport", "4791"),
        ],
        capture_output=True,
        check=True,
    ).stdout
    return json.loads(told)[0]["dev"]


async def test_one_placement_is_brought_about_by_what_each_leaf_has(ladder):

    means = ladder.means()
    means = replace(
        means,
        capabilities={
            f"switch/{leaf}": await probed(ladder, leaf) for leaf in ladder.shape.leaf_names
        },
    )
    flows = [flow for leaf in (1, 2, 3) for flow in ladder.flows(2, leaf=leaf)]
    planned = change_set(Assignment(), placed(flows, ["Ethernet49"]), means)
    assert {target: str(rung) for target, rung in planned.rungs.items()} == {
        "switch/leaf1": "policy_rules",
        "switch/leaf2": "weights",
        "switch/leaf3": "policy_rules",
    }
    async with steering(ladder) as driver:
        await driver.write(planned.changes)
        await driver.confirm(planned.changes)
        ways = [way_of(ladder, next(f for f in flows if f.switch == leaf)) for leaf in LEAVES]
        assert ways == ["Ethernet49"] * 3
        await driver.write(planned.inverse().changes)
        await driver.confirm(planned.inverse().changes)
