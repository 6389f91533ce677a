"""What a switch's hash does, as far as it can be known: as good as random, the same each time."""

import numpy as np
from numpy.typing import NDArray

_MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_STEP = 0x9E3779B97F4A7C15


def hashed(keys: NDArray[np.int64], seed: int, choices: int) -> NDArray[np.int32]:
    """Return a choice for each key: the splitmix64 hash of key and seed.

    References
    ----------
    G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA
    2014.
    """
    with np.errstate(over="ignore"):
        mixed = keys.astype(np.uint64) + np.uint64((seed + 1) * _STEP % 2**64)
        mixed = mixed * np.uint64(_STEP)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(_MULTIPLIERS[0])
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_MULTIPLIERS[1])
        mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(choices)).astype(np.int32)
