"""A placement kept near the bound while links fail and come back, and flows come and go."""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actuators.placement.certificate import bound_after
from actuators.placement.layers import NONE
from actuators.placement.place import spread_evenly, working_planes
from actuators.placement.placement import Known, Placement
from actuators.placement.repair import Effort, shift
from actuators.placement.split import split
from actuators.placement.work import Work
from cluster.fabric import Fabric
from cluster.flows import Flows

_SLACK: Final = 1e-9
_MANY: Final = 1_000
# How many sub-flows chains may look at in vain: at least, and for each that needs a path.
_LOOKS: Final = 500
_LOOKS_EACH: Final = 50

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


def adapt(
    before: Placement,
    fabric: Fabric,
    flows: Flows | None = None,
    *,
    kept: Ints | None = None,
    subflows: int = 1,
    most_moved_share: float = 0.01,
) -> Placement:
    """Return the placement after an event; sub-flows that can stay where they are do.

    What is on a dead link, and what is new, is placed where there is most room. Then sub-flows
    leave resources that are busier than the bound, new ones as many as it takes, others no more
    than ``most_moved_share`` of all.

    Parameters
    ----------
    fabric
        The same cables, with other capacities.
    flows, kept
        The flows there are now, and for each its number among those before, -1 = new; without them
        the flows are the same.
    subflows
        For new elephants.

    Raises
    ------
    ValueError
        The fabric has other cables, or ``kept`` does not fit the flows.
    """
    if len(fabric.lower) != len(before.fabric.lower):
        raise ValueError(
            f"the fabric has {len(fabric.lower)} cables, not {len(before.fabric.lower)}"
        )
    same = fabric.capacity is before.fabric.capacity
    layers = before.layers if same else before.layers.with_capacity_of(fabric)
    if flows is None:
        placement = replace(
            before,
            fabric=fabric,
            layers=layers,
            plane=before.plane.copy(),
            core=before.core.copy(),
            known=_known_after(before, fabric),
        )
    else:
        placement = _carried_over(before, fabric, flows, kept, subflows)
    _settle(placement, most_moved_share)
    return placement


def _carried_over(
    before: Placement, fabric: Fabric, flows: Flows, kept: Ints | None, subflows: int
) -> Placement:
    """Return the flows of now with the paths they had; new ones have none yet."""
    if kept is None or len(kept) != len(flows):
        raise ValueError("every flow needs its number before, or -1")
    if len(kept) and not -1 <= kept.min() <= kept.max() < len(before.flows):
        raise ValueError(f"a number before is not -1 to {len(before.flows) - 1}")
    parts_before = np.bincount(before.flow, minlength=len(before.flows))
    starts = np.concatenate(([0], np.cumsum(parts_before)))
    new_flow, _ = split(fabric, flows, subflows)
    parts = np.where(kept >= 0, parts_before[kept], np.bincount(new_flow, minlength=len(flows)))
    flow = np.repeat(np.arange(len(flows), dtype=np.int32), parts)
    place = np.arange(len(flow)) - np.repeat(np.cumsum(parts) - parts, parts)
    old = np.where(kept[flow] >= 0, starts[kept[flow]] + place, NONE)
    had = old >= 0
    plane, core = (np.full(len(flow), NONE, dtype=np.int32) for _ in range(2))
    plane[had], core[had] = before.plane[old[had]], before.core[old[had]]
    return Placement(
        fabric=fabric,
        flows=flows,
        layers=before.layers.with_capacity_of(fabric),
        flow=flow,
        bits_per_second=(flows.bits_per_second / np.maximum(parts, 1))[flow],
        plane=plane,
        core=core,
    )


def _known_after(before: Placement, fabric: Fabric) -> Known:
    known = Known(before.ends, before.resource_load.copy())
    if not before.is_stranded.any():
        known.demands = before.demands
        known.bound = bound_after(before.bound, before.fabric, fabric, before.demands)
    return known


def _settle(placement: Placement, most_moved_share: float) -> None:
    """Place what has no path, and move what is on resources busier than the bound."""
    load = placement.resource_load
    work = Work(
        layers=placement.layers,
        ends=placement.ends,
        bits=placement.bits_per_second,
        plane=placement.plane,
        core=placement.core,
    )
    capacity = work.capacity
    had_path = work.plane >= 0
    if ((capacity == 0.0) & (load > 0.0)).any():
        work.strand(load)
        coreless = np.flatnonzero(work.is_coreless).astype(np.int32)
        had_path[coreless] = False
        work.fill_cores(coreless, load)
    had_path &= work.plane >= 0
    loose = np.flatnonzero((work.plane < 0) & ~placement.is_local).astype(np.int32)
    _place_loose(work, placement, loose, load)
    if len(loose) and (work.plane[loose] < 0).any():
        placement.known.demands = placement.known.bound = None
    target = placement.bound.level
    if work.busiest(load) <= target * (1.0 + _SLACK):
        return
    free = placement.flows.steerable[placement.flow]
    work.relieve(loose[free[loose]], load, target=target, most_moves=4 * len(loose))
    if work.busiest(load) <= target * (1.0 + _SLACK):
        return
    cost = np.where(free, had_path, -1).astype(np.int8)
    most = int(most_moved_share * len(work.plane))
    looks = _LOOKS + _LOOKS_EACH * len(loose)
    effort = Effort(cost=cost, most_spent=most, most_looks=looks)
    most -= shift(work, load, target=target, effort=effort)
    if work.busiest(load) > target * (1.0 + _SLACK):
        staying = np.flatnonzero(cost > 0).astype(np.int32)
        work.relieve(staying, load, target=target, most_moves=most)


def _place_loose(work: Work, placement: Placement, loose: Ints, load: Floats) -> None:
    """Place what has no path: where most room is, or evenly by itself where that is better.

    Where many flows end and as many begin in their place, evenly fits what was freed evenly.
    """
    by_size = loose[np.argsort(-work.bits[loose], kind="stable")]
    before = load.copy()
    if len(loose) >= _MANY:
        spread_evenly(work, by_size, np.unique(working_planes(work.layers)))
        work.core[loose] = NONE
        load[:] = work.load()
        work.fill_cores(by_size[work.is_coreless[by_size]], load)
        if work.busiest(load) <= placement.bound.level * (1.0 + _SLACK):
            return
        even = work.plane[loose].copy(), work.core[loose].copy(), load.copy()
        work.plane[loose] = work.core[loose] = NONE
        load[:] = before
    work.fill(by_size, load, work.capacity)
    if len(loose) >= _MANY:
        target = placement.bound.level
        if _excess(work, even[2], target) < _excess(work, load, target):
            work.plane[loose], work.core[loose], load[:] = even


def _excess(work: Work, load: Floats, target: float) -> float:
    return float(np.maximum(load - work.capacity * target, 0.0).sum())
