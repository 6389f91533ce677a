"""A job that lets its source ports be chosen, behind the collector's channel."""

from contextlib import asynccontextmanager

import grpc

from pipelines.drivers.job_channel import JobChannelDriver
from pipelines.job_ports import JobPorts
from pipelines.wire import jobs_pb2, jobs_pb2_grpc


class Channel(jobs_pb2_grpc.JobChannelServicer):
    """One job that answers by `JobPorts`."""

    def __init__(self, peers):
        self.moved = []
        self.ports = JobPorts(peers, on_change=lambda *told: self.moved.append(told))
        self.state = ""
        self.directives = []

    async def Describe(self, request, context):  # noqa: N802
        if request.job_id != "train":
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such job")
        ranks = [
            jobs_pb2.Rank(rank=rank, connections=self.ports.connections(rank))
            for rank in self.ports.peers
        ]
        return jobs_pb2.JobState(announcement=jobs_pb2.JobAnnouncement(ranks=ranks), joined=True)

    async def Apply(self, request, context):  # noqa: N802
        del context
        self.directives.append(request.directive)
        if self.state:
            return jobs_pb2.DirectiveResult(state=self.state, detail="said the job")
        return self.ports.take(request.directive)


@asynccontextmanager
async def running(channel):
    """Serve the job; yields the driver of its channel."""
    server = grpc.aio.server()
    jobs_pb2_grpc.add_JobChannelServicer_to_server(channel, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    opened = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    try:
        yield JobChannelDriver(opened, token="secret", timeout_seconds=2.0)
    finally:
        await opened.close()
        await server.stop(None)
