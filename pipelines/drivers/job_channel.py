"""Micro-batches and source ports of jobs, by the collector's job channel."""

import hashlib
import re
from collections.abc import Mapping, Sequence

import grpc

from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change
from actuators.steering.paths import rank_and_connection, source_port_path
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

    All changes of one parameter of a job travel in one directive, so a step never runs with half
    of them.
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
        return _micro_batches(await self._describe(job))

    async def read(self, changes: Sequence[Change]) -> Mapping[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for job in {change.target for change in changes}:
            state = await self._describe(job)
            found |= {(job, _path(r)): str(count) for r, count in _micro_batches(state).items()}
            found |= {(job, path): port for path, port in _source_ports(state).items()}
        return {
            (c.target, c.path): found[c.target, c.path]
            for c in changes
            if (c.target, c.path) in found
        }

    async def write(self, changes: Sequence[Change]) -> None:
        by_parameter: dict[tuple[str, str], list[Change]] = {}
        for change in changes:
            parameter = change.path.partition("[")[0]
            by_parameter.setdefault((change.target, parameter), []).append(change)
        for (job, parameter), group in by_parameter.items():
            await self._apply(job, parameter, group)

    async def confirm(self, changes: Sequence[Change]) -> None:
        """Nothing to do: a job keeps what it took."""

    async def close(self) -> None:
        await self._channel.close()

    async def _describe(self, job: str) -> jobs_pb2.JobState:
        try:
            state: jobs_pb2.JobState = await self._stub.Describe(
                jobs_pb2.DescribeRequest(job_id=names.name_of(job)),
                timeout=self._timeout_seconds,
                metadata=self._metadata,
            )
        except grpc.aio.AioRpcError as error:
            raise _told(error, job, "Describe") from error
        return state

    async def _apply(self, job: str, parameter: str, changes: Sequence[Change]) -> None:
        directive = jobs_pb2.Directive(
            directive_id=_directive_id(job, changes),
            parameter=parameter,
            values=[_value(change) for change in changes],
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


def _micro_batches(state: jobs_pb2.JobState) -> dict[int, int]:
    if state.last_step.rank_micro_batches:
        return dict(enumerate(state.last_step.rank_micro_batches))
    return {rank.rank: rank.micro_batches for rank in state.announcement.ranks}


def _source_ports(state: jobs_pb2.JobState) -> dict[str, str]:
    return {
        source_port_path(rank.rank, n): str(connection.source_port)
        for rank in state.announcement.ranks
        for n, connection in enumerate(rank.connections)
    }


def _value(change: Change) -> jobs_pb2.RankValue:
    """Return what a directive says of a change.

    Raises
    ------
    PermanentActuationError
        A job has no such parameter.
    """
    match, connection = _PATH.match(change.path), rank_and_connection(change.path)
    if match is not None:
        return jobs_pb2.RankValue(rank=int(match[1]), value=float(change.to_value))
    if connection is not None:
        rank, number = connection
        return jobs_pb2.RankValue(rank=rank, connection=number, value=float(change.to_value))
    raise PermanentActuationError(f"{change.target} has no {change.path!r}")


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
