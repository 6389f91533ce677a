"""A real client and a real server over loopback."""

import asyncio
import contextlib

import grpc
import pytest

from pipelines.collect.frames import Frames
from pipelines.collect.jobs import JobChannel, serve_job_channel
from pipelines.job_client import JobClient, SyncJobClient
from pipelines.wire import jobs_pb2, jobs_pb2_grpc
from tests.collect.fakes import Sent, SetClock, until

NAN = float("nan")


def announcement(**fields):
    ranks = [jobs_pb2.Rank(rank=i, gpu=f"gpu/h1:GPU-{i}", micro_batches=8) for i in range(2)]
    given = {"job_id": "pretrain", "cell": "pod1", "kind": "training", "ranks": ranks} | fields
    return jobs_pb2.JobAnnouncement(**given)


def connected(**fields):
    return jobs_pb2.Rank(rank=0, gpu="gpu/h1:GPU-0", connections=[jobs_pb2.Connection(**fields)])


class Server:
    def __init__(self, token="secret"):
        self.sent = Sent()
        self.events = []
        self.frames = Frames(send=self.sent, clock=SetClock())
        self.channel = JobChannel(
            frames=self.frames, send=self._event, clock=SetClock(), token=token
        )
        self.address = ""

    def _event(self, message, received_ns):
        self.events.append(jobs_pb2.JobEvent.FromString(message.value))

    async def start(self, address="127.0.0.1:0"):
        self._server, port = await serve_job_channel(self.channel, address)
        self.address = f"127.0.0.1:{port}"

    async def stop(self):
        await self._server.stop(0)

    @contextlib.asynccontextmanager
    async def stub(self, token="secret"):
        async with grpc.aio.insecure_channel(self.address) as channel:
            stub = jobs_pb2_grpc.JobChannelStub(channel)
            yield Controller(stub, (("authorization", f"Bearer {token}"),))


class Controller:
    def __init__(self, stub, metadata):
        self._stub = stub
        self._metadata = metadata

    async def apply(self, directive, *, job="pretrain", timeout_seconds=5.0):
        request = jobs_pb2.ApplyRequest(
            job_id=job, directive=directive, timeout_seconds=timeout_seconds
        )
        return await self._stub.Apply(request, metadata=self._metadata)

    async def describe(self, job="pretrain"):
        return await self._stub.Describe(
            jobs_pb2.DescribeRequest(job_id=job), metadata=self._metadata
        )


@pytest.fixture
async def server():
    server = Server()
    await server.start()
    yield server
    await server.stop()


def refuse(directive):
    return jobs_pb2.DirectiveResult(state="refused", detail="not today")


DIRECTIVE = jobs_pb2.Directive(
    directive_id="d1",
    parameter="micro_batches",
    values=[jobs_pb2.RankValue(rank=1, value=6.0)],
)


def _last_step(server):
    state = server.channel._states.get("pretrain")
    return 0 if state is None else state.last_step.step


async def test_step_that_a_restarted_job_tells_again_is_one_step(server):
    for steps in ((1, 2, 3), (2, 3, 4)):
        async with JobClient(server.address, announcement(), refuse) as client:
            for step in steps:
                client.step(jobs_pb2.StepReport(step=step, at_ns=step, step_seconds=1.0))
            last = steps[-1]
            await until(lambda at=last: _last_step(server) == at)
            server.frames.flush()
    readings = server.sent.readings()
    assert readings["job/pretrain", "train_step_seconds", ""] == [(n, 1.0) for n in (1, 2, 3, 4)]


async def test_steps_become_readings_of_the_job_and_of_each_ranks_gpu(server):
    report = jobs_pb2.StepReport(
        step=1,
        at_ns=5_000,
        step_seconds=1.5,
        communication_seconds=NAN,
        rank_compute_seconds=[1.0, NAN, 3.0],
        rank_micro_batches=[8, 8],
    )
    async with JobClient(server.address, announcement(at_ns=4_000), refuse) as client:
        client.step(report)
        await until(lambda: server.channel._states.get("pretrain", None) is not None)
        await until(lambda: server.channel._states["pretrain"].HasField("last_step"))
    server.frames.flush()

    assert [(frame.source, frame.cell) for frame in server.sent.frames] == [
        ("job/pretrain", "pod1")
    ]
    assert server.sent.readings() == {
        ("job/pretrain", "train_step_seconds", ""): [(5_000, 1.5)],
        ("gpu/h1:GPU-0", "train_rank_compute_seconds", ""): [(5_000, 1.0)],
        ("gpu/h1:GPU-0", "train_rank_micro_batches", ""): [(5_000, 8.0)],
        ("gpu/h1:GPU-1", "train_rank_micro_batches", ""): [(5_000, 8.0)],
    }
    await until(lambda: len(server.events) == 2)
    assert [(e.event, e.cell, len(e.announcement.ranks)) for e in server.events] == [
        ("joined", "pod1", 2),
        ("left", "pod1", 2),
    ]


async def test_directive_reaches_the_job_and_its_answer_comes_back(server):
    taken = []

    def apply(directive):
        taken.append(directive)
        return jobs_pb2.DirectiveResult(state="applied")

    async with JobClient(server.address, announcement(), apply) as client:
        await client.wait_joined()
        async with server.stub() as controller:
            result = await controller.apply(DIRECTIVE)
            state = await controller.describe()
    assert taken == [DIRECTIVE]
    assert result == jobs_pb2.DirectiveResult(directive_id="d1", state="applied")
    assert (state.joined, state.announcement) == (True, announcement())


async def test_job_that_raises_refuses_and_stays_joined(server):
    def fail(directive):
        raise KeyError("rank 1")

    async with JobClient(server.address, announcement(), fail) as client:
        await client.wait_joined()
        async with server.stub() as controller:
            result = await controller.apply(DIRECTIVE)
            state = await controller.describe()
    assert (result.state, result.detail, state.joined) == ("refused", "KeyError('rank 1')", True)


async def test_silent_job_makes_the_outcome_unknown_and_a_late_answer_is_found_again(server):
    async with grpc.aio.insecure_channel(server.address) as channel:
        call = jobs_pb2_grpc.JobChannelStub(channel).Join()
        await call.write(jobs_pb2.JobMessage(announcement=announcement()))
        await call.initial_metadata()
        async with server.stub() as controller:
            first = await controller.apply(DIRECTIVE, timeout_seconds=0.05)
            received = await call.read()
            answer = jobs_pb2.DirectiveResult(directive_id="d1", state="applied")
            again = asyncio.create_task(controller.apply(DIRECTIVE))
            await call.write(jobs_pb2.JobMessage(result=answer))
            second = await again
        call.cancel()
    assert (first.state, received, second) == ("unknown", DIRECTIVE, answer)


@pytest.mark.parametrize("token", ["", "secret"])
async def test_nobody_applies_or_reads_without_the_token(token):
    server = Server(token=token)
    await server.start()
    async with server.stub(token="wrong" if token else "") as controller:
        for call in (controller.apply(DIRECTIVE), controller.describe()):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    await server.stop()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"job_id": ""}, "job_id is empty"),
        ({"cell": ""}, "cell is empty"),
        ({"kind": "mining"}, "kind is 'mining', not one of ('training', 'inference')"),
        (
            {"ranks": [jobs_pb2.Rank(rank=0, gpu="pod-7")]},
            "rank 0: gpu is 'pod-7', not gpu/<host>:<uuid>",
        ),
        (
            {"ranks": [jobs_pb2.Rank(rank=3, gpu="gpu/h1:a")] * 2},
            "rank 3 is announced 2 times",
        ),
        (
            {"collectives": [jobs_pb2.Collective(kind="all_reduce", ranks=[0, 9])]},
            "collective 'all_reduce' names ranks [9] that are not announced",
        ),
        (
            {"collectives": [jobs_pb2.Collective(kind="all_reduce", bytes=NAN)]},
            "collective 'all_reduce': bytes is nan",
        ),
        (
            {"ranks": [connected(peer=7, source_port=70_000)]},
            "rank 0: connection to rank 7, which is no other rank; "
            "rank 0: connection to rank 7 from port 70000, beyond 65535",
        ),
    ],
)
async def test_bad_announcement_is_refused_with_what_is_wrong(server, fields, why):
    async with JobClient(server.address, announcement(**fields), refuse) as client:
        await until(lambda: client.refusal)
    assert (client.refusal, server.events) == (why, [])


async def test_client_joins_again_when_the_server_comes_back(server):
    """C01, on the job channel."""
    async with JobClient(server.address, announcement(), refuse) as client:
        await client.wait_joined()
        await server.stop()
        await until(lambda: not client._joined.is_set())
        client.step(jobs_pb2.StepReport(step=7, at_ns=1, step_seconds=1.0))
        client.announce(announcement(priority=5))
        again = Server()
        await again.start(server.address)
        await client.wait_joined()
        await until(lambda: again.channel._states["pretrain"].HasField("last_step"))
    assert again.channel._states["pretrain"].last_step.step == 7
    assert again.events[0].announcement == announcement(priority=5)
    await again.stop()


async def test_oldest_reports_are_dropped_and_counted_while_nobody_listens():
    client = JobClient("127.0.0.1:1", announcement(), refuse, queue_reports=3)
    for step in range(5):
        client.step(jobs_pb2.StepReport(step=step))
    assert client.dropped == 2
    assert [message.step.step for message in client._waiting] == [2, 3, 4]


async def test_plain_loop_reports_through_a_thread(server):
    def loop():
        with SyncJobClient(server.address, announcement(), refuse) as client:
            client.step(jobs_pb2.StepReport(step=3, at_ns=9, step_seconds=2.0))
            for _ in range(1000):
                if server.frames._sources:
                    break
                client._thread.join(0.01)
        client.close()

    await asyncio.to_thread(loop)
    server.frames.flush()
    readings = server.sent.readings()
    assert readings[("job/pretrain", "train_step_seconds", "")] == [(9, 2.0)]


async def test_client_that_is_told_to_leave_right_after_a_refusal_leaves(server):
    """Cancelled while it waits for its writer to end, it must not take that for the writer's."""
    for _ in range(50):
        client = JobClient(server.address, announcement(kind="?"), refuse)
        async with asyncio.timeout(5), client:
            while not client.refusal:  # noqa: ASYNC110 - at once, before the client's next step
                await asyncio.sleep(0)


async def test_joined_jobs_are_told_again_word_for_word(server):
    async with JobClient(server.address, announcement(), refuse) as client:
        await client.wait_joined()
        repeating = asyncio.create_task(server.channel.repeat(0.01))
        await until(lambda: len(server.events) >= 3)
        repeating.cancel()
        told = server.events[:3]
    assert [event.event for event in told] == ["joined"] * 3
    assert told[0] == told[1] == told[2]


async def test_job_that_left_is_not_told_again(server):
    async with JobClient(server.address, announcement(), refuse) as client:
        await client.wait_joined()
    await until(lambda: [e.event for e in server.events] == ["joined", "left"])
    repeating = asyncio.create_task(server.channel.repeat(0.01))
    await asyncio.sleep(0.1)
    repeating.cancel()
    assert [event.event for event in server.events] == ["joined", "left"]
