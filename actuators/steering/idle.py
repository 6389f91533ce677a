"""When a job that communicates in periods sends nothing."""

from collections.abc import Sequence
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


def beat_of(*, began_ns: int, period_seconds: float, talks: Sequence[tuple[float, float]]) -> Beat:
    """Return the beat of a job that communicates several times a period.

    Parameters
    ----------
    began_ns
        When some period began.
    talks
        When in the period each communication starts, and how long it takes, in seconds. The beat's
        busy time is the shortest stretch that covers all of them.

    Raises
    ------
    ValueError
        There are none, or the period is not positive.
    """
    if not talks or period_seconds <= 0:
        raise ValueError(f"period is {period_seconds} s with {len(talks)} communications")
    spans = sorted((phase % period_seconds, duration) for phase, duration in talks)
    best = (period_seconds, 0.0)
    for n, (start, _) in enumerate(spans):
        turned = [*spans[n:], *((phase + period_seconds, length) for phase, length in spans[:n])]
        best = min(best, (max(phase + length for phase, length in turned) - start, start))
    busy, start = best
    return Beat(
        start_ns=began_ns + round(start * 1e9),
        period_ns=round(period_seconds * 1e9),
        busy_ns=min(round(busy * 1e9), round(period_seconds * 1e9)),
    )


def all_idle_at(beats: Sequence[Beat], now_ns: int, *, need_ns: int, horizon_ns: int) -> int | None:
    """Return the next time from which all are idle for ``need_ns``; None = not by the horizon."""
    at_ns = now_ns
    while at_ns <= now_ns + horizon_ns:
        times = [beat.idle_at(at_ns, need_ns=need_ns) for beat in beats]
        known = [time for time in times if time is not None]
        if len(known) < len(times):
            return None
        latest = max(known, default=at_ns)
        if latest == at_ns:
            return at_ns
        at_ns = latest
    return None
