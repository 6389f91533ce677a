"""The subscriber against a real gRPC server that plays what the test tells it to."""

import asyncio
import contextlib

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as gnmi
from gnmi_pb import gnmi_pb2_grpc

from pipelines.collect.frames import Frames
from pipelines.collect.gnmi import GnmiSubscriber
from pipelines.collect.gnmi_request import silence_seconds
from pipelines.collect.letters import Letters
from pipelines.collect.paths import parse_path
from pipelines.collect.streams import End, Waits
from pipelines.config.collect import GnmiSubscription, GnmiTarget
from pipelines.wire import telemetry_pb2 as pb
from tests.collect.fakes import Sent, SetClock, until

FAST = Waits(first_seconds=0.01, highest_seconds=0.02, refused_seconds=0.01, parked_seconds=9e9)
PATH = "/interfaces/interface[name=Ethernet1]/state/counters/in-octets"
KEY = ("port/leaf1:Ethernet1", "net_if_in_octets_total", "")


def notification(time_ns, value, path=PATH):
    update = gnmi.Update(path=parse_path(path), val=gnmi.TypedValue(uint_val=value))
    return gnmi.SubscribeResponse(update=gnmi.Notification(timestamp=time_ns, update=[update]))


SYNC = gnmi.SubscribeResponse(sync_response=True)


class Switch(gnmi_pb2_grpc.gNMIServicer):
    """Answers each Subscribe with the next of its scripts: messages, then a status or silence."""

    def __init__(self, *scripts, encodings=(gnmi.JSON, gnmi.PROTO)):
        self.scripts = list(scripts)
        self.requests = []
        self.metadata = []
        self.half_closed = 0
        self.encodings = encodings

    async def Capabilities(self, request, context):  # noqa: N802
        return gnmi.CapabilityResponse(supported_encodings=self.encodings)

    async def Subscribe(self, requests, context):  # noqa: N802
        self.requests.append(await anext(aiter(requests)))
        self.metadata.append(dict(context.invocation_metadata()))
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        for step in script:
            if isinstance(step, grpc.StatusCode):
                await context.abort(step, "told so")
            yield step
        with contextlib.suppress(StopAsyncIteration):
            await anext(aiter(requests))
        self.half_closed += 1


@contextlib.asynccontextmanager
async def serving(switch, *, port=0):
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    gnmi_pb2_grpc.add_gNMIServicer_to_server(switch, server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield bound
    finally:
        await server.stop(0)


class Scene:
    def __init__(self, port, *, waits=FAST, target=None, **subscription):
        self.clock, self.sent, self.letters = SetClock(), Sent(), []
        self.frames = Frames(send=self.sent, clock=self.clock)
        self.subscriber = GnmiSubscriber(
            GnmiTarget(
                name="leaf1",
                address=f"127.0.0.1:{port}",
                cell="pod1",
                subscriptions=("ports",),
                **({"insecure": True} | (target or {})),
            ),
            "ports",
            GnmiSubscription(paths=("/interfaces/interface/state/counters",), **subscription),
            frames=self.frames,
            letters=Letters(
                send=lambda m, _: self.letters.append(pb.DeadLetter.FromString(m.value)),
                clock=self.clock,
            ),
            clock=self.clock,
            resolve=lambda path: path,
            waits=waits,
        )

    def readings(self):
        self.frames.flush()
        return self.sent.readings()

    @contextlib.asynccontextmanager
    async def running(self):
        task = asyncio.create_task(self.subscriber.run())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def test_samples_become_frames_of_the_switch(tmp_path):
    (tmp_path / "password").write_text("hush\n")
    switch = Switch([notification(7, 1), SYNC, notification(8, 2)])
    async with serving(switch) as port:
        scene = Scene(
            port,
            interval_seconds=5.0,
            origin="openconfig",
            target={"username": "u", "password_file": tmp_path / "password"},
        )
        async with scene.running():
            await until(lambda: scene.subscriber.is_synced)
            await until(lambda: len(scene.readings().get(KEY, ())) == 2)
            assert switch.half_closed == 0
    assert scene.readings() == {KEY: [(7, 1.0), (8, 2.0)]}
    assert {(f.source, f.cell) for f in scene.sent.frames} == {("switch/leaf1", "pod1")}
    wanted = switch.requests[0].subscribe
    assert wanted.encoding == gnmi.PROTO
    assert wanted.subscription[0].sample_interval == 5_000_000_000
    assert wanted.subscription[0].path.origin == "openconfig"
    assert (switch.metadata[0]["username"], switch.metadata[0]["password"]) == ("u", "hush")


@pytest.mark.parametrize(
    ("code", "end"),
    [
        (grpc.StatusCode.UNAVAILABLE, End.UNAVAILABLE),
        (grpc.StatusCode.UNAUTHENTICATED, End.UNAUTHENTICATED),
        (grpc.StatusCode.INTERNAL, End.UNAVAILABLE),
    ],
)
async def test_every_end_of_the_stream_is_an_outcome_and_the_next_stream_goes_on(code, end):
    """C03."""
    switch = Switch([notification(1, 1), code], [SYNC, notification(2, 2)])
    async with serving(switch) as port:
        scene = Scene(port)
        async with scene.running():
            await until(lambda: len(scene.readings().get(KEY, ())) == 2)
    assert scene.subscriber.ends == [end]


async def test_path_that_the_target_does_not_have_is_parked():
    switch = Switch([grpc.StatusCode.UNIMPLEMENTED])
    async with serving(switch) as port:
        scene = Scene(port)
        async with scene.running():
            await until(lambda: scene.subscriber.ends == [End.UNSUPPORTED])
            await asyncio.sleep(0.1)
    assert len(switch.requests) == 1


async def test_switch_that_comes_back_is_subscribed_to_again():
    """C01."""
    async with serving(Switch([notification(1, 1), SYNC])) as port:
        scene = Scene(port)
        runs = contextlib.AsyncExitStack()
        await runs.enter_async_context(scene.running())
        await until(lambda: scene.subscriber.is_synced)
    await until(lambda: scene.subscriber.ends)
    async with serving(Switch([notification(2, 5), SYNC]), port=port):
        await until(lambda: len(scene.readings().get(KEY, ())) == 2)
        await runs.aclose()
    assert scene.readings() == {KEY: [(1, 1.0), (2, 5.0)]}


async def test_stream_that_falls_silent_is_opened_again():
    """C13: data and sync, then only the connection's own keep-alive."""
    switch = Switch([notification(1, 1), SYNC])
    async with serving(switch) as port:
        scene = Scene(port, interval_seconds=0.05)
        async with scene.running():
            await until(lambda: len(switch.requests) >= 2)
    assert scene.subscriber.ends[0] is End.SILENT


def test_silent_stream_is_left_alone_where_silence_is_its_nature():
    """C02: on-change without a heartbeat is watched by keep-alive only."""
    paths = ("/a",)
    sample = GnmiSubscription(paths=paths, interval_seconds=10.0, heartbeat_seconds=60.0)
    on_change = GnmiSubscription(paths=paths, mode="on_change")
    beating = GnmiSubscription(paths=paths, mode="on_change", heartbeat_seconds=20.0)
    assert [silence_seconds(s) for s in (sample, on_change, beating)] == [180.0, None, 60.0]


async def test_deleted_interface_ends_its_series_and_starts_cold_when_it_returns():
    """C12."""
    gone = gnmi.SubscribeResponse(
        update=gnmi.Notification(
            timestamp=2, delete=[parse_path("/interfaces/interface[name=Ethernet1]")]
        )
    )
    switch = Switch([notification(1, 9), SYNC, gone, notification(3, 0)])
    async with serving(switch) as port:
        scene = Scene(port)
        async with scene.running():
            await until(lambda: len(scene.readings().get(KEY, ())) == 2)
    told = [(f.time_ns.tolist(), f.ended_columns) for f in scene.sent.frames]
    assert told == [([1], ()), ([], (0,)), ([3], ())]


async def test_message_that_does_not_decode_is_dead_lettered_and_the_next_is_read():
    async def subscribe(requests, context):
        await anext(aiter(requests))
        yield b"\xff\xff"
        yield notification(1, 1).SerializeToString()
        await asyncio.Event().wait()

    server = grpc.aio.server()
    handlers = {"Subscribe": grpc.stream_stream_rpc_method_handler(subscribe)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("gnmi.gNMI", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    scene = Scene(port, target={"encoding": "proto"})
    async with scene.running():
        await until(lambda: scene.readings().get(KEY))
    await server.stop(0)
    assert [(x.reason, x.source, x.payload) for x in scene.letters] == [
        ("not_a_notification", "switch/leaf1", b"\xff\xff")
    ]


async def test_value_that_is_no_json_is_dead_lettered_and_the_others_are_read():
    bad = gnmi.Update(path=parse_path("/a"), val=gnmi.TypedValue(json_val=b"{"))
    good = notification(1, 1)
    good.update.update.append(bad)
    async with serving(Switch([good, SYNC])) as port:
        scene = Scene(port)
        async with scene.running():
            await until(lambda: scene.readings().get(KEY))
    (letter,) = scene.letters
    assert (letter.reason, gnmi.Notification.FromString(letter.payload)) == (
        "bad_json",
        good.update,
    )


@pytest.mark.parametrize(
    ("update", "refused"),
    [
        (gnmi.Update(path=gnmi.Path(element=["[k=v]"])), "bad_path"),
        (
            gnmi.Update(
                path=parse_path("/a"),
                val=gnmi.TypedValue(decimal_val=gnmi.Decimal64(digits=1, precision=2**32 - 1)),
            ),
            None,
        ),
        (gnmi.Update(path=parse_path("/a"), val=gnmi.TypedValue(json_val=b"1" * 4000)), None),
    ],
    ids=["path", "decimal", "integer"],
)
async def test_what_a_hostile_target_sends_ends_neither_the_stream_nor_the_collector(
    update, refused
):
    bad = gnmi.SubscribeResponse(update=gnmi.Notification(timestamp=1, update=[update]))
    async with serving(Switch([bad, notification(2, 1), SYNC])) as port:
        scene = Scene(port)
        async with scene.running():
            await until(lambda: scene.readings().get(KEY))
    assert scene.subscriber.ends == []
    assert [letter.reason for letter in scene.letters] == ([refused] if refused else [])


def test_waits_double_to_their_limit_and_wrong_credentials_do_not_hammer():
    waits = Waits()
    for failures in range(1, 40):
        limit = min(60.0, 2.0 ** (failures - 1))
        assert 0.0 <= waits.after(End.UNAVAILABLE, failures) <= limit
        assert waits.after(End.UNAUTHENTICATED, failures) >= 60.0
    assert waits.after(End.UNSUPPORTED, 1) == 600.0
