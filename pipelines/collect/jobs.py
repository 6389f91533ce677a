"""The job channel: jobs announce themselves and report steps; the act worker hands directives."""

import asyncio
import contextlib
import hmac
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import grpc
import structlog

from cluster import component
from pipelines.clock import Clock
from pipelines.collect.announced import announcement_fault, step_readings, unknown_ranks
from pipelines.collect.frames import Frames
from pipelines.metrics import REFUSED
from pipelines.topics import JOBS, Outgoing, outgoing
from pipelines.wire import jobs_pb2, jobs_pb2_grpc

log = structlog.get_logger()

_APPLY_SECONDS: Final = 10.0
_JOBS_REMEMBERED: Final = 1000
_STEPS_REMEMBERED: Final = 256
_SERVER_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.so_reuseport", 0),
)


class _Job:
    """One joined job: its connection, what was told of it, and its unanswered directives."""

    def __init__(self, announcement: jobs_pb2.JobAnnouncement) -> None:
        self.announcement = announcement
        self.told = jobs_pb2.JobEvent()
        self.outbox: asyncio.Queue[jobs_pb2.Directive | None] = asyncio.Queue()
        self.pending: dict[str, asyncio.Future[jobs_pb2.DirectiveResult]] = {}

    def leave(self) -> None:
        """End the connection; what became of unanswered directives is not known."""
        self.outbox.put_nowait(None)
        for directive_id, future in self.pending.items():
            if not future.done():
                future.set_result(_unknown(directive_id, "the job left before it answered"))


class JobChannel(jobs_pb2_grpc.JobChannelServicer):
    """The server's side of ``trimtab.v1.JobChannel``.

    A job that joins again takes the place of its older connection. `Apply` and `Describe` change
    or tell what jobs run with, so they need the token; without one nobody may call them.
    """

    def __init__(
        self,
        *,
        frames: Frames,
        send: Callable[[Outgoing, int], None],
        clock: Clock,
        token: str = "",
    ) -> None:
        self._frames = frames
        self._send = send
        self._clock = clock
        self._token = token
        self._joined: dict[str, _Job] = {}
        self._states: OrderedDict[str, jobs_pb2.JobState] = OrderedDict()
        self._steps: dict[str, OrderedDict[tuple[int, int], None]] = {}

    async def Join(  # noqa: N802 - the name is the protocol's
        self, requests: AsyncIterator[jobs_pb2.JobMessage], context: Any
    ) -> AsyncIterator[jobs_pb2.Directive]:
        first = await anext(aiter(requests), None)
        if first is None or not first.HasField("announcement"):
            await _refuse(context, "the first message is not an announcement")
            return
        await _check(context, first.announcement)
        job = self._join(first.announcement)
        reader = asyncio.create_task(self._read(job, requests, context))
        reader.add_done_callback(lambda _: job.outbox.put_nowait(None))
        try:
            await context.send_initial_metadata(())
            while (directive := await job.outbox.get()) is not None:
                yield directive
            if reader.done() and not reader.cancelled():
                await reader
        finally:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, grpc.aio.AbortError):
                await reader
            self._leave(job)

    async def Apply(  # noqa: N802 - the name is the protocol's
        self, request: jobs_pb2.ApplyRequest, context: Any
    ) -> jobs_pb2.DirectiveResult:
        await self._authenticate(context)
        job = await self._job(request.job_id, context)
        directive_id = request.directive.directive_id
        if not directive_id:
            await _refuse(context, "the directive has no directive_id")
        future = job.pending.get(directive_id)
        if future is None:
            future = asyncio.get_running_loop().create_future()
            job.pending[directive_id] = future
            job.outbox.put_nowait(request.directive)
        try:
            async with asyncio.timeout(request.timeout_seconds or _APPLY_SECONDS):
                return await asyncio.shield(future)
        except TimeoutError:
            return _unknown(directive_id, "the job has not answered in time")
        finally:
            if future.done():
                job.pending.pop(directive_id, None)

    async def Describe(  # noqa: N802 - the name is the protocol's
        self, request: jobs_pb2.DescribeRequest, context: Any
    ) -> jobs_pb2.JobState:
        await self._authenticate(context)
        state = self._states.get(request.job_id)
        if state is None:
            await context.abort(
                grpc.StatusCode.NOT_FOUND, f"no job {request.job_id!r} has announced itself"
            )
            raise AssertionError("abort returned")
        return jobs_pb2.JobState(
            announcement=state.announcement,
            last_step=state.last_step if state.HasField("last_step") else None,
            joined=request.job_id in self._joined,
        )

    def _join(self, announcement: jobs_pb2.JobAnnouncement) -> _Job:
        job_id = announcement.job_id
        older = self._joined.pop(job_id, None)
        job = _Job(announcement)
        self._joined[job_id] = job
        state = self._states.setdefault(job_id, jobs_pb2.JobState())
        state.announcement.CopyFrom(announcement)
        self._states.move_to_end(job_id)
        while len(self._states) > _JOBS_REMEMBERED:
            forgotten, _ = self._states.popitem(last=False)
            self._steps.pop(forgotten, None)
        if older is not None:
            older.leave()
        self._tell(job, "joined" if older is None else "changed")
        log.info("job joined", job=job_id, ranks=len(announcement.ranks))
        return job

    def _leave(self, job: _Job) -> None:
        job_id = job.announcement.job_id
        job.leave()
        if self._joined.get(job_id) is job:
            del self._joined[job_id]
            self._tell(job, "left")
            log.info("job left", job=job_id)

    async def _read(
        self, job: _Job, requests: AsyncIterator[jobs_pb2.JobMessage], context: Any
    ) -> None:
        async for message in requests:
            match message.WhichOneof("body"):
                case "announcement":
                    await self._change(job, message.announcement, context)
                case "step":
                    self._step(job, message.step)
                case "result":
                    future = job.pending.get(message.result.directive_id)
                    if future is not None and not future.done():
                        future.set_result(message.result)

    async def _change(
        self, job: _Job, announcement: jobs_pb2.JobAnnouncement, context: Any
    ) -> None:
        if announcement.job_id != job.announcement.job_id:
            await _refuse(context, f"this connection is {job.announcement.job_id!r}'s")
        await _check(context, announcement)
        job.announcement = announcement
        self._states[announcement.job_id].announcement.CopyFrom(announcement)
        self._tell(job, "changed")

    def _step(self, job: _Job, report: jobs_pb2.StepReport) -> None:
        announcement = job.announcement
        state = self._states.get(announcement.job_id)
        if state is not None:
            state.last_step.CopyFrom(report)
        if self._is_repeated(report, announcement.job_id):
            REFUSED.labels("samples", "repeated_step").inc()
            return
        unknown = unknown_ranks(announcement, report)
        if unknown:
            REFUSED.labels("samples", "unknown_rank").inc(unknown)
        self._frames.take(
            component.component("job", announcement.job_id),
            announcement.cell,
            report.at_ns or self._clock.now_ns(),
            step_readings(announcement, report),
        )

    def _is_repeated(self, report: jobs_pb2.StepReport, job_id: str) -> bool:
        """Tell whether a job that was started again tells a step again."""
        seen = self._steps.setdefault(job_id, OrderedDict())
        step = (report.step, report.at_ns)
        if report.at_ns and step in seen:
            return True
        seen[step] = None
        if len(seen) > _STEPS_REMEMBERED:
            seen.popitem(last=False)
        return False

    async def repeat(self, every_seconds: float) -> None:
        """Tell again and again, word for word, what the joined jobs told last.

        A broker that lost its memory lost it too; whoever has it already knows it by its time.
        """
        while True:
            await asyncio.sleep(every_seconds)
            for job in list(self._joined.values()):
                self._put(job.told)

    def _tell(self, job: _Job, event: str) -> None:
        now_ns = self._clock.now_ns()
        announcement = job.announcement
        job.told = jobs_pb2.JobEvent(
            job_id=announcement.job_id,
            cell=announcement.cell,
            event=event,
            at_ns=now_ns if event == "left" else announcement.at_ns or now_ns,
            announcement=announcement,
        )
        self._put(job.told)

    def _put(self, told: jobs_pb2.JobEvent) -> None:
        message = outgoing(
            JOBS,
            cell=told.cell,
            value=told.SerializeToString(),
            source="collect",
            subject=component.component("job", told.job_id),
            at_ns=told.at_ns,
            event_id=f"{told.job_id}-{told.event}-{told.at_ns}",
        )
        self._send(message, self._clock.now_ns())

    async def _job(self, job_id: str, context: Any) -> _Job:
        job = self._joined.get(job_id)
        if job is None:
            code = grpc.StatusCode.UNAVAILABLE if job_id in self._states else None
            await context.abort(
                code or grpc.StatusCode.NOT_FOUND, f"job {job_id!r} is not joined now"
            )
            raise AssertionError("abort returned")
        return job

    async def _authenticate(self, context: Any) -> None:
        given = dict(context.invocation_metadata() or ()).get("authorization", "")
        wanted = f"Bearer {self._token}"
        if not self._token or not hmac.compare_digest(str(given).encode(), wanted.encode()):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no or wrong bearer token")


async def serve_job_channel(channel: JobChannel, address: str) -> tuple[grpc.aio.Server, int]:
    """Serve until the returned server is stopped; the port is told too, for ``host:0``.

    Raises
    ------
    RuntimeError
        The address cannot be bound.
    """
    server = grpc.aio.server(options=_SERVER_OPTIONS)
    jobs_pb2_grpc.add_JobChannelServicer_to_server(channel, server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port(address)
    await server.start()
    return server, port


async def _check(context: Any, announcement: jobs_pb2.JobAnnouncement) -> None:
    fault = announcement_fault(announcement)
    if fault:
        await _refuse(context, fault)


async def _refuse(context: Any, why: str) -> None:
    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, why)


def _unknown(directive_id: str, detail: str) -> jobs_pb2.DirectiveResult:
    return jobs_pb2.DirectiveResult(directive_id=directive_id, state="unknown", detail=detail)
