"""A small gNMI server for the tests of the driver: Get, Set, arbitration, commits."""

import asyncio
from contextlib import asynccontextmanager

import grpc
from gnmi_pb import gnmi_pb2, gnmi_pb2_grpc

from pipelines.drivers.gnmi_path import integer_of, path_key
from pipelines.drivers.gnmi_session import Session


class Switch(gnmi_pb2_grpc.gNMIServicer):
    """Holds integers by path.

    Attributes
    ----------
    extensions
        Names of those it understands; another one is answered with UNIMPLEMENTED.
    faults
        (code, detail) to answer the coming Sets with; None = none.
    applies_before_fault
        The fault is only the answer: the Set was done.
    """

    def __init__(self, values, *, extensions=("commit", "master_arbitration"), encodings=None):
        self.values = dict(values)
        self.extensions = frozenset(extensions)
        self.encodings = encodings or [gnmi_pb2.JSON_IETF, gnmi_pb2.PROTO]
        self.faults = []
        self.applies_before_fault = False
        self.requests = []
        self.commit = None
        self._before = None
        self._election = 0

    async def Capabilities(self, request, context):  # noqa: N802
        return gnmi_pb2.CapabilityResponse(supported_encodings=self.encodings)

    async def Get(self, request, context):  # noqa: N802
        updates = []
        for path in request.path:
            key = path_key(path)
            if key not in self.values:
                await context.abort(grpc.StatusCode.NOT_FOUND, "no such path")
            value = gnmi_pb2.TypedValue(uint_val=self.values[key])
            updates.append(gnmi_pb2.Update(path=path, val=value))
        return gnmi_pb2.GetResponse(
            notification=[gnmi_pb2.Notification(timestamp=1, update=updates)]
        )

    async def Set(self, request, context):  # noqa: N802
        self.requests.append(request)
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None and not self.applies_before_fault:
            await context.abort(*fault)
        for extension in request.extension:
            await self._extension(extension, request, context)
        if self.commit is None or any(e.HasField("commit") for e in request.extension):
            for update in request.update:
                self.values[path_key(update.path)] = integer_of(update.val)
        else:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "a commit is active")
        if fault is not None:
            await context.abort(*fault)
        return gnmi_pb2.SetResponse(timestamp=1)

    async def _extension(self, extension, request, context):
        kind = extension.WhichOneof("ext")
        if kind not in self.extensions:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"no extension {kind}")
        if kind == "master_arbitration":
            election = extension.master_arbitration.election_id.low
            if election < self._election:
                await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not the primary")
            self._election = election
            return
        commit = extension.commit
        action = commit.WhichOneof("action")
        if action == "commit":
            if self.commit is not None:
                await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "a commit is active")
            self.commit, self._before = commit.id, dict(self.values)
        elif self.commit != commit.id:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no such commit")
        elif action == "confirm":
            self.commit = None
        else:
            self.commit, self.values = None, self._before


@asynccontextmanager
async def serving(switch, *, name="leaf1", election_id=7, rollback_seconds=60.0):
    """Serve a switch; yields a session with it."""
    server = grpc.aio.server()
    gnmi_pb2_grpc.add_gNMIServicer_to_server(switch, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    try:
        yield Session(
            name=name,
            channel=channel,
            metadata=(),
            election_id=election_id,
            rollback_seconds=rollback_seconds,
            timeout_seconds=2.0,
        )
    finally:
        await channel.close()
        await server.stop(None)
        await asyncio.sleep(0)
