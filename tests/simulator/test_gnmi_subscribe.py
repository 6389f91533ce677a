"""Subscriptions of a simulated switch, by gRPC; time passes ten times as fast."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from itertools import pairwise

import grpc
import pytest
from gnmi_pb import gnmi_pb2, gnmi_pb2_grpc

from tests.simulator.running import (
    METADATA,
    interface_path,
    name_of,
    path,
    running,
    stub,
    weight_path,
)

SECOND_NS = 10**9
OCTETS = interface_path("Ethernet51", "state", "counters", "out-octets")
ENABLED = interface_path("Ethernet51", "config", "enabled")


def asking(*subscriptions: gnmi_pb2.Subscription, **parts: object) -> gnmi_pb2.SubscribeRequest:
    parts = {"encoding": gnmi_pb2.PROTO, "prefix": gnmi_pb2.Path(target="leaf2")} | parts
    return gnmi_pb2.SubscribeRequest(
        subscribe=gnmi_pb2.SubscriptionList(subscription=subscriptions, **parts)
    )


def sampled(of: gnmi_pb2.Path, seconds: float, **parts: object) -> gnmi_pb2.Subscription:
    return gnmi_pb2.Subscription(
        path=of, mode=gnmi_pb2.SAMPLE, sample_interval=int(seconds * SECOND_NS), **parts
    )


def on_change(of: gnmi_pb2.Path, **parts: object) -> gnmi_pb2.Subscription:
    return gnmi_pb2.Subscription(path=of, mode=gnmi_pb2.ON_CHANGE, **parts)


async def streamed(gnmi, request) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
    call = gnmi.Subscribe()
    await call.write(request)
    async for response in call:
        yield response


async def taken(answers: AsyncIterator[gnmi_pb2.SubscribeResponse], count: int) -> list:
    return [await asyncio.wait_for(anext(answers), 10.0) for _ in range(count)]


async def refused(gnmi, request) -> grpc.StatusCode:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await taken(streamed(gnmi, request), 3)
    return caught.value.code()


def leaves_of(response: gnmi_pb2.SubscribeResponse) -> list[str]:
    return [name_of(update.path) for update in response.update.update]


async def test_once_gives_everything_below_a_container_then_ends():
    every = path("interfaces", "interface", "state", "oper-status", interface={"name": "*"})
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        request = asking(gnmi_pb2.Subscription(path=every), mode=gnmi_pb2.SubscriptionList.ONCE)
        answers = [answer async for answer in streamed(gnmi, request)]
    assert [a.sync_response for a in answers] == [False] * 20 + [True]
    assert {a.update.prefix.target for a in answers[:-1]} == {"leaf2"}
    names = [a.update.prefix.elem[1].key["name"] for a in answers[:-1]]
    assert names == [f"Ethernet{n}" for n in (*range(1, 17), *range(49, 53))]
    assert {a.update.update[0].val.string_val for a in answers[:-1]} == {"UP"}


async def test_many_elements_may_be_left_open():
    anywhere = path("...", "wecmp-weight")
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        request = asking(gnmi_pb2.Subscription(path=anywhere), mode=gnmi_pb2.SubscriptionList.ONCE)
        answers = [answer async for answer in streamed(gnmi, request)]
    assert len(answers) == 3 * 4 + 1
    assert leaves_of(answers[0]) == ["config/wecmp-weight", "state/wecmp-weight"]


async def test_poll_answers_as_often_as_it_is_asked():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        call = gnmi.Subscribe()
        await call.write(
            asking(gnmi_pb2.Subscription(path=OCTETS), mode=gnmi_pb2.SubscriptionList.POLL)
        )
        first = [await call.read(), await call.read()]
        await asyncio.sleep(0.05)
        await call.write(gnmi_pb2.SubscribeRequest(poll=gnmi_pb2.Poll()))
        second = [await call.read(), await call.read()]
        await call.done_writing()
        assert await call.read() is grpc.aio.EOF
    for update, synced in (first, second):
        assert leaves_of(update) == ["state/counters/out-octets"]
        assert synced.sync_response
    assert first[0].update.timestamp < second[0].update.timestamp


async def test_samples_come_each_second_of_the_switch_with_its_stamps():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        first, synced, *later = await taken(streamed(gnmi, asking(sampled(OCTETS, 1.0))), 6)
    assert synced.sync_response
    stamps = [first.update.timestamp, *(answer.update.timestamp for answer in later)]
    gaps = [b - a for a, b in pairwise(stamps)]
    assert all(gap % (SECOND_NS // 10) == 0 for gap in gaps)
    assert sum(gaps) >= 3.5 * SECOND_NS
    values = [answer.update.update[0].val.uint_val for answer in (first, *later)]
    rates = [(b - a) * 8e9 / gap for (a, b), gap in zip(pairwise(values), gaps, strict=True)]
    # A quarter of eight rings of 13.3 GB a second-long step.
    assert all(rate == pytest.approx(0.25 * 8 * 13.3e9 * 8, rel=0.1) for rate in rates)


async def test_a_smaller_weight_takes_traffic_off_its_uplink():
    weights = [weight_path(f"10.0.{leaf}.0/24", "spine3") for leaf in (1, 3, 4)]
    lighter = gnmi_pb2.SetRequest(
        update=[gnmi_pb2.Update(path=w, val=gnmi_pb2.TypedValue(uint_val=1)) for w in weights]
    )
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        answers = streamed(gnmi, asking(sampled(OCTETS, 1.0)))
        before = await taken(answers, 3)
        await gnmi.Set(lighter, metadata=METADATA)
        after = await taken(answers, 3)
    assert rate(after[1:]) < 0.1 * rate([before[0], before[2]])


def rate(pair: list[gnmi_pb2.SubscribeResponse]) -> float:
    first, last = (answer.update for answer in pair)
    seconds = (last.timestamp - first.timestamp) / SECOND_NS
    return (last.update[0].val.uint_val - first.update[0].val.uint_val) / seconds


async def test_what_has_not_changed_is_left_out_but_for_its_heartbeat():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        quiet = sampled(
            ENABLED, 0.2, suppress_redundant=True, heartbeat_interval=int(1.0 * SECOND_NS)
        )
        first, _, beat, again = await taken(streamed(gnmi, asking(quiet)), 4)
    assert beat.update.timestamp - first.update.timestamp >= SECOND_NS
    assert again.update.timestamp - beat.update.timestamp >= SECOND_NS // 2


async def test_a_change_is_told_once_with_all_it_changes():
    status = on_change(interface_path("Ethernet51", "state", "oper-status"))
    off = gnmi_pb2.Update(path=ENABLED, val=gnmi_pb2.TypedValue(bool_val=False))
    async with running() as sim, stub(sim, "leaf2") as gnmi, stub(sim, "spine3") as other_end:
        here = streamed(gnmi, asking(status, on_change(ENABLED)))
        there = streamed(
            other_end, asking(on_change(interface_path("Ethernet2", "state", "oper-status")))
        )
        await taken(here, 3)
        await taken(there, 2)
        await gnmi.Set(gnmi_pb2.SetRequest(update=[off]), metadata=METADATA)
        told = await taken(here, 2)
        beyond = await taken(there, 1)
    assert [leaves_of(answer) for answer in told] == [["state/oper-status"], ["config/enabled"]]
    assert beyond[0].update.update[0].val.string_val == "DOWN"


async def test_a_removed_leaf_is_told_as_a_delete():
    """C12: a delete ends the series."""
    weight = weight_path("10.0.1.0/24", "spine3")
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        answers = streamed(gnmi, asking(on_change(weight)))
        await taken(answers, 2)
        await gnmi.Set(gnmi_pb2.SetRequest(delete=[weight]), metadata=METADATA)
        (gone,) = await taken(answers, 1)
    assert [name_of(deleted) for deleted in gone.update.delete] == ["config/wecmp-weight"]
    assert not gone.update.update


async def test_updates_only_begins_with_the_sync():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        request = asking(sampled(OCTETS, 0.5), updates_only=True)
        synced, update = await taken(streamed(gnmi, request), 2)
    assert synced.sync_response
    assert leaves_of(update) == ["state/counters/out-octets"]


async def test_target_defined_samples_counters_and_tells_changes_of_the_rest():
    state = gnmi_pb2.Subscription(
        path=interface_path("Ethernet51", "state"), mode=gnmi_pb2.TARGET_DEFINED
    )
    off = gnmi_pb2.Update(path=ENABLED, val=gnmi_pb2.TypedValue(bool_val=False))
    async with running(speed=50.0) as sim, stub(sim, "leaf2") as gnmi:
        answers = streamed(gnmi, asking(state))
        await taken(answers, 3)
        (counters,) = await taken(answers, 1)
        await gnmi.Set(gnmi_pb2.SetRequest(update=[off]), metadata=METADATA)
        changed = counters
        while "counters" in leaves_of(changed)[0]:  # the next sample may come first
            (changed,) = await taken(answers, 1)
    assert all("counters" in leaf for leaf in leaves_of(counters))
    assert leaves_of(changed) == [
        "state/enabled",
        "state/admin-status",
        "state/oper-status",
        "state/last-change",
    ]


async def test_json_ietf_writes_large_integers_as_text():
    """C05: one leaf, two types: the encoding decides."""
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        request = asking(sampled(OCTETS, 1.0), encoding=gnmi_pb2.JSON_IETF)
        (first,) = await taken(streamed(gnmi, request), 1)
    text = first.update.update[0].val.json_ietf_val.decode()
    assert text.strip('"').isdecimal()
    assert text.startswith('"')


async def test_a_valid_path_without_an_instance_stays_open_and_silent():
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        missing = interface_path("Ethernet99", "state", "oper-status")
        answers = streamed(gnmi, asking(on_change(missing)))
        (synced,) = await taken(answers, 1)
        waiting = asyncio.ensure_future(anext(answers))
        done, _ = await asyncio.wait([waiting], timeout=0.1)
        waiting.cancel()
    assert synced.sync_response
    assert not done


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (asking(sampled(path("nonsense"), 1.0)), grpc.StatusCode.UNIMPLEMENTED),
        (asking(sampled(OCTETS, 0.01)), grpc.StatusCode.INVALID_ARGUMENT),
        (asking(), grpc.StatusCode.INVALID_ARGUMENT),
        (
            asking(
                gnmi_pb2.Subscription(
                    path=OCTETS, mode=gnmi_pb2.TARGET_DEFINED, sample_interval=SECOND_NS
                )
            ),
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (
            asking(sampled(OCTETS, 1.0), encoding=gnmi_pb2.BYTES),
            grpc.StatusCode.UNIMPLEMENTED,
        ),
        (
            asking(sampled(OCTETS, 1.0), prefix=gnmi_pb2.Path(origin="sonic-db")),
            grpc.StatusCode.UNIMPLEMENTED,
        ),
        (gnmi_pb2.SubscribeRequest(poll=gnmi_pb2.Poll()), grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
async def test_what_cannot_be_subscribed(request_, code):
    async with running() as sim, stub(sim, "leaf2") as gnmi:
        assert await refused(gnmi, request_) is code


async def test_over_tls_only_who_trusts_the_ca_gets_in(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here")
    make_certificates(tmp_path)
    async with running(tls=tmp_path) as sim:
        address = sim.address("gnmi/leaf2")
        trusted = grpc.ssl_channel_credentials((tmp_path / "ca.pem").read_bytes())
        options = (("grpc.ssl_target_name_override", "localhost"),)
        async with grpc.aio.secure_channel(address, trusted, options) as channel:
            gnmi = gnmi_pb2_grpc.gNMIStub(channel)
            assert (await gnmi.Capabilities(gnmi_pb2.CapabilityRequest())).gNMI_version
        async with grpc.aio.insecure_channel(address) as channel:
            call = gnmi_pb2_grpc.gNMIStub(channel).Capabilities(gnmi_pb2.CapabilityRequest())
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def make_certificates(folder):
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    new += ["-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    ca = ["-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=test CA"]
    signed = ["-keyout", "key.pem", "-out", "cert.pem", "-CA", "ca.pem", "-CAkey", "ca-key.pem"]
    for arguments in (ca, [*names, *signed]):
        subprocess.run([*new, *arguments], cwd=folder, check=True, capture_output=True)
