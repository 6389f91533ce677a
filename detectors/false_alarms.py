"""How sure is it? Evidence that grows with every value, and a bound on alarms by chance.

Each judged series has an e-detector: a product of e-values, one a value, that begins anew where it
would help to have begun later. If a healthy value's distance from its baseline exceeds x sigmas no
more often than `tail` says, whatever came before, then the evidence M of one series reaches c once
in c values or less often; of all series of a cell together some reach c at most as often as values
are judged, divided by c. That quotient is the bound that an alert carries, and e-BH over all series
says which of them may be told (error over patience: false discoveries for each value waited).

`tail` is far heavier than a normal's (3 % beyond three sigmas, one in 17,000 beyond ten), so a
spread that was learned too small by half, or outliers of a real device, do not break the promise.

References
----------
J. Shin, A. Ramdas, A. Rinaldo, "E-detectors: a nonparametric framework for sequential change
detection", NEJSDS 2 (2024), 229-260. S. Dandapanthula, A. Ramdas, "Multiple testing in multi-stream
sequential change detection", 2025. R. Wang, A. Ramdas, "False discovery rate control with
e-values", JRSS B 84 (2022), 822-852.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from detectors.series import Floats, Ids, grown

# The e-value of a p-value p is KAPPA * p ** (KAPPA - 1): its mean is 1 for a uniform p.
_KAPPA = 0.25
_TAIL_WIDTH_SQUARED = 4.0
_TAIL_EXPONENT = 3.0
# No single value may say more than this: one spike never opens an alert by itself.
_LARGEST_LOG_E = 10.0
_NS_A_DAY = 86_400e9


def tail(sigmas: Floats) -> Floats:
    """Return how often a healthy value is at least this far from its baseline, at most.

    Examples
    --------
    >>> [round(float(tail(np.array([x]))[0]), 6) for x in (0.0, 1.0, 3.0, 10.0)]
    [1.0, 0.512, 0.029131, 5.7e-05]
    """
    return np.asarray((1.0 + sigmas * sigmas / _TAIL_WIDTH_SQUARED) ** -_TAIL_EXPONENT)


def log_e_value(sigmas: Floats) -> Floats:
    """Return the logarithm of what one value says against health; its e-value's mean is 1."""
    told = math.log(_KAPPA) + (1.0 - _KAPPA) * _TAIL_EXPONENT * np.log1p(
        sigmas * sigmas / _TAIL_WIDTH_SQUARED
    )
    return np.asarray(np.minimum(told, _LARGEST_LOG_E))


class Evidence:
    """Evidence of every series against its own baseline, as logarithms; up and down apart.

    One row a series, of three numbers; a value costs the same whatever came before.
    """

    def __init__(self) -> None:
        self._log = np.empty((0, 2))
        self._judged = 0
        self._first_ns = 0
        self._last_ns = 0

    def add(self, ids: Ids) -> None:
        """Make rows for series that were not there yet."""
        if len(ids):
            self._log = grown(self._log, int(ids.max()) + 1, 0.0)

    def reset(self, ids: Ids) -> None:
        """Begin these series anew."""
        self._log[ids] = 0.0

    def take(self, ids: Ids, at_ns: int, sigmas: Floats) -> None:
        """Take a row of values in; NaN says nothing and counts for nothing."""
        there = ~np.isnan(sigmas)
        rows, said = ids[there], sigmas[there]
        if not len(rows):
            return
        self._first_ns = min(self._first_ns or at_ns, at_ns)
        self._last_ns = max(self._last_ns, at_ns)
        self._judged += len(rows)
        log_e = log_e_value(said)
        # What a value says, it says of one direction; of the other it says "healthy".
        least = math.log(_KAPPA)
        up = np.maximum(self._log[rows, 0], 0.0) + np.where(said > 0.0, log_e, least)
        down = np.maximum(self._log[rows, 1], 0.0) + np.where(said < 0.0, log_e, least)
        self._log[rows, 0] = up
        self._log[rows, 1] = down

    def log_of(self, ids: Ids, directions: NDArray[np.int64]) -> Floats:
        """Return the logarithm of the evidence for a shift in these directions."""
        return np.asarray(self._log[ids, np.where(directions > 0, 0, 1)])

    def largest_of(self, ids: Ids) -> Floats:
        """Return the logarithm of the evidence for a shift in either direction."""
        return np.asarray(self._log[ids].max(axis=1, initial=0.0))

    @property
    def judged_a_day(self) -> float:
        """Values judged in a day at the pace so far."""
        lasted_ns = self._last_ns - self._first_ns
        if lasted_ns <= 0:
            return self._judged * 86_400.0
        return self._judged / lasted_ns * _NS_A_DAY


def accepted(log_evidence: Sequence[float], *, log_limit: float) -> list[bool]:
    """Return which of the series that stand out may be told by e-BH, in their order.

    `log_limit` is the logarithm of the evidence that one series alone must have; of k that are told
    together each must have a k-th of it. The many that are not among them say nothing.

    Examples
    --------
    >>> accepted([3.0, 9.5, 9.0, 9.8], log_limit=10.0)
    [False, True, True, True]
    >>> accepted([9.5], log_limit=10.0)
    [False]
    """
    order = sorted(log_evidence, reverse=True)
    least = math.inf
    for k, value in enumerate(order, start=1):
        if value + math.log(k) >= log_limit:
            least = value
    return [value >= least for value in log_evidence]


@dataclass(frozen=True, kw_only=True)
class Assurance:
    """Which of the shifts that stand may be told, and what chance has to do with them.

    ``log_evidence`` is by shift; facts that sources told are not in it, and need none.
    """

    log_evidence: Mapping[Hashable, float]
    judged_a_day: float
    false_alarms_per_day: float

    @cached_property
    def told_together(self) -> int:
        return len(self.may_be_told)

    @cached_property
    def may_be_told(self) -> frozenset[Hashable]:
        shifts = list(self.log_evidence)
        limit = math.log(max(self.judged_a_day, 1.0) / self.false_alarms_per_day)
        may = accepted([self.log_evidence[shift] for shift in shifts], log_limit=limit)
        return frozenset(shift for shift, told in zip(shifts, may, strict=True) if told)

    def bound(self, shifts: Iterable[Hashable]) -> float:
        """Return the false alarms a day of an alert with these shifts; 0 with a fact among them.

        Infinite when none of them may be told.
        """
        logs = []
        for shift in shifts:
            if shift not in self.log_evidence:
                return 0.0
            if shift in self.may_be_told:
                logs.append(self.log_evidence[shift])
        if not logs:
            return math.inf
        log_bound = math.log(max(self.judged_a_day, 1.0) / self.told_together) - max(logs)
        return math.exp(max(log_bound, -700.0))
