"""Capabilities, Get and Set of a simulated switch, by gRPC."""

import json

import grpc
import pytest
from gnmi_pb import gnmi_pb2

from tests.simulator.running import (
    METADATA,
    interface_path,
    name_of,
    path,
    running,
    stub,
    weight_path,
)
from tests.simulator.sets import KEY, WEIGHT, refused, write


async def test_capabilities_name_models_and_encodings():
    async with running() as sim, stub(sim, "spine1") as gnmi:
        told = await gnmi.Capabilities(gnmi_pb2.CapabilityRequest())
    assert list(told.supported_encodings) == [gnmi_pb2.PROTO, gnmi_pb2.JSON_IETF]
    assert "openconfig-interfaces" in [model.name for model in told.supported_models]
    assert told.gNMI_version == "0.10.0"


async def test_get_in_proto_gives_leaves_under_their_list_entry():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        told = await gnmi.Get(
            gnmi_pb2.GetRequest(
                prefix=gnmi_pb2.Path(target="leaf2"),
                path=[interface_path("Ethernet51", "ethernet", "state", "counters")],
                encoding=gnmi_pb2.PROTO,
            )
        )
    (notification,) = told.notification
    assert notification.prefix.target == "leaf2"
    assert dict(notification.prefix.elem[1].key) == {"name": "Ethernet51"}
    assert [name_of(update.path) for update in notification.update] == [
        "ethernet/state/counters/in-crc-errors",
        "ethernet/state/counters/fec-corrected-blocks",
        "ethernet/state/counters/fec-uncorrectable-blocks",
    ]
    assert [update.val.WhichOneof("value") for update in notification.update] == ["uint_val"] * 3


async def test_get_in_json_ietf_is_rfc_7951():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        told = await gnmi.Get(
            gnmi_pb2.GetRequest(
                path=[interface_path("Ethernet51", "ethernet"), WEIGHT],
                encoding=gnmi_pb2.JSON_IETF,
            )
        )
    ethernet, weight = (json.loads(n.update[0].val.json_ietf_val) for n in told.notification)
    assert weight == 20
    state = ethernet["openconfig-if-ethernet:state"]
    assert state["port-speed"] == "SPEED_1600GB"
    assert state["counters"]["fec-corrected-blocks"].isdecimal()
    whole, fraction = state["pre-fec-ber"]["instant"].split(".")
    assert (whole, len(fraction)) == ("0", 18)


async def test_get_of_the_root_names_the_module_of_each_top():
    async with running() as sim, stub(sim, "leaf1") as gnmi:
        told = await gnmi.Get(gnmi_pb2.GetRequest(encoding=gnmi_pb2.JSON_IETF))
    tree = json.loads(told.notification[0].update[0].val.json_ietf_val)
    assert sorted(tree) == [
        "openconfig-interfaces:interfaces",
        "openconfig-lldp:lldp",
        "openconfig-network-instance:network-instances",
        "openconfig-qos:qos",
        "openconfig-system:system",
    ]
    first = tree["openconfig-interfaces:interfaces"]["interface"][0]
    assert first["name"] == "Ethernet1"
    assert "openconfig-if-ethernet:ethernet" in first


async def test_get_of_a_type_leaves_the_other_out():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        told = await gnmi.Get(
            gnmi_pb2.GetRequest(
                path=[interface_path("Ethernet1")],
                type=gnmi_pb2.GetRequest.CONFIG,
                encoding=gnmi_pb2.PROTO,
            )
        )
    (notification,) = told.notification
    assert [name_of(u.path) for u in notification.update] == ["config/name", "config/enabled"]


@pytest.mark.parametrize(
    ("asked", "encoding", "code"),
    [
        (path("nonsense"), gnmi_pb2.PROTO, grpc.StatusCode.UNIMPLEMENTED),
        (interface_path("Ethernet99"), gnmi_pb2.PROTO, grpc.StatusCode.NOT_FOUND),
        (interface_path("Ethernet1"), gnmi_pb2.ASCII, grpc.StatusCode.UNIMPLEMENTED),
        (gnmi_pb2.Path(origin="cli"), gnmi_pb2.PROTO, grpc.StatusCode.UNIMPLEMENTED),
    ],
)
async def test_what_a_get_cannot_have(asked, encoding, code):
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        call = gnmi.Get(gnmi_pb2.GetRequest(path=[asked], encoding=encoding))
        assert await refused(call) is code


async def test_a_set_is_in_force_kept_and_told():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        told = await gnmi.Set(write(3), metadata=METADATA)
        assert sim.world.fabric.weights[KEY] == 3
        assert len(sim.saved) == 1
    (result,) = told.response
    assert (result.path, result.op) == (WEIGHT, gnmi_pb2.UpdateResult.UPDATE)


async def test_a_set_of_a_container_and_an_interface():
    container = gnmi_pb2.Path(elem=list(WEIGHT.elem)[:-1])
    enabled = interface_path("Ethernet52", "config")
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        await gnmi.Set(
            gnmi_pb2.SetRequest(
                replace=[
                    gnmi_pb2.Update(
                        path=container,
                        val=gnmi_pb2.TypedValue(
                            json_ietf_val=b'{"openconfig-network-instance:index": "spine3",'
                            b' "wecmp-weight": 4}'
                        ),
                    )
                ],
                update=[
                    gnmi_pb2.Update(
                        path=enabled, val=gnmi_pb2.TypedValue(json_ietf_val=b'{"enabled": false}')
                    )
                ],
            ),
            metadata=METADATA,
        )
        fabric = sim.world.fabric
        assert fabric.weights[KEY] == 4
        port = fabric.wiring.port_number["leaf2", "Ethernet52"]
        assert not fabric.enabled[port]
        assert fabric.last_change_ns[port] > 0


async def test_a_deleted_weight_counts_as_one():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        await gnmi.Set(gnmi_pb2.SetRequest(delete=[WEIGHT]), metadata=METADATA)
        assert sim.world.fabric.weights[KEY] is None
        call = gnmi.Get(gnmi_pb2.GetRequest(path=[WEIGHT], encoding=gnmi_pb2.PROTO))
        assert await refused(call) is grpc.StatusCode.NOT_FOUND
        state = weight_path("10.0.1.0/24", "spine3", "state")
        told = await gnmi.Get(gnmi_pb2.GetRequest(path=[state], encoding=gnmi_pb2.PROTO))
    assert told.notification[0].update[0].val.uint_val == 1


async def test_a_set_that_is_partly_wrong_changes_nothing():
    """C80: no half of a Set is left."""
    asked = write(3)
    asked.update.add(path=weight_path("10.0.1.0/24", "spine9"), val=gnmi_pb2.TypedValue(uint_val=1))
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        code = await refused(gnmi.Set(asked, metadata=METADATA))
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert sim.world.fabric.weights[KEY] == 20
        assert sim.saved == []


@pytest.mark.parametrize(
    "asked",
    [
        gnmi_pb2.SetRequest(
            update=[gnmi_pb2.Update(path=WEIGHT, val=gnmi_pb2.TypedValue(int_val=-1))]
        ),
        gnmi_pb2.SetRequest(
            update=[gnmi_pb2.Update(path=WEIGHT, val=gnmi_pb2.TypedValue(json_ietf_val=b"{"))]
        ),
        gnmi_pb2.SetRequest(
            update=[
                gnmi_pb2.Update(
                    path=interface_path("*", "config", "enabled"),
                    val=gnmi_pb2.TypedValue(bool_val=False),
                )
            ]
        ),
        gnmi_pb2.SetRequest(
            update=[
                gnmi_pb2.Update(
                    path=interface_path("Ethernet1", "state", "oper-status"),
                    val=gnmi_pb2.TypedValue(string_val="DOWN"),
                )
            ]
        ),
        gnmi_pb2.SetRequest(delete=[interface_path("Ethernet1")]),
        gnmi_pb2.SetRequest(delete=[gnmi_pb2.Path()]),
    ],
)
async def test_what_cannot_be_set(asked):
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        code = await refused(gnmi.Set(asked, metadata=METADATA))
    assert code is grpc.StatusCode.INVALID_ARGUMENT


async def test_without_credentials_nothing_is_set():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        for metadata in ((), (("username", "trimtab"), ("password", "guess"))):
            code = await refused(gnmi.Set(write(3), metadata=metadata))
            assert code is grpc.StatusCode.UNAUTHENTICATED
        assert sim.world.fabric.weights[KEY] == 20
