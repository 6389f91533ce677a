"""The commit-confirmed and master-arbitration extensions of a simulated switch's Set."""

import asyncio

import grpc
from gnmi_pb import gnmi_ext_pb2, gnmi_pb2

from tests.simulator.running import METADATA, running, stub
from tests.simulator.sets import KEY, commit, duration, only, refused, request, write


async def test_a_confirmed_commit_lasts():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        await gnmi.Set(write(1, id="a", commit=request(2.0)), metadata=METADATA)
        confirm = commit(id="a", confirm=gnmi_ext_pb2.CommitConfirm())
        await gnmi.Set(gnmi_pb2.SetRequest(extension=[confirm]), metadata=METADATA)
        await asyncio.sleep(0.3)  # three seconds of the switch
        assert sim.world.fabric.weights[KEY] == 1


async def test_an_unconfirmed_commit_is_rolled_back():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        await gnmi.Set(write(1, id="a", commit=request(2.0)), metadata=METADATA)
        assert sim.world.fabric.weights[KEY] == 1
        for _ in range(500):
            if sim.world.fabric.weights[KEY] != 1:
                break
            await asyncio.sleep(0.01)
        assert sim.world.fabric.weights[KEY] == 20
        await gnmi.Set(write(2), metadata=METADATA)


async def test_a_cancelled_commit_is_undone_at_once():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        await gnmi.Set(write(1, id="a", commit=request(600.0)), metadata=METADATA)
        cancel = commit(id="a", cancel=gnmi_ext_pb2.CommitCancel())
        await gnmi.Set(gnmi_pb2.SetRequest(extension=[cancel]), metadata=METADATA)
        assert sim.world.fabric.weights[KEY] == 20


async def test_a_prolonged_commit_outlives_its_first_deadline():
    prolong = gnmi_ext_pb2.CommitSetRollbackDuration(rollback_duration=duration(600.0))
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        await gnmi.Set(write(1, id="a", commit=request(2.0)), metadata=METADATA)
        asked = gnmi_pb2.SetRequest(extension=[commit(id="a", set_rollback_duration=prolong)])
        await gnmi.Set(asked, metadata=METADATA)
        await asyncio.sleep(0.3)  # three seconds of the switch
        assert sim.world.fabric.weights[KEY] == 1


async def test_one_commit_at_a_time_and_none_without_its_id():
    zero = gnmi_ext_pb2.CommitSetRollbackDuration(rollback_duration=duration(0.0))
    cases = [
        (write(5), grpc.StatusCode.FAILED_PRECONDITION),
        (write(5, id="b", commit=request(2.0)), grpc.StatusCode.FAILED_PRECONDITION),
        (only(id="b", confirm=gnmi_ext_pb2.CommitConfirm()), grpc.StatusCode.INVALID_ARGUMENT),
        (only(id="b", cancel=gnmi_ext_pb2.CommitCancel()), grpc.StatusCode.INVALID_ARGUMENT),
        (only(id="a", set_rollback_duration=zero), grpc.StatusCode.INVALID_ARGUMENT),
        (
            write(5, id="a", confirm=gnmi_ext_pb2.CommitConfirm()),
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (only(id="a"), grpc.StatusCode.INVALID_ARGUMENT),
    ]
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        nothing = only(id="a", confirm=gnmi_ext_pb2.CommitConfirm())
        code = await refused(gnmi.Set(nothing, metadata=METADATA))
        assert code is grpc.StatusCode.FAILED_PRECONDITION
        code = await refused(gnmi.Set(write(1, commit=request(1.0)), metadata=METADATA))
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        await gnmi.Set(write(1, id="a", commit=request(600.0)), metadata=METADATA)
        for asked, expected in cases:
            assert await refused(gnmi.Set(asked, metadata=METADATA)) is expected
        assert sim.world.fabric.weights[KEY] == 1


async def test_an_older_master_is_refused():
    def elected(high: int, low: int) -> gnmi_pb2.SetRequest:
        asked = write(low)
        master = gnmi_ext_pb2.MasterArbitration(
            role=gnmi_ext_pb2.Role(id="trimtab"),
            election_id=gnmi_ext_pb2.Uint128(high=high, low=low),
        )
        asked.extension.add(master_arbitration=master)
        return asked

    async with running() as sim, stub(sim, "leaf2") as gnmi:
        await gnmi.Set(elected(1, 2), metadata=METADATA)
        await gnmi.Set(elected(1, 2), metadata=METADATA)
        code = await refused(gnmi.Set(elected(0, 9), metadata=METADATA))
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert sim.world.fabric.weights[KEY] == 2
