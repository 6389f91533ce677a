"""Spreads a step's micro-batches over ranks of unequal speed."""

from collections.abc import Mapping


def spread(
    micro_batches: Mapping[int, int],
    seconds: Mapping[int, float],
    *,
    least: int,
    largest_step_ratio: float,
) -> dict[int, int]:
    """Return micro-batches by rank with the same sum and the shortest slowest rank.

    Moves one micro-batch at a time from the slowest rank to the one that would be quickest with
    one more, while that shortens the step: the optimum, with the fewest moved. No rank goes below
    ``least`` or changes by more than ``largest_step_ratio``.

    Parameters
    ----------
    micro_batches
        Per step, by rank; each at least 1.
    seconds
        What each rank computes in a step now.

    Examples
    --------
    >>> spread({0: 8, 1: 8, 2: 8}, {0: 0.8, 1: 0.8, 2: 1.6}, least=1, largest_step_ratio=2.0)
    {0: 10, 1: 9, 2: 5}
    """
    each = {rank: seconds[rank] / count for rank, count in micro_batches.items()}
    lowest = {
        rank: max(least, -int(-count // largest_step_ratio))
        for rank, count in micro_batches.items()
    }
    highest = {rank: int(count * largest_step_ratio) for rank, count in micro_batches.items()}
    spreading = dict(micro_batches)
    while True:
        slowest = max(spreading, key=lambda rank: (spreading[rank] * each[rank], -rank))
        takers = [r for r in spreading if r != slowest and spreading[r] < highest[r]]
        if not takers or spreading[slowest] <= lowest[slowest]:
            return spreading
        taker = min(takers, key=lambda rank: ((spreading[rank] + 1) * each[rank], rank))
        if (spreading[taker] + 1) * each[taker] >= spreading[slowest] * each[slowest]:
            return spreading
        spreading[slowest] -= 1
        spreading[taker] += 1


def slowest_seconds(
    micro_batches: Mapping[int, int], now: Mapping[int, int], seconds: Mapping[int, float]
) -> float:
    """Return what the slowest rank would compute with other micro-batches than now."""
    return max(micro_batches[rank] * seconds[rank] / now[rank] for rank in micro_batches)
