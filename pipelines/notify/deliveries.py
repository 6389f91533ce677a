"""Attempts as messages of the delivery log's topic."""

from collections.abc import Iterator

from pipelines import topics
from pipelines.notify.notices import Bundle, Message, members
from pipelines.notify.queue import Answer
from pipelines.wire import telemetry_pb2 as pb


def delivery_messages(
    endpoint: str, message: Message, *, attempt: int, state: str, answer: Answer, at_ns: int
) -> Iterator[topics.Outgoing]:
    """Yield the attempt; a bundle's members have a row each once it is known how they ended."""
    yield _outgoing(endpoint, message, attempt=attempt, state=state, answer=answer, at_ns=at_ns)
    if isinstance(message, Bundle) and state != "retrying":
        within = Answer(status=answer.status, detail=f"in {message.webhook_id(endpoint)}")
        for notice in members(message):
            yield _outgoing(
                endpoint, notice, attempt=attempt, state=state, answer=within, at_ns=at_ns
            )


def _outgoing(
    endpoint: str, message: Message, *, attempt: int, state: str, answer: Answer, at_ns: int
) -> topics.Outgoing:
    delivery = pb.Delivery(
        delivery_id=message.webhook_id(endpoint),
        attempt=attempt,
        endpoint=endpoint,
        event_type=message.event_type,
        subject_id=message.subject_id,
        at_ns=at_ns,
        state=state,
        status=answer.status,
        detail=answer.detail,
        duration_seconds=answer.duration_seconds,
        cell=message.cell,
    )
    return topics.outgoing(
        topics.DELIVERIES,
        cell=message.cell,
        value=delivery.SerializeToString(),
        source="notify",
        subject=message.subject_id,
        at_ns=at_ns,
        event_id=f"{delivery.delivery_id}-{attempt}-{state}",
    )
