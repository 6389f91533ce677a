"""A job's end of the information channel: announces the job, reports its steps, takes directives.

The training loop is never held up: reports wait in a bounded queue, and the oldest are dropped
and counted while the collector is away.
"""

import asyncio
import contextlib
import random
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Final, Self

import grpc

from pipelines.wire import jobs_pb2, jobs_pb2_grpc

OnDirective = Callable[[jobs_pb2.Directive], jobs_pb2.DirectiveResult]

_CHANNEL_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.enable_retries", 0),
)
# A refused announcement does not become right by itself.
_REFUSED: Final = frozenset({grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED})


class JobClient:
    """Keeps a job joined; use it as an async context manager.

    After a lost connection it joins again with a jittered back-off and announces the job as it
    then is. ``on_directive`` is called on the event loop and must not block; it answers with what
    became of the directive, and what it raises is answered as ``refused``. Applying one directive
    twice must equal applying it once.

    Attributes
    ----------
    dropped
        Step reports that were lost: too many waited.
    refusal
        Why the collector refuses the announcement, else empty.
    """

    def __init__(
        self,
        address: str,
        announcement: jobs_pb2.JobAnnouncement,
        on_directive: OnDirective,
        *,
        queue_reports: int = 1000,
        longest_wait_seconds: float = 30.0,
    ) -> None:
        self.dropped = 0
        self.refusal = ""
        self._address = address
        self._announcement = announcement
        self._on_directive = on_directive
        self._queue_reports = queue_reports
        self._longest_wait_seconds = longest_wait_seconds
        self._waiting: deque[jobs_pb2.JobMessage] = deque()
        self._answers: deque[jobs_pb2.JobMessage] = deque()
        self._wake = asyncio.Event()
        self._joined = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._random = random.SystemRandom()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._stay_joined())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def wait_joined(self) -> None:
        """Return once the announcement was written to a live connection."""
        await self._joined.wait()

    def step(self, report: jobs_pb2.StepReport) -> None:
        """Report a step; returns at once. Call it on the event loop's thread."""
        if len(self._waiting) >= self._queue_reports:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(jobs_pb2.JobMessage(step=report))
        self._wake.set()

    def announce(self, announcement: jobs_pb2.JobAnnouncement) -> None:
        """Tell that the job has changed: the same job id, other ranks or collectives."""
        self._announcement = announcement
        self._answers.append(jobs_pb2.JobMessage(announcement=announcement))
        self._wake.set()

    async def _stay_joined(self) -> None:
        attempt = 0
        while True:
            was_joined = await self._join_once()
            attempt = 0 if was_joined else attempt + 1
            highest = min(self._longest_wait_seconds, 0.5 * 2.0 ** min(attempt, 10))
            if self.refusal:
                highest = self._longest_wait_seconds
            await asyncio.sleep(self._random.uniform(0.1 * highest, highest))

    async def _join_once(self) -> bool:
        """Stay joined until the connection ends; tell whether a directive stream was open."""
        async with grpc.aio.insecure_channel(self._address, options=_CHANNEL_OPTIONS) as channel:
            call = jobs_pb2_grpc.JobChannelStub(channel).Join()  # type: ignore[no-untyped-call]
            writer = asyncio.create_task(self._write(call))
            try:
                # The server's first metadata come when it has taken the announcement.
                await call.initial_metadata()
                self.refusal = ""
                self._joined.set()
                await self._read(call)
            except grpc.aio.AioRpcError as error:
                refused = error.code() in _REFUSED
                self.refusal = (error.details() or error.code().name) if refused else ""
            finally:
                call.cancel()
                writer.cancel()
                # Awaiting the writer itself would take a cancellation of ours for its own.
                await asyncio.wait({writer})
            was_joined = self._joined.is_set()
            self._joined.clear()
            return was_joined

    async def _write(self, call: Any) -> None:
        self._answers.clear()
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await call.write(jobs_pb2.JobMessage(announcement=self._announcement))
            async for message in self._messages():
                await call.write(message)

    async def _messages(self) -> AsyncIterator[jobs_pb2.JobMessage]:
        """Yield what is to be sent, answers first; a report leaves the queue once it is written."""
        while True:
            if self._answers:
                yield self._answers.popleft()
            elif self._waiting:
                message = self._waiting[0]
                yield message
                if self._waiting and self._waiting[0] is message:
                    self._waiting.popleft()
            else:
                self._wake.clear()
                await self._wake.wait()

    async def _read(self, call: Any) -> None:
        async for directive in call:
            try:
                result = self._on_directive(directive)
            except Exception as error:  # noqa: BLE001 - the job's own code; its failure is an answer
                result = jobs_pb2.DirectiveResult(state="refused", detail=repr(error))
            result.directive_id = directive.directive_id
            self._answers.append(jobs_pb2.JobMessage(result=result))
            self._wake.set()


class SyncJobClient:
    """The same for a plain training loop: the connection lives in a thread of its own.

    ``on_directive`` is called on that thread. Use it as a context manager, or `close` it.
    """

    def __init__(
        self, address: str, announcement: jobs_pb2.JobAnnouncement, on_directive: OnDirective
    ) -> None:
        self._arguments = (address, announcement, on_directive)
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="job-client", daemon=True)
        self._thread.start()
        self._started.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def dropped(self) -> int:
        return self._client.dropped

    @property
    def refusal(self) -> str:
        return self._client.refusal

    def step(self, report: jobs_pb2.StepReport) -> None:
        """Report a step; returns at once, from any thread."""
        with contextlib.suppress(RuntimeError):  # closed: the report is of no use any more
            self._loop.call_soon_threadsafe(self._client.step, report)

    def announce(self, announcement: jobs_pb2.JobAnnouncement) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._client.announce, announcement)

    def close(self) -> None:
        """Leave; may be called twice."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._stay())

    async def _stay(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._client = JobClient(*self._arguments)
        self._started.set()
        async with self._client:
            await self._stop.wait()
