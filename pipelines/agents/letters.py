"""Dead letters: what could not be processed, with where it came from and why."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pipelines import topics
from pipelines.clock import Clock
from pipelines.metrics import REFUSED
from pipelines.wire import telemetry_pb2 as pb

_PAYLOAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetters:
    """Sends dead letters of one worker; `deliver` returns when Kafka has acknowledged."""

    worker: str
    clock: Clock
    deliver: Callable[[topics.Outgoing], Awaitable[None]]

    async def send(self, message: Any, *, reason: str, detail: str) -> None:
        """Send what a Faust message carried; the same message always makes the same letter id."""
        REFUSED.labels(message.topic, reason).inc()
        # A broker that lost its memory counts offsets anew; the time tells such messages apart.
        place = f"{message.topic}-{message.partition}-{message.offset}"
        letter_id = f"{self.worker}-{place}-{round(message.timestamp * 1000)}"
        cell = (message.key or b"").decode(errors="replace")
        letter = pb.DeadLetter(
            reason=reason,
            detail=detail,
            source=message.topic,
            topic=message.topic,
            partition=message.partition,
            offset=message.offset,
            at_ns=self.clock.now_ns(),
            payload=(message.value or b"")[:_PAYLOAD_BYTES],
            cell=cell,
            letter_id=letter_id,
        )
        await self.deliver(
            topics.outgoing(
                topics.DEAD_LETTERS,
                cell=cell,
                value=letter.SerializeToString(),
                source=self.worker,
                subject=message.topic,
                at_ns=letter.at_ns,
                event_id=letter_id,
            )
        )
