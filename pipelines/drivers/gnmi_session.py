"""One switch that is written to: Get, and Set with arbitration and a commit to be confirmed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from gnmi_pb import gnmi_ext_pb2, gnmi_pb2, gnmi_pb2_grpc
from google.protobuf.duration_pb2 import Duration

from actuators.ports import PermanentActuationError, TransientActuationError
from pipelines.drivers.gnmi_leaves import leaves_of
from pipelines.drivers.gnmi_path import integer_of, parse_path, path_key, typed

_PASSING = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.CANCELLED,
    }
)
_NOT_UNDERSTOOD = frozenset({grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INVALID_ARGUMENT})
_ENCODINGS = (gnmi_pb2.PROTO, gnmi_pb2.JSON_IETF, gnmi_pb2.JSON)
_ROLE = "trimtab"


@dataclass(slots=True)
class Session:
    """What is known of one switch, and the way to it.

    Attributes
    ----------
    takes_commits, takes_arbitration
        None = not tried yet; a switch that refuses an extension is asked again without it, and
        that is remembered.
    pending
        A change of ours waits there for its confirmation.
    """

    name: str
    channel: grpc.aio.Channel
    metadata: tuple[tuple[str, str], ...]
    election_id: int
    rollback_seconds: float
    timeout_seconds: float = 10.0
    takes_commits: bool | None = None
    takes_arbitration: bool | None = None
    pending: bool = False
    _encoding: int | None = None
    _stub: Any = field(init=False)

    def __post_init__(self) -> None:
        self._stub = gnmi_pb2_grpc.gNMIStub(self.channel)

    @property
    def commit_id(self) -> str:
        # The same for every change of ours: a device holds one commit at a time, and after a
        # restart it can still be confirmed or cancelled.
        return f"trimtab-{self.name}"

    async def get(self, paths: Sequence[str]) -> dict[str, int]:
        """Return integers by path; what the switch does not have is absent.

        Raises
        ------
        ActuationError
            It could not be asked, or refuses.
        """
        try:
            return await self._get(paths)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise self._told(error, "Get") from error
        found: dict[str, int] = {}
        for path in paths:
            try:
                found |= await self._get([path])
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.NOT_FOUND:
                    raise self._told(error, "Get") from error
        return found

    async def leaves(self, path: str) -> dict[str, str]:
        """Return values, as text, by path of all leaves at a path and below it.

        Raises
        ------
        ActuationError
            It could not be asked, refuses, or does not know the path.
        """
        found, _ = await self.readings([path])
        return found

    async def readings(self, paths: Sequence[str]) -> tuple[dict[str, str], int]:
        """Return the leaves at and below several paths, and when the switch read them, in ns.

        What is not there is absent; the time is 0 when nothing is.
        """
        request = gnmi_pb2.GetRequest(path=[parse_path(path) for path in paths])
        try:
            request.encoding = await self._known_encoding()
            response = await self._call(self._stub.Get, request)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return {}, 0
            raise self._told(error, "Get") from error
        found = dict(leaf for told in response.notification for leaf in leaves_of(told))
        return found, max((told.timestamp for told in response.notification), default=0)

    async def models(self) -> dict[str, str]:
        """Return version by name of the YANG modules it says it has.

        Raises
        ------
        ActuationError
            It could not be asked, or refuses.
        """
        try:
            answer = await self._call(self._stub.Capabilities, gnmi_pb2.CapabilityRequest())
        except grpc.aio.AioRpcError as error:
            raise self._told(error, "Capabilities") from error
        return {model.name: model.version for model in answer.supported_models}

    async def set(
        self, values: Mapping[str, int | str | bool], *, delete: Sequence[str] = ()
    ) -> None:
        """Delete, then write, as one transaction.

        Where the switch takes commits it undoes the change unless `confirm` follows.

        Raises
        ------
        ActuationError
            Refused, or not known whether it was taken: read back.
        """
        try:
            await self._set(values, delete)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.ALREADY_EXISTS:
                return
            if error.code() is not grpc.StatusCode.FAILED_PRECONDITION:
                raise self._told(error, "Set") from error
            await self._set_after_cancel(values, delete, error)

    async def confirm(self) -> None:
        """Make the pending change last; that none is pending any more shows when it is read."""
        await self._finish("Confirm", confirm=gnmi_ext_pb2.CommitConfirm())

    async def cancel(self) -> None:
        """Undo the pending change at once."""
        await self._finish("Cancel", cancel=gnmi_ext_pb2.CommitCancel())

    async def _finish(self, what: str, **end: Any) -> None:
        if self.takes_commits is False:
            return
        commit = gnmi_ext_pb2.Commit(id=self.commit_id, **end)
        request = gnmi_pb2.SetRequest(
            extension=[*self._arbitration(), gnmi_ext_pb2.Extension(commit=commit)]
        )
        try:
            await self._call(self._stub.Set, request)
        except grpc.aio.AioRpcError as error:
            if error.code() in _PASSING:
                raise self._told(error, what) from error
        self.pending = False

    async def _set_after_cancel(
        self,
        values: Mapping[str, int | str | bool],
        delete: Sequence[str],
        first: grpc.aio.AioRpcError,
    ) -> None:
        """Write again after cancelling what an earlier run of ours may have left unconfirmed."""
        await self.cancel()
        try:
            await self._set(values, delete)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.ALREADY_EXISTS:
                return
            if error.code() is grpc.StatusCode.FAILED_PRECONDITION:
                raise TransientActuationError(
                    f"switch/{self.name}: busy with somebody else's commit: {first.details()}"
                ) from error
            raise self._told(error, "Set") from error

    async def _set(self, values: Mapping[str, int | str | bool], delete: Sequence[str]) -> None:
        encoding = await self._known_encoding()
        deleted = [parse_path(path) for path in delete]
        update = [
            gnmi_pb2.Update(path=parse_path(path), val=typed(value, encoding))
            for path, value in values.items()
        ]
        last: grpc.aio.AioRpcError | None = None
        for commits, arbitration in self._ladder():
            extension = [
                *(self._arbitration() if arbitration else ()),
                *(self._commit() if commits else ()),
            ]
            try:
                request = gnmi_pb2.SetRequest(delete=deleted, update=update, extension=extension)
                await self._call(self._stub.Set, request)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _NOT_UNDERSTOOD:
                    raise
                last = error
            else:
                self.takes_commits, self.takes_arbitration = commits, arbitration
                self.pending = commits
                return
        assert last is not None  # noqa: S101 - the ladder has a rung
        raise last

    def _ladder(self) -> list[tuple[bool, bool]]:
        """Return which extensions to try: commits and arbitration, fewer each time."""
        if self.takes_commits is not None and self.takes_arbitration is not None:
            return [(self.takes_commits, self.takes_arbitration)]
        return [(True, True), (False, True), (True, False), (False, False)]

    def _arbitration(self) -> list[gnmi_ext_pb2.Extension]:
        if self.takes_arbitration is False:
            return []
        arbitration = gnmi_ext_pb2.MasterArbitration(
            role=gnmi_ext_pb2.Role(id=_ROLE),
            election_id=gnmi_ext_pb2.Uint128(high=0, low=self.election_id),
        )
        return [gnmi_ext_pb2.Extension(master_arbitration=arbitration)]

    def _commit(self) -> list[gnmi_ext_pb2.Extension]:
        duration = Duration()
        duration.FromMilliseconds(int(self.rollback_seconds * 1000))
        request = gnmi_ext_pb2.CommitRequest(rollback_duration=duration)
        return [
            gnmi_ext_pb2.Extension(commit=gnmi_ext_pb2.Commit(id=self.commit_id, commit=request))
        ]

    async def _get(self, paths: Sequence[str]) -> dict[str, int]:
        wanted = {path_key(parse_path(path)): path for path in paths}
        response = await self._call(
            self._stub.Get,
            gnmi_pb2.GetRequest(
                path=[parse_path(path) for path in paths], encoding=await self._known_encoding()
            ),
        )
        found = {}
        for notification in response.notification:
            for update in notification.update:
                path = wanted.get(path_key(notification.prefix, update.path))
                value = integer_of(update.val)
                if path is not None and value is not None:
                    found[path] = value
        return found

    async def _known_encoding(self) -> int:
        if self._encoding is None:
            answer = await self._call(self._stub.Capabilities, gnmi_pb2.CapabilityRequest())
            offered = set(answer.supported_encodings)
            self._encoding = next((e for e in _ENCODINGS if e in offered), gnmi_pb2.JSON_IETF)
        return self._encoding

    async def _call(self, method: Any, request: Any) -> Any:
        return await method(request, timeout=self.timeout_seconds, metadata=self.metadata)

    def _told(
        self, error: grpc.aio.AioRpcError, what: str
    ) -> TransientActuationError | PermanentActuationError:
        text = f"switch/{self.name}: {what} answered {error.code().name}: {error.details()}"
        if error.code() in _PASSING:
            return TransientActuationError(text)
        return PermanentActuationError(text)
