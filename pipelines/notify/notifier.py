"""Tells webhook endpoints of alerts and decisions, and Kafka of every attempt."""

import asyncio
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, Protocol

import structlog
from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from pipelines import topics
from pipelines.clock import Clock
from pipelines.errors import DecodeError
from pipelines.messages.alerts import decode_alert
from pipelines.messages.decisions import decode_event
from pipelines.metrics import DELIVERIES
from pipelines.notify.channel import Channel
from pipelines.notify.deliveries import delivery_messages
from pipelines.notify.endpoint import Endpoint
from pipelines.notify.gate import Gate
from pipelines.notify.notices import Message, Notice, notice_of_alert, notice_of_decision
from pipelines.notify.progress import Progress
from pipelines.notify.queue import Answer, GivenUp, Pending

log = structlog.get_logger(__name__)

TOPICS = (topics.ALERTS, topics.DECISIONS)
_POLL_MS = 100
_KAFKA_ANSWER_MS = 10_000
_STOP_SECONDS = 5.0


class Sink(Protocol):
    """Takes messages for Kafka; they are sent in the background."""

    def send(self, message: topics.Outgoing, received_ns: int) -> None: ...


class Notifier(ConsumerRebalanceListener):  # type: ignore[misc]
    """Delivers what is read from Kafka; ``round`` does one round of it.

    Offsets are committed up to the first message with a delivery that has not ended, so a restart
    takes up what was under way. What ended before is known from the deliveries recorded; what was
    not recorded yet goes out again under the same webhook-id.

    Parameters
    ----------
    gate
        Knows what was degraded before, so that what is part of it is held back from the start.
    earlier
        State and attempts by webhook-id, of deliveries that earlier runs recorded.
    """

    def __init__(
        self,
        *,
        consumer: KafkaConsumer,
        endpoints: Iterable[Endpoint],
        sink: Sink,
        clock: Clock,
        random: Random,
        gate: Gate,
        earlier: Mapping[str, tuple[str, int]],
    ) -> None:
        self._consumer = consumer
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self._channels = {
            name: Channel(endpoint.config, random=random, gate=gate, earlier=earlier)
            for name, endpoint in self._endpoints.items()
        }
        self._gate = gate
        self._sink = sink
        self._clock = clock
        self._progress = Progress()
        self._attempts: set[asyncio.Task[None]] = set()
        self._is_reassigned = False
        consumer.subscribe(TOPICS, listener=self)

    def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
        self._is_reassigned = True

    def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        self._is_reassigned = True

    async def round(self) -> None:
        """Read what has come, start what is due, commit what has ended."""
        try:
            polled = await asyncio.to_thread(self._consumer.poll, timeout_ms=_POLL_MS)
            if self._is_reassigned:
                self._forget()
            for messages in polled.values():
                for message in messages:
                    self._take(message)
            self._start_due()
            await self._commit()
        except KafkaError as error:
            log.warning("broker did not answer", error=repr(error))

    async def close(self) -> None:
        if self._attempts:
            await asyncio.wait(self._attempts, timeout=_STOP_SECONDS)
        for attempt in self._attempts:
            attempt.cancel()
        await asyncio.gather(*self._attempts, return_exceptions=True)
        try:
            await self._commit()
        except KafkaError as error:
            log.warning("offsets not committed", error=repr(error))
        for endpoint in self._endpoints.values():
            await endpoint.close()
        await asyncio.to_thread(self._consumer.close, autocommit=False, timeout_ms=_KAFKA_ANSWER_MS)

    def _forget(self) -> None:
        """After partitions moved, everything not committed is read again by whoever has it."""
        self._is_reassigned = False
        self._progress.forget()
        for channel in self._channels.values():
            channel.forget()

    def _take(self, message: Any) -> None:
        place = (message.topic, message.partition, message.offset)
        notice: Notice | None = None
        try:
            if message.topic == topics.ALERTS:
                alert = decode_alert(message.value or b"")
                self._gate.saw(alert)
                notice = notice_of_alert(alert, place)
            else:
                notice = notice_of_decision(decode_event(message.value or b""), place)
        except DecodeError as error:
            # The recorder makes the dead letter of it.
            log.warning("message passed over", topic=message.topic, reason=error.reason)
        takers = [] if notice is None else self._takers(notice)
        self._progress.read(place, len(takers))
        if notice is not None:
            for name in takers:
                self._give_up(name, self._channels[name].add(notice, now_ns=self._clock.now_ns()))

    def _takers(self, notice: Notice) -> list[str]:
        names = []
        for name, endpoint in self._endpoints.items():
            channel = self._channels[name]
            if endpoint.follows(notice):
                channel.note(notice)
            if not endpoint.wants(notice) or not channel.takes(notice):
                continue
            held = channel.held_back(notice, now_ns=self._clock.now_ns())
            if held is None:
                names.append(name)
                continue
            for back in held:
                # It was not counted as a delivery, so none has ended.
                self._tell(name, back.notice, state=back.state, answer=_no_answer(back.detail))
        return names

    def _start_due(self) -> None:
        now_ns = self._clock.now_ns()
        for name, channel in self._channels.items():
            self._give_up(name, channel.tick(now_ns=now_ns))
            for pending in channel.due(now_ns=now_ns):
                attempt = asyncio.create_task(self._attempt(name, pending))
                self._attempts.add(attempt)
                attempt.add_done_callback(self._attempts.discard)

    async def _attempt(self, name: str, pending: Pending) -> None:
        attempt = pending.attempts
        answer = await self._endpoints[name].send(pending.notice)
        state, given_up = self._channels[name].queue.answered(
            pending, answer, now_ns=self._clock.now_ns()
        )
        self._tell(name, pending.notice, attempt=attempt, state=state, answer=answer)
        if state != "retrying":
            self._end(pending.notice)
        self._give_up(name, given_up)

    def _give_up(self, name: str, given_up: Iterable[GivenUp]) -> None:
        for other in given_up:
            self._tell(name, other.notice, state=other.state, answer=_no_answer(other.detail))
            self._end(other.notice)

    def _end(self, message: Message) -> None:
        for place in message.places:
            self._progress.ended(place)

    def _tell(
        self, name: str, message: Message, *, state: str, answer: Answer, attempt: int = 0
    ) -> None:
        DELIVERIES.labels(name, state).inc()
        if state in {"failed", "disabled"}:
            log.error(
                "webhook given up",
                endpoint=name,
                event_type=message.event_type,
                subject=message.subject_id,
                status=answer.status,
                detail=answer.detail,
            )
        at_ns = self._clock.now_ns()
        for outgoing in delivery_messages(
            name, message, attempt=attempt, state=state, answer=answer, at_ns=at_ns
        ):
            self._sink.send(outgoing, at_ns)

    async def _commit(self) -> None:
        offsets = {
            TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)
            for (topic, partition), offset in self._progress.to_commit().items()
        }
        if offsets:
            await asyncio.to_thread(self._consumer.commit, offsets, timeout_ms=_KAFKA_ANSWER_MS)


def _no_answer(detail: str) -> Answer:
    return Answer(status=0, detail=detail)
