"""Small real stand-ins: a clock that is set, and a Kafka that keeps what it is sent."""

import asyncio
from collections.abc import Callable
from math import isnan

from cluster.frame import Frame
from pipelines.messages.frames import FrameDecoder
from pipelines.topics import Outgoing

SECOND_NS = 1_000_000_000


class SetClock:
    def __init__(self, now_ns: int = 1_000 * SECOND_NS) -> None:
        self.ns = now_ns

    def now_ns(self) -> int:
        return self.ns


class Sent:
    """Frames as a reader of the topic gets them."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.messages: list[Outgoing] = []
        self._decoder = FrameDecoder()

    def __call__(self, message: Outgoing, frame: Frame) -> None:
        decoded = self._decoder.decode(message.value)
        assert decoded.samples == frame.samples
        self.messages.append(message)
        self.frames.append(decoded)

    def readings(self) -> dict[tuple[str, str, str], list[tuple[int, float]]]:
        """Readings by series, in the order they were sent."""
        found: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
        for frame in self.frames:
            for row, time_ns in enumerate(frame.time_ns.tolist()):
                for column, key in enumerate(frame.layout.columns):
                    value = float(frame.values[row, column])
                    if not isnan(value):
                        found.setdefault(tuple(key), []).append((time_ns, value))
        return found


async def until(claim: Callable[[], object]) -> None:
    """Return once the claim holds; what runs on this loop goes on meanwhile."""
    async with asyncio.timeout(10):
        while not claim():  # noqa: ASYNC110 - the claim is about code that knows no event
            await asyncio.sleep(0.01)
