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
from pipelines.notify.endpoint import Endpoint
from pipelines.notify.notices import Notice, notice_of_alert, notice_of_decision
from pipelines.notify.progress import Progress
from pipelines.notify.queue import Answer, EndpointQueue, GivenUp, Pending
from pipelines.wire import telemetry_pb2 as pb

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
        earlier: Mapping[str, tuple[str, int]],
    ) -> None:
        self._consumer = consumer
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self._queues = {name: EndpointQueue(random=random) for name in self._endpoints}
        self._sink = sink
        self._clock = clock
        self._earlier = earlier
        self._known: set[str] = set()
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
        for name, queue in self._queues.items():
            for notice in queue.forget():
                self._known.discard(notice.webhook_id(name))

    def _take(self, message: Any) -> None:
        place = (message.topic, message.partition, message.offset)
        notice: Notice | None = None
        try:
            if message.topic == topics.ALERTS:
                notice = notice_of_alert(decode_alert(message.value or b""), place)
            else:
                notice = notice_of_decision(decode_event(message.value or b""), place)
        except DecodeError as error:
            # The recorder makes the dead letter of it.
            log.warning("message passed over", topic=message.topic, reason=error.reason)
        wanted = [] if notice is None else self._wanted_by(notice)
        self._progress.read(place, len(wanted))
        if notice is not None:
            for name in wanted:
                self._add(name, notice)

    def _wanted_by(self, notice: Notice) -> list[str]:
        names = []
        for name, endpoint in self._endpoints.items():
            delivery_id = notice.webhook_id(name)
            state, _ = self._earlier.get(delivery_id, ("", 0))
            has_ended = state not in {"", "retrying"}
            if endpoint.wants(notice) and not has_ended and delivery_id not in self._known:
                names.append(name)
        return names

    def _add(self, name: str, notice: Notice) -> None:
        delivery_id = notice.webhook_id(name)
        self._known.add(delivery_id)
        _, attempts = self._earlier.get(delivery_id, ("", 0))
        now_ns = self._clock.now_ns()
        for given_up in self._queues[name].add(notice, now_ns=now_ns, attempts=attempts):
            self._give_up(name, given_up)

    def _start_due(self) -> None:
        for name, queue in self._queues.items():
            for pending in queue.due(self._clock.now_ns()):
                attempt = asyncio.create_task(self._attempt(name, pending))
                self._attempts.add(attempt)
                attempt.add_done_callback(self._attempts.discard)

    async def _attempt(self, name: str, pending: Pending) -> None:
        attempt = pending.attempts
        answer = await self._endpoints[name].send(pending.notice)
        state, given_up = self._queues[name].answered(pending, answer, now_ns=self._clock.now_ns())
        self._tell(name, pending.notice, attempt=attempt, state=state, answer=answer)
        if state != "retrying":
            self._progress.ended(pending.notice.place)
        for other in given_up:
            self._give_up(name, other)

    def _give_up(self, name: str, given_up: GivenUp) -> None:
        answer = Answer(status=0, detail=given_up.detail)
        self._tell(name, given_up.notice, attempt=0, state=given_up.state, answer=answer)
        self._progress.ended(given_up.notice.place)

    def _tell(self, name: str, notice: Notice, *, attempt: int, state: str, answer: Answer) -> None:
        DELIVERIES.labels(name, state).inc()
        if state in {"failed", "disabled"}:
            log.error(
                "webhook given up",
                endpoint=name,
                event_type=notice.event_type,
                subject=notice.subject_id,
                status=answer.status,
                detail=answer.detail,
            )
        delivery = pb.Delivery(
            delivery_id=notice.webhook_id(name),
            attempt=attempt,
            endpoint=name,
            event_type=notice.event_type,
            subject_id=notice.subject_id,
            at_ns=self._clock.now_ns(),
            state=state,
            status=answer.status,
            detail=answer.detail,
            duration_seconds=answer.duration_seconds,
            cell=notice.cell,
        )
        self._sink.send(
            topics.outgoing(
                topics.DELIVERIES,
                cell=notice.cell,
                value=delivery.SerializeToString(),
                source="notify",
                subject=notice.subject_id,
                at_ns=delivery.at_ns,
                event_id=f"{delivery.delivery_id}-{attempt}-{state}",
            ),
            delivery.at_ns,
        )

    async def _commit(self) -> None:
        offsets = {
            TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)
            for (topic, partition), offset in self._progress.to_commit().items()
        }
        if offsets:
            await asyncio.to_thread(self._consumer.commit, offsets, timeout_ms=_KAFKA_ANSWER_MS)
