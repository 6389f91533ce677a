"""Whole-numbered next-hop weights that come nearest to wanted loads."""

from collections.abc import Mapping
from math import gcd


def weights_for(loads: Mapping[str, float], *, total: int) -> dict[str, int]:
    """Return weights of at most ``total`` in all; who carries anything weighs at least 1.

    Largest remainders are rounded up. The weights share their common divisor no more, so equal
    loads have weight 1 each.

    Raises
    ------
    ValueError
        Nobody carries anything (the last path would go), a load is negative, or ``total`` is
        smaller than the number of those that carry.
    """
    carrying = {name: load for name, load in loads.items() if load > 0}
    if not carrying:
        raise ValueError("no next hop carries anything: the last path would go")
    if any(load < 0 for load in loads.values()):
        raise ValueError(f"loads are {dict(loads)}: none may be negative")
    if total < len(carrying):
        raise ValueError(f"total weight is {total}, for {len(carrying)} next hops")
    everything = sum(carrying.values())
    exact = {name: load / everything * total for name, load in carrying.items()}
    weights = {name: max(1, int(value)) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (weights[name] - exact[name], name))
    for name in by_remainder[: max(0, total - sum(weights.values()))]:
        weights[name] += 1
    divisor = gcd(*weights.values())
    return {name: weights.get(name, 0) // divisor for name in loads}
