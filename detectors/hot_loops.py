"""The loops of `detectors.hot`: one pass over a row of values, all series of it; see there.

They have no branches, only choices of a value, and walk contiguous arrays: so they become vector
instructions.
"""

import numpy as np
from numpy.typing import NDArray

from cluster.compiled import array_loop

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]
# A standard normal's mean distance from zero, and the deviation of that distance.
MEAN_DISTANCE = 0.7978845608028654
DISTANCE_DEVIATION = 0.6028102749890869
# The least effect worth telling is this many sigmas at least, however quiet the series is.
SIGMAS_OF_LEAST_EFFECT = 6.0
MEAN_DEVIATION_TO_SIGMA = 1.2533
TINY = float(np.finfo(float).tiny)


@array_loop
def sigmas(
    scaled: Floats,
    level: Floats,
    spread: Floats,
    seen: Counts,
    ratio: Floats,
    absolute: Floats,
    warmup: int,
    largest: float,
    out: Floats,
) -> None:
    """Write each value's distance from its baseline, NaN where there is none."""
    for i in range(len(scaled)):
        least = ratio[i] * abs(level[i])
        least = least if least > absolute[i] else absolute[i]
        scale = least / SIGMAS_OF_LEAST_EFFECT
        scale = spread[i] if spread[i] > scale else scale
        scale = scale if scale > TINY else TINY
        distance = (scaled[i] - level[i]) / scale
        distance = largest if distance > largest else distance
        distance = -largest if distance < -largest else distance
        out[i] = distance if seen[i] >= warmup else np.nan


@array_loop
def follow(
    scaled: Floats,
    quiet: NDArray[np.bool_],
    level: Floats,
    spread: Floats,
    seen: Counts,
    warmup: int,
    longest: int,
) -> None:
    """Move the baselines of quiet series: the mean of all values at first, then slower."""
    for i in range(len(scaled)):
        value = scaled[i]
        moves = quiet[i] & (seen[i] >= warmup) & (value == value)
        count = seen[i] + 1 if seen[i] < longest else seen[i]
        weight = 1.0 / count
        deviation = value - level[i]
        expected = MEAN_DEVIATION_TO_SIGMA * abs(deviation)
        seen[i] = count if moves else seen[i]
        level[i] = level[i] + weight * deviation if moves else level[i]
        spread[i] = spread[i] + weight * (expected - spread[i]) if moves else spread[i]


@array_loop
def detect(
    values: Floats,
    count: Counts,
    mean: Floats,
    up: Floats,
    down: Floats,
    of_spread: bool,
    adapts: bool,
    tolerance: float,
    threshold: float,
    largest: float,
    told: NDArray[np.bool_],
) -> None:
    """Feed one test of every series; write where it tells a shift, and begin it anew there."""
    for i in range(len(values)):
        x = values[i]
        there = x == x
        x = x if there else 0.0
        x = largest if x > largest else x
        x = -largest if x < -largest else x
        if of_spread:
            x = (abs(x) - MEAN_DISTANCE) / DISTANCE_DEVIATION
        number = count[i] + 1
        level = 0.0
        if adapts:
            level = mean[i] + (1.0 / number) * (x - mean[i])
        deviation = x - level
        above = up[i] + deviation - tolerance
        below = down[i] - deviation - tolerance
        above = above if above > 0.0 else 0.0
        below = below if below > 0.0 else 0.0
        over = (above > threshold) | (below > threshold)
        count[i] = (0 if over else number) if there else count[i]
        mean[i] = (0.0 if over else level) if there else mean[i]
        up[i] = (0.0 if over else above) if there else up[i]
        down[i] = (0.0 if over else below) if there else down[i]
        told[i] = over & there
