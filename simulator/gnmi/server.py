"""A switch's gNMI service."""

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import grpc
from gnmi_pb import gnmi_pb2, gnmi_pb2_grpc

from simulator.clock import VirtualClock
from simulator.gnmi.encode import JSON_IETF, PROTO, LeafEncoder, subtree, tops
from simulator.gnmi.errors import GnmiError, invalid, unimplemented
from simulator.gnmi.paths import Elems, covers, from_message, to_message, to_text
from simulator.gnmi.subscribe import Reading, Timed, check_origin, present, selected, timed
from simulator.gnmi.tree import Leaf

_VERSION = "0.10.0"
_GET_TYPES = {
    gnmi_pb2.GetRequest.CONFIG: ("config",),
    gnmi_pb2.GetRequest.STATE: ("state",),
    gnmi_pb2.GetRequest.OPERATIONAL: ("state",),
}


class Device(Protocol):
    """What a switch is: its leaves, its time, and how it takes a Set.

    Attributes
    ----------
    models
        Name and version of the YANG modules it tells of.
    time_ns
        Device time of the readings.
    tick_ns
        Its readings change no more often.
    """

    @property
    def models(self) -> Sequence[tuple[str, str]]: ...

    @property
    def time_ns(self) -> int: ...

    @property
    def tick_ns(self) -> int: ...

    def leaves(self) -> Sequence[Leaf]: ...

    async def change(self, request: gnmi_pb2.SetRequest) -> None:
        """Do what a Set asks, and return when it is in force.

        Raises
        ------
        GnmiError
            It is refused, and nothing has changed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who may change the switch."""

    username: str
    password: str

    def fit(self, context: Any) -> bool:
        told = dict(context.invocation_metadata() or ())
        given = f"{told.get('username', '')}:{told.get('password', '')}"
        return hmac.compare_digest(given, f"{self.username}:{self.password}")


class GnmiService(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """Answers for one switch.

    Every reading carries the device time of the tick it was counted in.
    """

    def __init__(
        self,
        *,
        device: Device,
        clock: VirtualClock,
        credentials: Credentials,
    ) -> None:
        self._device = device
        self._clock = clock
        self._credentials = credentials

    async def Capabilities(  # noqa: N802 - gRPC's name
        self, request: gnmi_pb2.CapabilityRequest, context: Any
    ) -> gnmi_pb2.CapabilityResponse:
        del request, context
        models = [
            gnmi_pb2.ModelData(name=name, organization="OpenConfig working group", version=version)
            for name, version in self._device.models
        ]
        return gnmi_pb2.CapabilityResponse(
            supported_models=models,
            supported_encodings=[PROTO, JSON_IETF],
            gNMI_version=_VERSION,
        )

    async def Get(  # noqa: N802 - gRPC's name
        self, request: gnmi_pb2.GetRequest, context: Any
    ) -> gnmi_pb2.GetResponse:
        try:
            check_origin(request.prefix, *request.path)
            encoding = _encoding(request.encoding)
            leaves = self._device.leaves()
            return gnmi_pb2.GetResponse(
                notification=[
                    notification
                    for path in request.path or [gnmi_pb2.Path()]
                    for notification in self._got(request, path, encoding, leaves)
                ]
            )
        except GnmiError as error:
            await context.abort(error.code, error.details)
            raise

    def _got(
        self,
        request: gnmi_pb2.GetRequest,
        path: gnmi_pb2.Path,
        encoding: int,
        leaves: Sequence[Leaf],
    ) -> list[gnmi_pb2.Notification]:
        pattern = from_message(request.prefix, path)
        containers = _GET_TYPES.get(request.type)
        found = present(
            [
                (leaf, leaf.read())
                for leaf in selected(pattern, leaves)
                if containers is None or any(e.name in containers for e in leaf.relative)
            ]
        )
        if not found:
            raise GnmiError(grpc.StatusCode.NOT_FOUND, f"nothing at {to_text(pattern)}")
        if encoding == JSON_IETF:
            return self._as_json(request, pattern, found)
        return self._encoder(request, encoding).notifications(found, self._device.time_ns)

    def _as_json(
        self, request: gnmi_pb2.GetRequest, pattern: Elems, found: list[Reading]
    ) -> list[gnmi_pb2.Notification]:
        prefix = gnmi_pb2.Path(target=request.prefix.target, origin=request.prefix.origin)
        return [
            gnmi_pb2.Notification(
                timestamp=self._device.time_ns,
                prefix=prefix,
                update=[
                    gnmi_pb2.Update(
                        path=to_message(top),
                        val=gnmi_pb2.TypedValue(
                            json_ietf_val=json.dumps(
                                subtree([r for r in found if covers(top, r[0].path)], top)
                            ).encode()
                        ),
                    )
                ],
            )
            for top in tops((leaf for leaf, _ in found), pattern)
        ]

    async def Set(  # noqa: N802 - gRPC's name
        self, request: gnmi_pb2.SetRequest, context: Any
    ) -> gnmi_pb2.SetResponse:
        try:
            self._check_credentials(context)
            check_origin(request.prefix)
            await self._device.change(request)
        except GnmiError as error:
            await context.abort(error.code, error.details)
            raise
        return gnmi_pb2.SetResponse(
            prefix=request.prefix, response=_results(request), timestamp=self._device.time_ns
        )

    def _check_credentials(self, context: Any) -> None:
        if not self._credentials.fit(context):
            raise GnmiError(grpc.StatusCode.UNAUTHENTICATED, "wrong username or password")

    async def Subscribe(  # noqa: N802 - gRPC's name
        self, requests: AsyncIterator[gnmi_pb2.SubscribeRequest], context: Any
    ) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
        try:
            first = await anext(aiter(requests), None)
            if first is None or not first.HasField("subscribe"):
                raise invalid("the first message is not a subscription list")
            asked = first.subscribe
            encoder = self._encoder(asked, _encoding(asked.encoding))
            answers = (
                self._stream(asked, encoder)
                if asked.mode == gnmi_pb2.SubscriptionList.STREAM
                else self._on_request(asked, encoder, requests)
            )
            async for answer in answers:
                yield answer
        except GnmiError as error:
            await context.abort(error.code, error.details)

    async def _on_request(
        self,
        asked: gnmi_pb2.SubscriptionList,
        encoder: LeafEncoder,
        requests: AsyncIterator[gnmi_pb2.SubscribeRequest],
    ) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
        """Answer ONCE, and POLL as often as the client asks."""
        every = self._device.leaves()
        leaves = [
            leaf
            for subscription in asked.subscription
            for leaf in selected(from_message(asked.prefix, subscription.path), every)
        ]
        check_origin(asked.prefix, *(s.path for s in asked.subscription))
        for answer in self._now(leaves, encoder, updates_only=asked.updates_only):
            yield answer
        if asked.mode == gnmi_pb2.SubscriptionList.ONCE:
            return
        async for request in requests:
            if not request.HasField("poll"):
                raise invalid("a POLL subscription takes nothing but polls")
            for answer in self._now(leaves, encoder, updates_only=False):
                yield answer

    def _now(
        self, leaves: list[Leaf], encoder: LeafEncoder, *, updates_only: bool
    ) -> list[gnmi_pb2.SubscribeResponse]:
        readings = [] if updates_only else present([(leaf, leaf.read()) for leaf in leaves])
        return [*_updates(encoder, readings, self._device.time_ns), _synced()]

    async def _stream(
        self, asked: gnmi_pb2.SubscriptionList, encoder: LeafEncoder
    ) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
        leaves, tick_ns = self._device.leaves(), self._device.tick_ns
        streams = [s for s in timed(asked, leaves, tick_ns=tick_ns) if s.leaves]
        now_ns = self._device.time_ns
        for stream in streams:
            readings = stream.start(now_ns)
            if not asked.updates_only:
                for answer in _updates(encoder, readings, now_ns):
                    yield answer
        yield _synced()
        if not streams:  # valid paths without an instance: open and silent
            await asyncio.Event().wait()
        while True:
            await self._until_due(streams)
            now_ns = self._device.time_ns
            for stream in streams:
                for answer in _updates(encoder, stream.take(now_ns), now_ns):
                    yield answer

    async def _until_due(self, streams: list[Timed]) -> None:
        due_ns = min(stream.due_ns for stream in streams)
        await self._clock.sleep_until(due_ns)
        while self._device.time_ns < due_ns:  # its tick has not come
            await self._clock.sleep_until(self._clock.now_ns() + 10_000_000)

    def _encoder(
        self, request: gnmi_pb2.GetRequest | gnmi_pb2.SubscriptionList, encoding: int
    ) -> LeafEncoder:
        return LeafEncoder(
            encoding=encoding, target=request.prefix.target, origin=request.prefix.origin
        )


def _encoding(asked: int) -> int:
    if asked not in (PROTO, JSON_IETF):
        raise unimplemented(f"encoding is {gnmi_pb2.Encoding.Name(asked)}, not PROTO or JSON_IETF")
    return asked


def _updates(
    encoder: LeafEncoder, readings: list[Reading], time_ns: int
) -> list[gnmi_pb2.SubscribeResponse]:
    return [
        gnmi_pb2.SubscribeResponse(update=notification)
        for notification in encoder.notifications(readings, time_ns)
    ]


def _synced() -> gnmi_pb2.SubscribeResponse:
    return gnmi_pb2.SubscribeResponse(sync_response=True)


def _results(request: gnmi_pb2.SetRequest) -> list[gnmi_pb2.UpdateResult]:
    operations = gnmi_pb2.UpdateResult
    return [
        *(operations(path=path, op=operations.DELETE) for path in request.delete),
        *(operations(path=update.path, op=operations.REPLACE) for update in request.replace),
        *(operations(path=update.path, op=operations.UPDATE) for update in request.update),
    ]
