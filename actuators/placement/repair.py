"""Moves whole chains of sub-flows where no single move helps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from actuators.placement.kernels import chaining
from actuators.placement.layers import NONE
from actuators.placement.work import Work

_SLACK: Final = 1e-9
_DEEPEST: Final = 32
_MOST_QUEUED: Final = 1_024

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much may be done.

    Attributes
    ----------
    cost
        By sub-flow: -1 = stays where it is, 0 = moves for nothing, 1 = its move is counted. Chains
        that cost nothing are looked for first.
    most_spent
        How many counted moves there may be.
    most_looks
        How many sub-flows may be looked at in vain.
    """

    cost: NDArray[np.int8]
    most_spent: int
    most_looks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """What chains run over: bases and bits of sub-flows, their colours, what slots may carry."""

    bases: Sequence[NDArray[Any]]
    bits: Floats
    colour: Ints
    colours: int
    most: Floats


def shift(
    work: Work,
    load: Floats,
    *,
    target: float,
    effort: Effort,
    background: Floats | None = None,
) -> int:
    """Move chains so that no resource is busier than ``target``; return how many moves counted.

    First over planes, so that neither leaves nor the cores of a pod's plane, all together, get too
    much; then, in each plane, over cores.

    Parameters
    ----------
    load
        Of the resources; written to.
    background
        What of the load does not come from the sub-flows.
    """
    is_local = work.ends.tail == work.ends.head
    effort = replace(effort, cost=np.where(is_local, -1, effort.cost).astype(np.int8))
    limit = work.capacity * target
    if background is not None:
        load -= background
        limit = np.maximum(limit - background, 0.0)
    limit *= 1.0 + _SLACK
    low = 2 * work.layers.leaves * work.layers.planes
    whole = _whole_limits(work, limit[low:])
    spent = 0
    if (load[:low] > limit[:low]).any() or (_by_plane(work, load[low:]) > whole).any():
        spent += _shift_planes(work, np.concatenate((limit[:low], whole)), effort)
        load[:] = work.load()
        work.fill_cores(np.flatnonzero(work.is_coreless).astype(np.int32), load)
    crowded = load[low:] > limit[low:]
    if crowded.any():
        left = replace(effort, most_spent=effort.most_spent - spent)
        spent += _shift_cores(work, crowded, limit[low:], left)
        load[:] = work.load()
    if background is not None:
        load += background
    return spent


def _by_plane(work: Work, of_cores: Floats) -> Floats:
    """Return the sums over the cores of each pod's planes, up, then down."""
    if not work.layers.cores:
        return np.zeros(0)
    total: Floats = of_cores.reshape(-1, work.layers.cores).sum(axis=1)
    return total


def _whole_limits(work: Work, limit: Floats) -> Floats:
    """Return what the cores of each pod's plane can take, up and down.

    When all sub-flows are equal, a core takes whole ones only.
    """
    bits = work.bits
    if len(bits) and bits.min() == bits.max() > 0.0:
        limit = np.floor(limit / bits[0]) * bits[0] * (1.0 + _SLACK)
    return _by_plane(work, limit)


def _shift_planes(work: Work, most: Floats, effort: Effort) -> int:
    layers, ends = work.layers, work.ends
    planes, low = layers.planes, layers.leaves * layers.planes
    bases = [ends.tail * planes, low + ends.head * planes]
    if layers.cores:
        across = ends.tail_pod != ends.head_pod
        first = 2 * low
        for pod in (ends.tail_pod, ends.head_pod):
            bases.append(np.where(across, first + pod * planes, NONE))
            first += layers.pods * planes
    before = work.plane.copy()
    level = _Level(bases=bases, bits=work.bits, colour=work.plane, colours=planes, most=most)
    spent = _unload(level, effort)
    work.core[work.plane != before] = NONE
    return spent


def _shift_cores(work: Work, crowded: NDArray[np.bool_], limit: Floats, effort: Effort) -> int:
    """Move chains in the planes in which a core is crowded; they are apart from each other."""
    layers = work.layers
    busy = np.flatnonzero(crowded) // layers.cores % layers.planes
    rows = np.flatnonzero((work.core >= 0) & np.isin(work.plane, busy))
    own, colour = work.ends.take(rows), work.core[rows]
    high = layers.pods * layers.planes * layers.cores
    bases = [
        first + (pod * layers.planes + work.plane[rows]) * layers.cores
        for first, pod in ((0, own.tail_pod), (high, own.head_pod))
    ]
    level = _Level(
        bases=bases, bits=work.bits[rows], colour=colour, colours=layers.cores, most=limit
    )
    spent = _unload(level, replace(effort, cost=effort.cost[rows]))
    work.core[rows] = colour
    return spent


def _unload(level: _Level, effort: Effort) -> int:
    count, hops = len(level.bits), len(level.bases)
    loops = chaining(count)
    edges = (np.stack(level.bases, axis=1).astype(np.int32), level.bits, level.colour)
    sizes = (len(level.most), hops * count, hops * count)
    slots = (
        np.empty(len(level.most)),
        level.most,
        *(np.empty(size, dtype=np.int32) for size in sizes),
    )
    loops.enlist(edges, slots)
    queue = tuple(np.empty(size, dtype=np.int32) for size in (*[_MOST_QUEUED] * 4, count))
    free, counted = (np.flatnonzero(effort.cost == c).astype(np.int32) for c in (0, 1))
    left = effort.most_spent
    for dearest, order in ((0, free), (1, np.concatenate((free, counted)))):
        limits = (level.colours, _DEEPEST, dearest, left)
        left -= loops.unload(order, limits, effort.cost, edges, slots, queue, effort.most_looks)
    return effort.most_spent - left
