"""Device time: it starts at the machine's, and may run faster."""

import asyncio
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualClock:
    """Device time = start + speed * what has passed on the machine since the start.

    A resumed simulator keeps its start, so that its devices seem to have run on.
    """

    start_ns: int
    speed: float

    @classmethod
    def starting_now(cls, speed: float) -> "VirtualClock":
        return cls(start_ns=time.time_ns(), speed=speed)  # noqa: TID251 - where it comes from

    def now_ns(self) -> int:
        passed = time.time_ns() - self.start_ns  # noqa: TID251 - where it comes from
        return self.start_ns + int(passed * self.speed)

    async def sleep_until(self, device_ns: int) -> None:
        """Return at once when that time is over."""
        await asyncio.sleep(max(0.0, (device_ns - self.now_ns()) / 1e9 / self.speed))
