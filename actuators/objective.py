"""The series that tell how well a job or service does, out of what is sampled of it."""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from actuators.readings import Reading, Readings
from actuators.settings import ObjectiveConfig

TTFT = "llm_ttft_seconds_bucket"
TPOT = "llm_tpot_seconds_bucket"
_INFINITE = float("inf")


class Buckets(NamedTuple):
    """Cumulative counts of both histograms by upper bound, at one moment."""

    time_ns: int
    received_ns: int
    ttft: Mapping[float, float]
    tpot: Mapping[float, float]


class StepSeconds:
    """Step time of a job, as it reports it."""

    def __init__(self, objective: ObjectiveConfig) -> None:
        self.objective = objective
        self.readings = Readings()

    def note(self, reading: Reading) -> None:
        self.readings.append(reading)


class Attainment:
    """Share of a service's requests within both latency limits, over the last few seconds.

    With a share ``a`` within the TTFT and ``b`` within the TPOT limit at least ``a + b - 1`` are
    within both. Without traffic there is no reading: absent, not 0. A counter that fell starts
    the span anew.

    Examples
    --------
    >>> chat = ObjectiveConfig(component="service/chat", metric="slo_attainment_ratio")
    >>> attainment = Attainment(chat, ttft_limit=2.0, tpot_limit=0.05, slide_seconds=5.0)
    >>> attainment.note(Buckets(0, 0, {2.0: 0, float("inf"): 0}, {0.05: 0, float("inf"): 0}))
    >>> attainment.note(
    ...     Buckets(10**9, 10**9, {2.0: 9, float("inf"): 10}, {0.05: 80, float("inf"): 100})
    ... )
    >>> round(attainment.readings.newest.value, 6)
    0.7
    """

    def __init__(
        self,
        objective: ObjectiveConfig,
        *,
        ttft_limit: float,
        tpot_limit: float,
        slide_seconds: float,
    ) -> None:
        self.objective = objective
        self.readings = Readings()
        self._limits = (ttft_limit, tpot_limit)
        self._slide_ns = int(slide_seconds * 1e9)
        self._span: deque[Buckets] = deque()

    def note(self, now: Buckets) -> None:
        """Take both histograms as they stand now, one source's whole reading."""
        if self._span and (now.time_ns <= self._span[-1].time_ns or _fell(self._span[-1], now)):
            self._span.clear()
        self._span.append(now)
        while len(self._span) > 2 and self._span[1].time_ns <= now.time_ns - self._slide_ns:  # noqa: PLR2004
            self._span.popleft()
        value = self._value()
        if value is not None:
            self.readings.append(Reading(now.time_ns, now.received_ns, value))

    def _value(self) -> float | None:
        first, last = self._span[0], self._span[-1]
        ttft = within(first.ttft, last.ttft, self._limits[0])
        tpot = within(first.tpot, last.tpot, self._limits[1])
        if ttft is None or tpot is None:
            return None
        return max(0.0, ttft + tpot - 1.0)


def within(first: Mapping[float, float], last: Mapping[float, float], limit: float) -> float | None:
    """Return the share of what came between two readings that lies within a limit.

    Inside the bucket that holds the limit observations count as evenly spread; those beyond the
    last finite bound as outside. None when nothing came.
    """
    bounds = sorted(bound for bound in last if bound in first)
    if not bounds or bounds[-1] != _INFINITE:
        return None
    total = last[_INFINITE] - first[_INFINITE]
    if total <= 0.0:
        return None
    below_bound, below = 0.0, 0.0
    for bound in bounds:
        count = last[bound] - first[bound]
        if bound > limit:
            if bound == _INFINITE:
                break
            below += (count - below) * (limit - below_bound) / (bound - below_bound)
            break
        below_bound, below = bound, count
    return min(1.0, max(0.0, below / total))


def _fell(before: Buckets, now: Buckets) -> bool:
    return any(
        count < earlier[bound]
        for earlier, later in ((before.ttft, now.ttft), (before.tpot, now.tpot))
        for bound, count in later.items()
        if bound in earlier
    )
