"""Subscribes to one switch's telemetry, for as long as the collector runs.

Whatever ends a stream is an outcome with a wait, never an exception that stays in a task; a stream
that is silent for too long is ended from here.
"""

import asyncio
from typing import Any, Final

import grpc
import numpy as np
import structlog
from gnmi_pb import gnmi_pb2 as gnmi
from gnmi_pb import gnmi_pb2_grpc
from google.protobuf.message import DecodeError as ProtobufError

from pipelines.clock import Clock
from pipelines.collect.bulk import BulkDecoder, Several
from pipelines.collect.decode import NotificationDecoder
from pipelines.collect.frames import Frames
from pipelines.collect.gnmi_request import (
    Resolve,
    credentials_of,
    encoding_of,
    open_channel,
    silence_seconds,
    subscribe_request,
)
from pipelines.collect.letters import Letters
from pipelines.collect.streams import End, Waits, end_of
from pipelines.collect.values import BAD_JSON
from pipelines.config.collect import GnmiSubscription, GnmiTarget
from pipelines.errors import ConfigError, DecodeError
from pipelines.metrics import COALESCED, REFUSED, TARGET_RECONNECTS, TARGET_UP

log = structlog.get_logger()

_ANSWER_SECONDS: Final = 10.0
# Messages are held back until the next flush, but not more than so many bytes.
_HELD_BYTES: Final = 256 * 1024
_UPDATE: Final = b"\x0a"
_SUBSCRIBE: Final = "/gnmi.gNMI/Subscribe"


class GnmiSubscriber:
    """One subscription at one target."""

    def __init__(
        self,
        target: GnmiTarget,
        name: str,
        subscription: GnmiSubscription,
        *,
        frames: Frames,
        letters: Letters,
        clock: Clock,
        resolve: Resolve,
        waits: Waits | None = None,
    ) -> None:
        self.ends: list[End] = []
        self.is_synced = False
        self._target = target
        self._name = name
        self._subscription = subscription
        self._frames = frames
        self._letters = letters
        self._clock = clock
        self._resolve = resolve
        self._waits = waits or Waits()
        self._decoder = NotificationDecoder(target.name)
        self._bulk = BulkDecoder(self._decoder)
        self._messages: list[bytes] = []
        self._received_ns: list[int] = []
        self._held_bytes = 0
        self._last_message = 0.0
        self._is_up = TARGET_UP.labels(target.name)
        self._is_up.set(0)
        frames.feed_before_flush(self._decode)

    async def run(self) -> None:
        """Keep subscribed until cancelled."""
        failures = 0
        while True:
            began = asyncio.get_running_loop().time()
            end, why = await self._subscribe_once()
            lived = asyncio.get_running_loop().time() - began
            failures = 1 if lived >= self._waits.healthy_seconds else failures + 1
            self.is_synced = False
            self.ends = [*self.ends[-9:], end]
            self._is_up.set(0)
            wait = self._waits.after(end, failures)
            log.warning(
                "stream ended",
                target=self._target.name,
                subscription=self._name,
                end=end.value,
                why=why,
                next_in_seconds=round(wait, 1),
            )
            await asyncio.sleep(wait)
            TARGET_RECONNECTS.labels(self._target.name).inc()

    async def _subscribe_once(self) -> tuple[End, str]:
        try:
            async with open_channel(self._target, self._resolve) as channel:
                return await self._stream(channel)
        except grpc.aio.AioRpcError as error:
            return end_of(error.code()), f"{error.code().name}: {error.details()}"
        except (OSError, ConfigError) as error:  # a certificate or secret that is being replaced
            return End.UNAVAILABLE, str(error)

    async def _stream(self, channel: grpc.aio.Channel) -> tuple[End, str]:
        metadata = credentials_of(self._target, self._resolve)
        request = subscribe_request(self._subscription, await self._encoding(channel, metadata))
        # Without a deserializer a message that does not decode costs itself and not the stream.
        call: Any = channel.stream_stream(
            _SUBSCRIBE, request_serializer=gnmi.SubscribeRequest.SerializeToString
        )(metadata=metadata)
        # The request side stays open: some targets take a half-close for the end.
        await call.write(request)
        self._last_message = asyncio.get_running_loop().time()
        watchdog = asyncio.create_task(self._watch(call))
        try:
            async for message in call:
                self._last_message = asyncio.get_running_loop().time()
                self._take(message)
        except asyncio.CancelledError:
            if watchdog.done() and not watchdog.cancelled():
                return End.SILENT, f"no message for {watchdog.result():g} s"
            raise
        finally:
            self._decode()
            watchdog.cancel()
            # Awaiting the watchdog itself would take a cancellation of ours for its own.
            await asyncio.wait({watchdog})
            call.cancel()
        return End.CLOSED, "the target ended the stream"

    async def _encoding(
        self, channel: grpc.aio.Channel, metadata: tuple[tuple[str, str], ...]
    ) -> int:
        if self._target.encoding != "auto":
            return encoding_of(self._target, None)
        stub = gnmi_pb2_grpc.gNMIStub(channel)
        try:
            capabilities = await stub.Capabilities(
                gnmi.CapabilityRequest(), metadata=metadata, timeout=_ANSWER_SECONDS
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                raise
            capabilities = None
        return encoding_of(self._target, capabilities)

    async def _watch(self, call: Any) -> float:
        """End the call when it has been silent for too long; return for how long."""
        limit = silence_seconds(self._subscription)
        if limit is None:
            await asyncio.Event().wait()
            raise AssertionError("nothing sets the event")
        loop = asyncio.get_running_loop()
        left = limit
        while left > 0.0:
            await asyncio.sleep(left)
            left = self._last_message + limit - loop.time()
        call.cancel()
        return limit

    def _take(self, message: bytes) -> None:
        """Take a message; those that came since the last flush are decoded together."""
        self._messages.append(message)
        self._received_ns.append(self._clock.now_ns())
        self._held_bytes += len(message)
        if self._held_bytes >= _HELD_BYTES or not message.startswith(_UPDATE):
            self._decode()

    def _decode(self) -> None:
        """Decode the messages that are held back."""
        messages, received_ns = self._messages, self._received_ns
        self._messages, self._received_ns, self._held_bytes = [], [], 0
        for told in self._bulk.decode(messages):
            if isinstance(told, Several):
                self._take_several(told, received_ns[told.first : told.first + told.messages])
            else:
                self._take_odd(messages[told.place], received_ns[told.place])

    def _take_several(self, told: Several, received_ns: list[int]) -> None:
        self._is_up.set(1)
        readings = told.readings
        if not readings.times_ns.all():
            times = np.where(readings.times_ns == 0, received_ns, readings.times_ns)
            readings = readings._replace(times_ns=times)
        source, cell = f"switch/{self._target.name}", self._target.cell
        self._frames.take_columns(
            source, cell, told.slots, readings, received_ns=received_ns[-1], group=self._name
        )
        for reason, count in told.refused.items():
            REFUSED.labels("samples", reason).inc(count)

    def _take_odd(self, message: bytes, received_ns: int) -> None:
        try:
            response = gnmi.SubscribeResponse.FromString(message)
        except ProtobufError as error:
            self._refuse("not_a_notification", str(error), message)
            return
        self._is_up.set(1)
        if response.HasField("update"):
            try:
                self._take_notification(response.update, received_ns)
            except DecodeError as error:
                self._refuse(error.reason, str(error), message)
        elif response.sync_response:
            self.is_synced = True
            log.info("stream in sync", target=self._target.name, subscription=self._name)
        else:
            REFUSED.labels("notifications", "no_update").inc()

    def _take_notification(self, notification: gnmi.Notification, received_ns: int) -> None:
        decoded = self._decoder.decode(notification)
        source, cell = f"switch/{self._target.name}", self._target.cell
        if decoded.ended:
            self._frames.end(source, cell, decoded.ended, group=self._name)
        if decoded.readings:
            self._frames.take(
                source,
                cell,
                decoded.time_ns or received_ns,
                decoded.readings,
                group=self._name,
                received_ns=received_ns,
            )
        if BAD_JSON in decoded.refused:
            self._refuse(BAD_JSON, "a value is no JSON", notification.SerializeToString())
        for reason, count in decoded.refused.items():
            REFUSED.labels("samples", reason).inc(count)
        if decoded.coalesced:
            COALESCED.labels(self._target.name).inc(decoded.coalesced)

    def _refuse(self, reason: str, detail: str, message: bytes) -> None:
        self._letters.refuse(
            what="notifications",
            reason=reason,
            detail=detail,
            source=f"switch/{self._target.name}",
            cell=self._target.cell,
            payload=message,
        )
