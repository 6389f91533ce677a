"""Micro-batches of jobs, by the collector's job channel."""

import hashlib
import re
from collections.abc import Mapping, Sequence

import grpc

from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change
from cluster import component as names
from pipelines.config.load import Loaded, read_secret
from pipelines.wire import jobs_pb2, jobs_pb2_grpc

_PATH = re.compile(r"^micro_batches\[rank=(\d+)\]$")
_PASSING = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)
_APPLY_SECONDS = 30.0


class JobChannelDriver:
    """The `Driver` and `Jobs` of what joined the information channel.

    All changes of one job travel in one directive, so a step never runs with half of them.
    """

    name = "job_channel"

    def __init__(
        self, channel: grpc.aio.Channel, *, token: str, timeout_seconds: float = 10.0
    ) -> None:
        self._channel = channel
        self._stub = jobs_pb2_grpc.JobChannelStub(channel)  # type: ignore[no-untyped-call]
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._timeout_seconds = timeout_seconds

    async def micro_batches(self, job: str) -> Mapping[int, int]:
        try:
            state = await self._stub.Describe(
                jobs_pb2.DescribeRequest(job_id=names.name_of(job)),
                timeout=self._timeout_seconds,
                metadata=self._metadata,
            )
        except grpc.aio.AioRpcError as error:
            raise _told(error, job, "Describe") from error
        if state.last_step.rank_micro_batches:
            return dict(enumerate(state.last_step.rank_micro_batches))
        return {rank.rank: rank.micro_batches for rank in state.announcement.ranks}

    async def read(self, changes: Sequence[Change]) -> Mapping[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for job in {change.target for change in changes}:
            batches = await self.micro_batches(job)
            found |= {(job, _path(rank)): str(count) for rank, count in batches.items()}
        return {
            (c.target, c.path): found[c.target, c.path]
            for c in changes
            if (c.target, c.path) in found
        }

    async def write(self, changes: Sequence[Change]) -> None:
        for job in dict.fromkeys(change.target for change in changes):
            await self._apply(job, [change for change in changes if change.target == job])

    async def confirm(self, changes: Sequence[Change]) -> None:
        """Nothing to do: a job keeps what it took."""

    async def close(self) -> None:
        await self._channel.close()

    async def _apply(self, job: str, changes: Sequence[Change]) -> None:
        values = [
            jobs_pb2.RankValue(rank=_rank(change), value=float(change.to_value))
            for change in changes
        ]
        directive = jobs_pb2.Directive(
            directive_id=_directive_id(job, changes), parameter="micro_batches", values=values
        )
        request = jobs_pb2.ApplyRequest(
            job_id=names.name_of(job), directive=directive, timeout_seconds=_APPLY_SECONDS
        )
        try:
            result = await self._stub.Apply(
                request,
                timeout=_APPLY_SECONDS + self._timeout_seconds,
                metadata=self._metadata,
            )
        except grpc.aio.AioRpcError as error:
            raise _told(error, job, "Apply") from error
        if result.state == "refused":
            raise PermanentActuationError(f"{job} refused: {result.detail}")
        if result.state != "applied":
            raise TransientActuationError(f"{job}: outcome not known: {result.detail}")


def job_channel_driver(loaded: Loaded) -> JobChannelDriver:
    """Return the driver for the configuration's job channel."""
    config = loaded.config.collect.job_channel
    token = "" if config.token_file is None else read_secret(loaded.resolve(config.token_file))
    return JobChannelDriver(grpc.aio.insecure_channel(config.address), token=token)


def _path(rank: int) -> str:
    return f"micro_batches[rank={rank}]"


def _rank(change: Change) -> int:
    match = _PATH.match(change.path)
    if match is None:
        raise PermanentActuationError(f"{change.target} has no {change.path!r}")
    return int(match[1])


def _directive_id(job: str, changes: Sequence[Change]) -> str:
    """Return the same id for the same change, so that a second sending is the same directive."""
    told = "|".join([job, *(f"{c.path}:{c.from_value}>{c.to_value}" for c in changes)])
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def _told(
    error: grpc.aio.AioRpcError, job: str, what: str
) -> TransientActuationError | PermanentActuationError:
    text = f"{job}: {what} answered {error.code().name}: {error.details()}"
    if error.code() in _PASSING:
        return TransientActuationError(text)
    return PermanentActuationError(text)
