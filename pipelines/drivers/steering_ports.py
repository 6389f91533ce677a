"""Source ports of jobs' connections, told over the job channel."""

import hashlib
from collections.abc import Sequence
from typing import Final

import grpc

from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change
from actuators.steering import paths
from cluster import component as names
from pipelines.wire import jobs_pb2, jobs_pb2_grpc

_PASSING: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)
_APPLY_SECONDS: Final = 30.0


class JobHand:
    """Steers the connections of one job: all changes of it travel in one directive.

    Nothing is undone by itself: a job keeps what it took, and `undo` tells it the old ports.
    """

    def __init__(
        self, job: str, channel: grpc.aio.Channel, *, token: str, timeout_seconds: float = 10.0
    ) -> None:
        self._job = job
        self._stub = jobs_pb2_grpc.JobChannelStub(channel)  # type: ignore[no-untyped-call]
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._timeout_seconds = timeout_seconds

    async def read(self, changes: Sequence[Change]) -> dict[str, str]:
        """Return the port at each change's path; empty where the job has no such connection."""
        announced = await self._ports()
        return {change.path: announced.get(change.path, "") for change in changes}

    async def write(self, changes: Sequence[Change]) -> None:
        """Tell the job its new ports; returns when it says that it took them.

        Raises
        ------
        ActuationError
            The job refused, is not joined, or its answer is not known: read back.
        """
        await self._apply([(change, change.to_value) for change in changes])

    async def confirm(self) -> None:
        """Nothing to do."""

    async def undo(self, changes: Sequence[Change]) -> None:
        await self._apply([(change, change.from_value) for change in changes])

    async def close(self) -> None:
        """Nothing to do: the channel is shared by all jobs."""

    async def has_ports(self) -> bool:
        """Return whether the job lets source ports of its connections be chosen.

        Raises
        ------
        ActuationError
            It is not joined, or the channel cannot be reached.
        """
        return bool(await self._ports())

    async def _ports(self) -> dict[str, str]:
        request = jobs_pb2.DescribeRequest(job_id=names.name_of(self._job))
        try:
            state = await self._stub.Describe(
                request, timeout=self._timeout_seconds, metadata=self._metadata
            )
        except grpc.aio.AioRpcError as error:
            raise self._told(error, "Describe") from error
        return {
            paths.source_port_path(rank.rank, n): str(connection.source_port)
            for rank in state.announcement.ranks
            for n, connection in enumerate(rank.connections)
        }

    async def _apply(self, wanted: Sequence[tuple[Change, str]]) -> None:
        values = [_value(change, port) for change, port in wanted]
        told = "|".join(f"{self._job}{change.path}>{port}" for change, port in wanted)
        directive = jobs_pb2.Directive(
            directive_id=hashlib.sha256(told.encode()).hexdigest()[:24],
            parameter="source_port",
            values=values,
        )
        request = jobs_pb2.ApplyRequest(
            job_id=names.name_of(self._job), directive=directive, timeout_seconds=_APPLY_SECONDS
        )
        try:
            result = await self._stub.Apply(
                request, timeout=_APPLY_SECONDS + self._timeout_seconds, metadata=self._metadata
            )
        except grpc.aio.AioRpcError as error:
            raise self._told(error, "Apply") from error
        if result.state == "refused":
            raise PermanentActuationError(f"{self._job} refused: {result.detail}")
        if result.state != "applied":
            raise TransientActuationError(f"{self._job}: outcome not known: {result.detail}")

    def _told(
        self, error: grpc.aio.AioRpcError, what: str
    ) -> TransientActuationError | PermanentActuationError:
        text = f"{self._job}: {what} answered {error.code().name}: {error.details()}"
        kind = TransientActuationError if error.code() in _PASSING else PermanentActuationError
        return kind(text)


def _value(change: Change, port: str) -> jobs_pb2.RankValue:
    at = paths.rank_and_connection(change.path)
    if at is None:
        raise PermanentActuationError(f"{change.target} has no {change.path!r}")
    return jobs_pb2.RankValue(rank=at[0], connection=at[1], value=float(port or 0))
