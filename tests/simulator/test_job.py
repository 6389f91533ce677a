"""The simulated job on the information channel."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from pipelines.wire import jobs_pb2, jobs_pb2_grpc
from simulator.job import JobReporter, announcement, apply
from tests.simulator.worlds import first_light, network


class Channel(jobs_pb2_grpc.JobChannelServicer):
    """Keeps what a job says, and hands it one directive."""

    def __init__(self, directive: jobs_pb2.Directive) -> None:
        self.heard: asyncio.Queue[jobs_pb2.JobMessage] = asyncio.Queue()
        self._directive = directive

    async def Join(self, requests, context) -> AsyncIterator[jobs_pb2.Directive]:  # noqa: N802
        await context.send_initial_metadata(())
        yield self._directive
        async for message in requests:
            self.heard.put_nowait(message)


def directive(**values: float) -> jobs_pb2.Directive:
    return jobs_pb2.Directive(
        directive_id="d1",
        parameter="micro_batches",
        values=[
            jobs_pb2.RankValue(rank=int(rank[1:]), value=value) for rank, value in values.items()
        ],
    )


def test_the_job_announces_its_ranks_and_rings():
    told = announcement(first_light())
    assert (told.job_id, told.cell, told.kind) == ("pretrain", "pod1", "training")
    assert len(told.ranks) == 32
    assert told.ranks[13] == jobs_pb2.Rank(
        rank=13,
        gpu="gpu/h3:GPU-00000003-5eed-4a10-8000-000000000005",
        nic="nic/h3:mlx5_5",
        micro_batches=16,
        data_parallel_group=5,
    )
    assert [list(ring.ranks) for ring in told.collectives[:2]] == [[0, 8, 16, 24], [1, 9, 17, 25]]
    assert {(c.kind, c.algorithm) for c in told.collectives} == {("all_reduce", "ring")}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (directive(r0=15, r1=17), ""),
        (directive(r0=15), "the job's total would become 511, not 512"),
        (directive(r0=15.5, r1=16.5), "ranks [0, 1] are not given whole numbers"),
        (
            jobs_pb2.Directive(parameter="batch"),
            "parameter is 'batch', not one of ('micro_batches', 'source_port')",
        ),
    ],
)
def test_a_directive_is_applied_or_refused_with_its_reason(asked, why):
    world = first_light()
    assert apply(world, asked) == why
    assert apply(world, asked) == why  # twice equals once
    assert world.training.wanted.tolist()[:2] == ([16, 16] if why else [15, 17])


def test_source_ports_are_told_and_taken_where_leaves_have_rules_for_them():
    world = network()
    asked = jobs_pb2.Directive(
        parameter="source_port", values=[jobs_pb2.RankValue(rank=3, value=50176)]
    )
    assert apply(world, asked) == ""
    assert [
        [(c.peer, c.source_port) for c in rank.connections]
        for rank in (announcement(world).ranks[3], announcement(world).ranks[31])
    ] == [[(11, 50176)], [(7, 0)]]
    assert apply(first_light(), asked) == "source ports cannot be chosen"
    asked.values[0].connection = 1
    assert apply(world, asked) == "ranks [3] have one connection"


async def test_over_the_channel_steps_are_told_and_directives_answered():
    world = first_light()
    channel = Channel(directive(r0=15, r1=17))
    server = grpc.aio.server()
    jobs_pb2_grpc.add_JobChannelServicer_to_server(channel, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    job = JobReporter(world, f"127.0.0.1:{port}")
    said: dict[str, list[jobs_pb2.JobMessage]] = {}
    try:
        async with job.client, asyncio.timeout(10.0):
            await job.client.wait_joined()
            while len(said) < 3 or len(said["announcement"]) < 2:
                world.advance(1.5)
                job.report()
                message = await channel.heard.get()
                said.setdefault(message.WhichOneof("body"), []).append(message)
    finally:
        await server.stop(None)
    result = said["result"][0].result
    assert (result.directive_id, result.state) == ("d1", "applied")
    assert said["announcement"][1].announcement.ranks[0].micro_batches == 15
    step = said["step"][0].step
    assert step.step_seconds == pytest.approx(1.0, abs=0.1)
    assert len(step.rank_compute_seconds) == len(step.rank_micro_batches) == 32
    assert step.at_ns > world.start_ns
