"""The lab leaves nothing behind, whatever becomes of it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from gnmi_pb import gnmi_pb2, gnmi_pb2_grpc

from pipelines.drivers.gnmi_path import parse_path
from simulator.linux import namespaces
from simulator.linux.routing import MAIN, Roads, routes
from simulator.linux.shape import Shape
from tests.forwarding.lab import METADATA, Child, hands, running_lab


def present(names):
    return [name for name in names if Path("/run/netns", name).exists()]


def test_lab_that_ends_takes_its_namespaces_along():
    with running_lab(leaves=1, spines=1) as lab:
        names = list(lab.namespaces.values())
        assert present(names) == names
    assert present(names) == []


def test_what_a_killed_lab_left_is_removed_at_the_next_start():
    child = Child("simulator.linux", "--leaves", "1", "--spines", "1")
    names = list(child.hello["namespaces"].values())
    child.kill()
    assert present(names) == names
    with running_lab(leaves=1, spines=1) as other:
        assert present(names) == []
        assert present(other.namespaces.values())


def test_what_a_running_lab_has_is_left_alone():
    with running_lab(leaves=1, spines=1) as lab:
        namespaces.clean()
        assert present(lab.namespaces.values()) == list(lab.namespaces.values())


def test_unknown_cable_is_refused(lab):
    answer = lab.child.ask('{"cable": "link/leaf9:Ethernet49", "on": false}')
    assert answer == {"error": "the fabric has no 'link/leaf9:Ethernet49'"}


@pytest.mark.parametrize("sizes", [{"leaves": 0}, {"spines": 100}, {"hosts": 49}])
def test_impossible_fabric_is_refused(sizes):
    with pytest.raises(ValueError, match=next(iter(sizes))):
        Shape(**sizes)
    option = next(f"--{name}={number}" for name, number in sizes.items())
    ended = subprocess.run(
        [sys.executable, "-m", "simulator.linux", option],
        capture_output=True,
        check=False,
        text=True,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") <= 6


def test_leaf_sends_by_a_spine_only_what_that_spine_delivers():
    shape = Shape(leaves=3, spines=2)
    alive = {cable.component for cable in shape.uplinks} - {"link/leaf2:Ethernet49"}
    found = routes(shape, "leaf1", Roads(alive=alive, weights={}))
    hops = {
        where.prefix: [hop.interface for hop in told]
        for where, told in found.items()
        if where.table == MAIN
    }
    assert hops == {"10.2.0.0/24": ["Ethernet50"], "10.3.0.0/24": ["Ethernet49", "Ethernet50"]}
    spine = routes(shape, "spine1", Roads(alive=alive, weights={}))
    assert [where.prefix for where in spine] == ["10.1.0.0/24", "10.3.0.0/24"]


async def test_counters_that_are_subscribed_to_are_the_kernels(lab):
    path = parse_path("/interfaces/interface[name=Ethernet1]/state/counters/in-pkts")
    asked = gnmi_pb2.SubscribeRequest(
        subscribe=gnmi_pb2.SubscriptionList(
            mode=gnmi_pb2.SubscriptionList.STREAM,
            encoding=gnmi_pb2.PROTO,
            subscription=[
                gnmi_pb2.Subscription(path=path, mode=gnmi_pb2.SAMPLE, sample_interval=20_000_000)
            ],
        )
    )

    async def requests():
        yield asked
        await asyncio.Event().wait()

    async with hands(lab, "leaf1") as opened:
        stub = gnmi_pb2_grpc.gNMIStub(opened["switch/leaf1"].session.channel)
        call = stub.Subscribe(requests(), metadata=METADATA)
        with lab.traffic(lab.flows(1)) as traffic:
            async for answer in call:
                updates = answer.update.update
                if updates and updates[0].val.uint_val >= 20:
                    break
            assert traffic.sent()[1] >= 10  # what else hosts say is counted, too
        call.cancel()
