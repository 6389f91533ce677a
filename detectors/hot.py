"""What every value of every judged series passes, over a whole row of values at a time.

Compiled where numba is installed, NumPy where it is not: the same answers to the last bit, in state
and output. All arrays are views of one row each; what is said to change is changed in place.
"""

from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cluster.compiled import can_compile, compiled
from detectors import hot_loops as plain
from detectors.hot_loops import Counts, Floats

Flags = NDArray[np.bool_]


class Baselines(NamedTuple):
    """Where series stand: level, spread, values seen; and the least effect that counts."""

    level: Floats
    spread: Floats
    seen: Counts
    ratio: Floats
    absolute: Floats


class Sums(NamedTuple):
    """State of one cumulative-sum test: values since it began, their mean, both sums."""

    number: Counts
    mean: Floats
    up: Floats
    down: Floats


class Test(NamedTuple):
    """A cumulative-sum test, two-sided.

    Attributes
    ----------
    of_spread
        Sums distances from zero rather than the values: it tells a change of the spread.
    adapts
        Sums deviations from the mean of its values so far, as Page-Hinkley; else from zero.
    """

    of_spread: bool
    adapts: bool
    tolerance: float
    threshold: float
    largest: float


@cache
def loops() -> ModuleType | None:
    """Return the compiled loops; None where NumPy answers."""
    return compiled(plain.__name__) if can_compile() else None


def sigmas(scaled: Floats, of: Baselines, *, warmup: int, largest: float) -> Floats:
    """Return each value's distance from its baseline, NaN where there is none."""
    fast = loops()
    if fast is not None:
        out = np.empty(len(scaled))
        fast.sigmas(
            scaled, of.level, of.spread, of.seen, of.ratio, of.absolute, warmup, largest, out
        )
        return out
    least = np.maximum(of.ratio * np.abs(of.level), of.absolute)
    scale = np.maximum(np.maximum(of.spread, least / plain.SIGMAS_OF_LEAST_EFFECT), plain.TINY)
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.clip((scaled - of.level) / scale, -largest, largest)
    return np.where(of.seen < warmup, np.nan, distance)


def follow(scaled: Floats, quiet: Flags, of: Baselines, *, warmup: int, longest: int) -> None:
    """Move the baselines of quiet series that have one."""
    fast = loops()
    if fast is not None:
        fast.follow(scaled, quiet, of.level, of.spread, of.seen, warmup, longest)
        return
    moves = quiet & ~np.isnan(scaled) & (of.seen >= warmup)
    count = np.where(of.seen < longest, of.seen + 1, of.seen)
    weight = 1.0 / np.maximum(count, 1)
    deviation = scaled - of.level
    expected = plain.MEAN_DEVIATION_TO_SIGMA * np.abs(deviation)
    np.copyto(of.seen, count, where=moves)
    np.copyto(of.level, of.level + weight * deviation, where=moves)
    np.copyto(of.spread, of.spread + weight * (expected - of.spread), where=moves)


def detect(values: Floats, sums: Sums, test: Test) -> Flags:
    """Return where the test tells a shift; NaN says nothing."""
    fast = loops()
    told = np.zeros(len(values), dtype=np.bool_)
    if fast is not None:
        fast.detect(values, *sums, *test, told)
        return told
    there = ~np.isnan(values)
    x = np.clip(np.where(there, values, 0.0), -test.largest, test.largest)
    if test.of_spread:
        x = (np.abs(x) - plain.MEAN_DISTANCE) / plain.DISTANCE_DEVIATION
    number = sums.number + 1
    level = np.zeros(len(x))
    if test.adapts:
        level = sums.mean + (1.0 / number) * (x - sums.mean)
    deviation = x - level
    up = np.maximum(0.0, sums.up + deviation - test.tolerance)
    down = np.maximum(0.0, sums.down - deviation - test.tolerance)
    over = (up > test.threshold) | (down > test.threshold)
    np.copyto(sums.number, np.where(over, 0, number), where=there)
    for kept, new in ((sums.mean, level), (sums.up, up), (sums.down, down)):
        np.copyto(kept, np.where(over, 0.0, new), where=there)
    return np.asarray(over & there)
