"""A leaf's static rules by gNMI: ports are told, next hops can be set."""

import grpc
import pytest
from gnmi_pb import gnmi_pb2

from cluster.topology import SourcePortRule, Topology
from pipelines.drivers.gnmi_path import parse_path
from simulator.inventory import topology
from tests.simulator.running import METADATA, running, stub
from tests.simulator.sets import refused
from tests.simulator.worlds import network


def rule(leaf="leaf1", sequence=20):
    rules = topology(network().names).source_port_rules
    return next(r for r in rules if (r.switch, r.sequence) == (leaf, sequence))


def asked(leaf):
    return gnmi_pb2.GetRequest(path=[parse_path(rule().path(leaf))], encoding=gnmi_pb2.PROTO)


def to(address):
    path = parse_path(rule().path("action/config/next-hop"))
    value = gnmi_pb2.TypedValue(string_val=address)
    return gnmi_pb2.SetRequest(update=[gnmi_pb2.Update(path=path, val=value)])


async def test_rule_tells_its_ports_and_takes_another_next_hop():
    async with running(world=network()) as sim, stub(sim, "leaf1") as gnmi:
        ports = await gnmi.Get(asked("transport/config/source-port"), metadata=METADATA)
        await gnmi.Set(to("10.255.0.4"), metadata=METADATA)
        hop = await gnmi.Get(asked("action/config/next-hop"), metadata=METADATA)
    assert ports.notification[0].update[0].val.string_val == "50176..51199"
    assert hop.notification[0].update[0].val.string_val == "10.255.0.4"
    assert sim.world.fabric.steering.next_hops[0, 1] == 3


async def test_rule_is_removed_by_deleting_its_next_hop():
    async with running(world=network()) as sim, stub(sim, "leaf1") as gnmi:
        path = parse_path(rule().path("action/config"))
        await gnmi.Set(gnmi_pb2.SetRequest(delete=[path]), metadata=METADATA)
    assert sim.world.fabric.steering.next_hops[0, 1] is None


async def test_next_hop_that_is_no_neighbour_is_refused():
    async with running(world=network()) as sim, stub(sim, "leaf1") as gnmi:
        assert (
            await refused(gnmi.Set(to("192.0.2.1"), metadata=METADATA))
            is grpc.StatusCode.INVALID_ARGUMENT
        )


def test_inventory_names_a_rule_for_every_uplink():
    told = topology(network().names)
    assert len(told.source_port_rules) == 16
    assert rule() == SourcePortRule(
        switch="leaf1",
        interface="Ethernet50",
        first_port=50176,
        last_port=51199,
        policy="trimtab",
        sequence=20,
    )


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"interface": "Ethernet99"}, "no link at leaf1:Ethernet99"),
        ({"first_port": 51199, "last_port": 50176}, "run backwards"),
        ({"first_port": 49152}, "rules 10 and 20 of 'leaf1' share ports"),
    ],
)
def test_rules_that_cannot_be_are_refused(fields, why):
    told = topology(network().names)
    wrong = rule().model_copy(update=fields)
    rules = tuple(wrong if r == rule() else r for r in told.source_port_rules)
    with pytest.raises(ValueError, match=why):
        Topology.model_validate(told.model_dump() | {"source_port_rules": rules})
