"""A fabric as choices: which plane a flow goes up by, and between pods which core of the plane."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cluster.arrays import summed
from cluster.fabric import Fabric
from cluster.flows import Flows

NONE = -1
_CORE_TIER = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundles:
    """Parallel cables between two switches as one resource.

    Attributes
    ----------
    capacity
        Up and down, shape (2, resources); 0 where there is no cable or none that works.
    cable
        The first cable of each resource; -1 = none.
    starts, cables
        All cables of resource r: ``cables[starts[r]:starts[r + 1]]``.
    """

    capacity: NDArray[np.float64]
    cable: NDArray[np.int32]
    starts: NDArray[np.int64]
    cables: NDArray[np.int32]

    def refilled(self, fabric: Fabric) -> "Bundles":
        """Return the same bundles with a fabric's capacities."""
        resource = np.repeat(np.arange(len(self.cable)), np.diff(self.starts))
        size = len(self.cable)
        up = summed(resource, fabric.capacity[2 * self.cables], size)
        down = summed(resource, fabric.capacity[2 * self.cables + 1], size)
        return replace(self, capacity=np.stack((up, down)))

    @property
    def is_single(self) -> bool:
        """True when no two switches share more than one cable."""
        return bool((np.diff(self.starts) <= 1).all())


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """The choices of a fabric.

    A plane is a spine, of each pod the one that meets the same cores; without a third tier there is
    one pod. Low resource ``leaf * planes + plane`` joins a leaf with its pod's spine of the plane,
    high resource ``(pod * planes + plane) * cores + core`` that spine with a core.

    Attributes
    ----------
    leaf_of
        Number of the leaf by switch; -1 for other switches.
    pod_of_leaf
        Shape (leaves,).
    """

    leaves: int
    pods: int
    planes: int
    cores: int
    leaf_of: NDArray[np.int32]
    pod_of_leaf: NDArray[np.int32]
    low: Bundles
    high: Bundles

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Leaves, pods, planes, cores."""
        return self.leaves, self.pods, self.planes, self.cores

    @property
    def capacity(self) -> NDArray[np.float64]:
        """Bits per second of resources: low ones up, low ones down, high up, high down."""
        return np.concatenate((*self.low.capacity, *self.high.capacity))

    def with_capacity_of(self, fabric: Fabric) -> "Layers":
        """Return the choices of the same fabric with other capacities."""
        return replace(self, low=self.low.refilled(fabric), high=self.high.refilled(fabric))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Leaves and pods of sub-flows, in the numbers of `Layers`, shape (subflows,)."""

    tail: NDArray[np.int32]
    head: NDArray[np.int32]
    tail_pod: NDArray[np.int32]
    head_pod: NDArray[np.int32]

    @property
    def columns(self) -> tuple[NDArray[np.int32], ...]:
        return self.tail, self.head, self.tail_pod, self.head_pod

    def take(self, rows: Any) -> "Ends":
        tail, head, tail_pod, head_pod = (column[rows] for column in self.columns)
        return Ends(tail=tail, head=head, tail_pod=tail_pod, head_pod=head_pod)


def ends_of(layers: Layers, fabric: Fabric, flows: Flows, flow: NDArray[np.int32]) -> Ends:
    """Return where sub-flows enter and leave the fabric."""
    leaf_of_endpoint = layers.leaf_of[fabric.endpoint_leaf]
    tail, head = leaf_of_endpoint[flows.source[flow]], leaf_of_endpoint[flows.target[flow]]
    pod = layers.pod_of_leaf
    return Ends(tail=tail, head=head, tail_pod=pod[tail], head_pod=pod[head])


def layers_of(fabric: Fabric) -> Layers:
    """Return a fabric's choices.

    Raises
    ------
    ValueError
        It has more than three tiers.
    """
    highest = int(fabric.tier.max(initial=0))
    if highest > _CORE_TIER:
        raise ValueError(f"the fabric has {highest} tiers, more than {_CORE_TIER}")
    leaf_of = _numbered(fabric.tier == 1)
    is_low = fabric.tier[fabric.lower] == 1
    low, high = np.flatnonzero(is_low), np.flatnonzero(~is_low)
    leaves = int((fabric.tier == 1).sum())
    if highest < _CORE_TIER:
        plane_of = _numbered(fabric.tier == 2)  # noqa: PLR2004 - spines
        pod_of_leaf = np.zeros(leaves, dtype=np.int32)
        pods, planes, cores = 1, int(plane_of.max(initial=-1)) + 1, 0
        core_of = np.zeros(0, dtype=np.int32)
        pod_of = np.zeros(len(fabric.tier), dtype=np.int32)
    else:
        pod_of = _components(fabric, low)
        pod_of_leaf = pod_of[fabric.tier == 1]
        plane_of, core_of, planes, cores = _planes(fabric, high, pod_of)
        pods = int(pod_of.max(initial=-1)) + 1
    low_resource = leaf_of[fabric.lower[low]] * planes + plane_of[fabric.upper[low]]
    high_resource = (pod_of[fabric.lower[high]] * planes + plane_of[fabric.lower[high]]) * cores + (
        core_of[fabric.upper[high]] if len(high) else 0
    )
    return Layers(
        leaves=leaves,
        pods=pods,
        planes=planes,
        cores=cores,
        leaf_of=leaf_of,
        pod_of_leaf=pod_of_leaf.astype(np.int32),
        low=_bundled(fabric, low, low_resource, leaves * planes),
        high=_bundled(fabric, high, high_resource, pods * planes * cores),
    )


def _numbered(mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.where(mask, np.cumsum(mask) - 1, -1).astype(np.int32)


def _bundled(
    fabric: Fabric, cables: NDArray[np.int64], resource: NDArray[Any], resources: int
) -> Bundles:
    order = np.argsort(resource, kind="stable")
    sorted_cables = cables[order].astype(np.int32)
    starts = np.searchsorted(resource[order], np.arange(resources + 1)).astype(np.int64)
    first = np.full(resources, -1, dtype=np.int32)
    held = starts[:-1] < starts[1:]
    first[held] = sorted_cables[starts[:-1][held]]
    bare = Bundles(
        capacity=np.zeros((2, resources)), cable=first, starts=starts, cables=sorted_cables
    )
    return bare.refilled(fabric)


def _components(fabric: Fabric, cables: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return by switch the number of its connected part over some cables; -1 outside of all."""
    part = np.arange(len(fabric.tier))
    lower, upper = fabric.lower[cables], fabric.upper[cables]
    while True:
        least = np.minimum(part[lower], part[upper])
        before = part.copy()
        np.minimum.at(part, lower, least)
        np.minimum.at(part, upper, least)
        part = part[part]
        if (part == before).all():
            break
    inside = np.zeros(len(part), dtype=bool)
    inside[lower] = inside[upper] = True
    inside |= fabric.tier == 1
    numbers = np.unique(part[inside], return_inverse=True)[1]
    found = np.full(len(part), -1, dtype=np.int32)
    found[inside] = numbers
    return found


def _planes(
    fabric: Fabric, high: NDArray[np.int64], pod_of: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], int, int]:
    """Return plane by spine, core number by core, and how many planes and cores a plane has.

    Where a pod has several spines at the same cores, each is a plane of its own with these cores.
    """
    part = _components(fabric, high)
    spines = np.flatnonzero(fabric.tier == 2)  # noqa: PLR2004 - spines
    keys = np.stack((part[spines], pod_of[spines]))
    order = np.lexsort((spines, keys[1], keys[0]))
    seen: dict[tuple[int, int], int] = {}
    index = np.zeros(len(spines), dtype=np.int64)
    for n in order.tolist():
        key = (int(keys[0, n]), int(keys[1, n]))
        index[n] = seen.get(key, 0)
        seen[key] = int(index[n]) + 1
    pairs = np.stack((part[spines], index), axis=1)
    plane = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
    plane_of = np.full(len(fabric.tier), -1, dtype=np.int32)
    plane_of[spines] = plane
    cores = np.flatnonzero(fabric.tier == _CORE_TIER)
    core_of = np.full(len(fabric.tier), -1, dtype=np.int32)
    counted: dict[int, int] = {}
    for switch in cores.tolist():
        number = counted.get(int(part[switch]), 0)
        core_of[switch] = number
        counted[int(part[switch])] = number + 1
    return plane_of, core_of, int(plane.max(initial=-1)) + 1, max(counted.values(), default=0)
