"""What must hold for every message a worker reads, without Kafka."""

from dataclasses import dataclass, field

import pytest

from pipelines.agents.app import guarded
from pipelines.agents.letters import DeadLetters
from pipelines.errors import DecodeError
from pipelines.wire import telemetry_pb2 as pb


@dataclass
class Message:
    offset: int
    value: bytes = b"payload"
    key: bytes = b"pod1"
    topic: str = "telemetry.frames"
    partition: int = 0
    timestamp: float = 1.5


class Clock:
    def now_ns(self):
        return 42


@dataclass
class Letters:
    sent: list = field(default_factory=list)

    async def deliver(self, message):
        self.sent.append(message)

    @property
    def box(self):
        return DeadLetters(worker="detect", clock=Clock(), deliver=self.deliver)


@pytest.fixture
def letters():
    return Letters()


def failing(times, error):
    """Return a processor that raises the first times, and what it has processed."""
    seen, calls = [], []

    async def process(message):
        calls.append(message.offset)
        if len(calls) <= times:
            raise error
        seen.append(message.offset)

    return process, seen


async def test_what_fails_once_is_tried_again(letters):
    """C44."""
    process, seen = failing(1, RuntimeError("broker away"))
    assert await guarded(Message(5), process, letters.box, retries=2)
    assert (seen, letters.sent) == ([5], [])


async def test_what_fails_always_is_a_dead_letter_with_its_offset(letters):
    """C44."""
    process, seen = failing(9, RuntimeError("poison"))
    assert not await guarded(Message(5), process, letters.box, retries=1)
    assert seen == []
    letter = pb.DeadLetter.FromString(letters.sent[0].value)
    assert letter == pb.DeadLetter(
        reason="processing_failed",
        detail="RuntimeError: poison",
        source="telemetry.frames",
        topic="telemetry.frames",
        partition=0,
        offset=5,
        at_ns=42,
        payload=b"payload",
        cell="pod1",
        letter_id="detect-telemetry.frames-0-5-1500",
    )


async def test_what_does_not_decode_is_not_tried_again(letters):
    process, _ = failing(1, DecodeError("not_a_frame", "no"))
    assert not await guarded(Message(5), process, letters.box, retries=5)
    assert [pb.DeadLetter.FromString(m.value).reason for m in letters.sent] == ["not_a_frame"]
