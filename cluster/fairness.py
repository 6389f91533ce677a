"""Max-min fair rates of flows that split over several links in fixed shares."""

import numpy as np
from numpy.typing import NDArray

_EMPTY = 1e-9


def max_min_rates(
    usage: NDArray[np.float64],
    capacity: NDArray[np.float64],
    demand: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return each flow's rate when no flow can gain without a slower one losing.

    All flows rise together until a link is full or a flow has what it asks for; those stay, the
    others rise on. A flow that splits runs as fast as its slowest share allows, as with packets
    sprayed by weight.

    Parameters
    ----------
    usage
        Load that one unit of a flow's rate puts on each link, shape (flows, links): 1.0 where
        all of it passes, 0.25 where a quarter does.
    capacity
        By link, in the unit of the result.
    demand
        What each flow asks for at most, shape (flows,); without it flows are limited by links
        only.

    Returns
    -------
    Shape (flows,). A flow that uses no link and has no demand is 0.

    Examples
    --------
    >>> max_min_rates(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([10.0, 2.0]))
    array([8., 2.])

    References
    ----------
    Bertsekas and Gallager, Data Networks, 2nd edition, 1992, section 6.5.2.
    """
    flows = len(usage)
    rates = np.zeros(flows)
    wanted = np.full(flows, np.inf) if demand is None else demand
    active = (usage.sum(axis=1) > 0.0) | np.isfinite(wanted)
    left = capacity.astype(np.float64)
    while active.any():
        load = usage[active].sum(axis=0)
        loaded = load > _EMPTY
        room = np.full(len(capacity), np.inf)
        room[loaded] = np.maximum(left[loaded], 0.0) / load[loaded]
        step = float(min(room.min(initial=np.inf), (wanted - rates)[active].min()))
        rates[active] += step
        left = left - step * load
        full = room <= step * (1.0 + _EMPTY) + _EMPTY
        stopped = (usage[:, full] > 0.0).any(axis=1) | (rates >= wanted * (1.0 - _EMPTY))
        active &= ~stopped
    return rates
