"""A cumulative histogram as Prometheus clients keep it."""

from bisect import bisect_left
from dataclasses import dataclass, field

LATENCY_BOUNDS = (
    0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0
)  # fmt: skip
TOKEN_BOUNDS = (
    0.005, 0.008, 0.009, 0.01, 0.011, 0.012, 0.013, 0.014, 0.016, 0.018, 0.02, 0.025, 0.03,
    0.04, 0.05, 0.075, 0.1, 0.2, 0.5
)  # fmt: skip


@dataclass(slots=True)
class Histogram:
    """Counts by bucket, the last one above every bound."""

    bounds: tuple[float, ...]
    counts: list[float] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0.0] * (len(self.bounds) + 1)

    def observe(self, value: float, times: float = 1.0) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.total += value * times

    @property
    def count(self) -> float:
        return sum(self.counts)
