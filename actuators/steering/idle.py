"""When a job that communicates in periods sends nothing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A job's period, and when in it it communicates.

    Attributes
    ----------
    start_ns
        When some communication began.
    period_ns, busy_ns
        Time from one beginning to the next, and how long it sends in each.

    Raises
    ------
    ValueError
        The period is not positive, or the job is busy for more than it.
    """

    start_ns: int
    period_ns: int
    busy_ns: int

    def __post_init__(self) -> None:
        if self.period_ns <= 0 or not 0 <= self.busy_ns <= self.period_ns:
            raise ValueError(f"job is busy {self.busy_ns} of {self.period_ns} ns")

    def idle_at(self, now_ns: int, *, need_ns: int) -> int | None:
        """Return the next time from which the job is idle for ``need_ns``; None when never."""
        if self.period_ns - self.busy_ns < need_ns:
            return None
        into_ns = (now_ns - self.start_ns) % self.period_ns
        begin_ns = now_ns - into_ns
        if into_ns >= self.busy_ns and into_ns + need_ns <= self.period_ns:
            return now_ns
        return begin_ns + self.busy_ns + (self.period_ns if into_ns > self.busy_ns else 0)
