"""The one place that reads the wall clock."""

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time; tests and replay pass their own."""

    def now_ns(self) -> int:
        """Return nanoseconds since the Unix epoch."""
        ...


class SystemClock:
    """The machine's wall clock."""

    def now_ns(self) -> int:
        return time.time_ns()  # noqa: TID251
