"""What a person asks of the act worker, put on its topic."""

import uuid

from kafka import KafkaProducer
from kafka.errors import KafkaConnectionError

from actuators.records import Approval
from pipelines import topics
from pipelines.clock import Clock
from pipelines.messages.decisions import encode_approval
from pipelines.reach import listens

VERBS = ("approve", "reject", "revert")
_TIMEOUT_SECONDS = 20.0


def ask(
    bootstrap: str, *, decision_id: str, cell: str, verb: str, who: str, why: str, clock: Clock
) -> Approval:
    """Send the request and return it once Kafka has it.

    Raises
    ------
    kafka.errors.KafkaError
        Nobody listens there, or the broker does not take it within 20 s.
    """
    approval = Approval(
        request_id=uuid.uuid4().hex,
        decision_id=decision_id,
        cell=cell,
        verb=verb,
        who=who,
        why=why,
        at_ns=clock.now_ns(),
    )
    message = topics.outgoing(
        topics.APPROVALS,
        cell=cell,
        value=encode_approval(approval),
        source=f"person/{who}",
        subject=decision_id,
        at_ns=approval.at_ns,
        event_id=approval.request_id,
    )
    if not listens(bootstrap):
        raise KafkaConnectionError(f"nobody listens at {bootstrap}")
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    try:
        producer.send(
            message.topic, key=message.key, value=message.value, headers=list(message.headers)
        ).get(timeout=_TIMEOUT_SECONDS)
    finally:
        producer.close(timeout=_TIMEOUT_SECONDS)
    return approval
