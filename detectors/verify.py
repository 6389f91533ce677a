"""Effect size and persistence: what must hold before a shift is told, and when it is over."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from detectors.series import Floats, Ids, Rows, grown

SUSPICIOUS_SIGMAS = 3.0
_NORMAL_SIGMAS = 2.5
# However strong its evidence, what has not lasted this long is a spike.
_LEAST_SPAN_NS = 3_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What one row of values brought, by position in the row.

    Attributes
    ----------
    began
        Shifts to tell now: they last, are large enough, and in the bad direction.
    ended
        Told shifts that are over.
    settled
        Shifts that lasted so long that they are the new normal.
    quiet
        Values that the baseline may follow.
    """

    began: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    settled: NDArray[np.bool_]
    quiet: NDArray[np.bool_]


class Verify:
    """Follows every series' run of suspicious values; a run is told at most once."""

    def __init__(
        self, *, persistence_samples: int, relearn_seconds: float, relearn_bad_seconds: float
    ) -> None:
        self._persistence = persistence_samples
        self._relearn_ns = int(relearn_seconds * 1e9)
        self._relearn_bad_ns = int(relearn_bad_seconds * 1e9)
        self._run = np.empty(0, dtype=np.int64)
        self._normal = np.empty(0, dtype=np.int64)
        self._onset = np.empty(0, dtype=np.int64)
        self._sum = np.empty(0)
        self._told = np.empty(0, dtype=bool)
        self._active = np.empty(0, dtype=bool)
        self._direction = np.empty(0, dtype=np.int64)

    def add(self, ids: Ids, directions: list[int]) -> None:
        """Make rows for series that were not there yet."""
        if not len(ids):
            return
        size = int(ids.max()) + 1
        for name in ("_run", "_normal", "_onset", "_sum", "_told", "_active", "_direction"):
            setattr(self, name, grown(getattr(self, name), size, 0))
        self._direction[ids] = directions

    def reset(self, ids: Ids) -> None:
        """Start these series anew: no run, nothing told."""
        for array in (self._run, self._normal, self._onset, self._sum, self._told, self._active):
            array[ids] = 0

    def is_active(self, ids: Ids) -> NDArray[np.bool_]:
        """Tell which series have a told shift that is not over."""
        return np.asarray(self._active[ids])

    def onset_ns(self, number: int) -> int:
        """Return the device time of the first value of the series' run."""
        return int(self._onset[number])

    def run_level(self, rows: Rows) -> Floats:
        """Return the mean of the values of each series' run, on the judged scale."""
        length = np.abs(rows.take(self._run))
        return np.asarray(rows.take(self._sum) / np.maximum(length, 1))

    def run(self, rows: Rows, at_ns: int, sigmas: Floats, scaled: Floats) -> None:
        """Take a row of values into the runs; NaN changes nothing."""
        there = ~np.isnan(sigmas)
        above, below = sigmas >= SUSPICIOUS_SIGMAS, sigmas <= -SUSPICIOUS_SIGMAS
        outside = above.astype(np.int64) - below
        run, total, normal, onset, told = (
            rows.take(self._run),
            rows.take(self._sum),
            rows.take(self._normal),
            rows.take(self._onset),
            rows.take(self._told),
        )
        same = (outside != 0) & (np.sign(run) == outside)
        fresh = there & ~same
        # Further on the good side than ever is no shift of the bad kind either.
        good = sigmas * rows.take(self._direction) < 0
        inside = (np.abs(sigmas) < _NORMAL_SIGMAS) | good
        np.copyto(run, np.where(same, run + outside, outside), where=there)
        np.copyto(total, np.where(same, total + scaled, scaled), where=there)
        np.copyto(normal, np.where(inside, normal + 1, 0), where=there)
        np.copyto(onset, at_ns, where=fresh)
        told &= ~fresh
        rows.put(self._run, run)
        rows.put(self._sum, total)
        rows.put(self._normal, normal)
        rows.put(self._onset, onset)
        rows.put(self._told, told)

    def tell(self, ids: Ids) -> None:
        """Note that a change detector told a shift; it counts for the run it was told in."""
        self._told[ids] = True

    def directions(self, rows: Rows) -> NDArray[np.int64]:
        """Return where each series' run goes: +1 up, -1 down, 0 there is none."""
        return np.asarray(np.sign(rows.take(self._run)))

    def verdicts(
        self, rows: Rows, at_ns: int, effect: NDArray[np.bool_], *, strong: NDArray[np.bool_]
    ) -> Verdicts:
        """Return what the row brought.

        `effect` tells which runs are large enough, `strong` whose evidence needs no persistence.
        """
        run, active = rows.take(self._run), rows.take(self._active)
        onset, direction = rows.take(self._onset), rows.take(self._direction)
        lasting = np.abs(run) >= self._persistence
        bad = (direction == 0) | (np.sign(run) == direction)
        lasted_ns = at_ns - onset
        spans = (run != 0) & (lasted_ns >= _LEAST_SPAN_NS)
        sure = (lasting & rows.take(self._told)) | (strong & spans)
        began = sure & effect & bad & ~active
        ended = active & (rows.take(self._normal) >= self._persistence)
        active = (active | began) & ~ended
        self._active[rows.ids] = active
        limit_ns = np.where(active, self._relearn_bad_ns, self._relearn_ns)
        settled = lasting & (lasted_ns > limit_ns)
        return Verdicts(began=began, ended=ended, settled=settled, quiet=(run == 0) & ~active)
