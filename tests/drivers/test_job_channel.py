from contextlib import asynccontextmanager

import grpc
import pytest

from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change
from pipelines.drivers.job_channel import JobChannelDriver
from pipelines.wire import jobs_pb2, jobs_pb2_grpc

CHANGES = tuple(
    Change(
        target="job/train",
        path=f"micro_batches[rank={rank}]",
        from_value="8",
        to_value=str(count),
    )
    for rank, count in ((0, 11), (1, 5))
)


class Channel(jobs_pb2_grpc.JobChannelServicer):
    """One job, as the collector's channel tells it."""

    def __init__(self):
        self.batches = [8, 8]
        self.ports = [0, 50_000]
        self.stepped = True
        self.state = "applied"
        self.directives = []

    async def Describe(self, request, context):  # noqa: N802
        await self._check(context)
        if request.job_id != "train":
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such job")
        ranks = [
            jobs_pb2.Rank(
                rank=r,
                micro_batches=8,
                connections=[jobs_pb2.Connection(peer=1 - r, source_port=self.ports[r])],
            )
            for r in range(2)
        ]
        step = jobs_pb2.StepReport(rank_micro_batches=self.batches if self.stepped else [])
        return jobs_pb2.JobState(
            announcement=jobs_pb2.JobAnnouncement(job_id="train", ranks=ranks),
            last_step=step,
            joined=True,
        )

    async def Apply(self, request, context):  # noqa: N802
        await self._check(context)
        self.directives.append(request.directive)
        if self.state == "applied":
            kept = self.ports if request.directive.parameter == "source_port" else self.batches
            for value in request.directive.values:
                kept[value.rank] = int(value.value)
        return jobs_pb2.DirectiveResult(state=self.state, detail="said the job")

    async def _check(self, context):
        if ("authorization", "Bearer secret") not in tuple(context.invocation_metadata()):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no token")


@asynccontextmanager
async def running(channel, token="secret"):
    server = grpc.aio.server()
    jobs_pb2_grpc.add_JobChannelServicer_to_server(channel, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    driver = JobChannelDriver(
        grpc.aio.insecure_channel(f"127.0.0.1:{port}"), token=token, timeout_seconds=2.0
    )
    yield driver
    await driver.close()
    await server.stop(None)


async def test_all_ranks_change_in_one_directive_and_are_read_back():
    channel = Channel()
    async with running(channel) as driver:
        await driver.write(CHANGES)
        await driver.write(CHANGES)
        assert await driver.read(CHANGES) == {
            ("job/train", "micro_batches[rank=0]"): "11",
            ("job/train", "micro_batches[rank=1]"): "5",
        }
    first, second = channel.directives
    assert first.directive_id == second.directive_id
    assert [(v.rank, v.value) for v in first.values] == [(0, 11.0), (1, 5.0)]


async def test_job_that_has_not_stepped_runs_with_what_it_announced():
    channel = Channel()
    channel.stepped = False
    async with running(channel) as driver:
        assert await driver.micro_batches("job/train") == {0: 8, 1: 8}


@pytest.mark.parametrize(
    ("state", "error"),
    [("refused", PermanentActuationError), ("unknown", TransientActuationError)],
)
async def test_refused_is_final_and_unknown_is_not(state, error):
    channel = Channel()
    channel.state = state
    async with running(channel) as driver:
        with pytest.raises(error, match="said the job"):
            await driver.write(CHANGES)


async def test_wrong_token_and_unknown_job_are_final():
    async with running(Channel(), token="wrong") as driver:
        with pytest.raises(PermanentActuationError, match="UNAUTHENTICATED"):
            await driver.micro_batches("job/train")
    async with running(Channel()) as driver:
        with pytest.raises(PermanentActuationError, match="NOT_FOUND"):
            await driver.micro_batches("job/other")


async def test_channel_that_is_away_is_a_passing_failure():
    driver = JobChannelDriver(
        grpc.aio.insecure_channel("127.0.0.1:1"), token="secret", timeout_seconds=2.0
    )
    with pytest.raises(TransientActuationError, match="UNAVAILABLE"):
        await driver.micro_batches("job/train")
    await driver.close()


async def test_source_ports_travel_in_a_directive_of_their_own_and_are_read_back():
    port = Change(
        target="job/train",
        path="source_port[rank=0][connection=0]",
        from_value="0",
        to_value="49160",
    )
    changes = (*CHANGES, port)
    channel = Channel()
    async with running(channel) as driver:
        assert (await driver.read([port])) == {("job/train", port.path): "0"}
        await driver.write(changes)
        found = await driver.read(changes)
    assert found == {(c.target, c.path): c.to_value for c in changes}
    assert [d.parameter for d in channel.directives] == ["micro_batches", "source_port"]
    assert len({d.directive_id for d in channel.directives}) == 2


async def test_parameter_that_no_job_has_is_refused():
    odd = Change(target="job/train", path="colour[rank=0]", from_value="", to_value="1")
    async with running(Channel()) as driver:
        with pytest.raises(PermanentActuationError, match="has no 'colour"):
            await driver.write([odd])
