"""Paths for flows, and what they load."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actuators.placement.certificate import Bound, Certificate, Demand, bound_of, certify, demands
from actuators.placement.kernels import searching
from actuators.placement.layers import NONE, Bundles, Ends, Layers, ends_of, layers_of
from cluster.arrays import summed
from cluster.fabric import Fabric
from cluster.flows import Flows


@dataclass(slots=True)
class Known:
    """What was worked out of a placement before, or is known from the one it comes from."""

    ends: Ends | None = None
    load: NDArray[np.float64] | None = None
    demands: tuple[Demand, ...] | None = None
    bound: Bound | None = None


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A path for every sub-flow; flows that are not split have one.

    Attributes
    ----------
    flow
        Number of the flow that a sub-flow is of, shape (subflows,).
    bits_per_second
        What a sub-flow wants to send; those of a flow sum up to what it wants.
    plane, core
        Choices of a sub-flow in `Layers`; -1 where it has none: it stays at its leaf, or in its
        pod, or no path leads for it.
    """

    fabric: Fabric
    flows: Flows
    layers: Layers
    flow: NDArray[np.int32]
    bits_per_second: NDArray[np.float64]
    plane: NDArray[np.int32]
    core: NDArray[np.int32]
    known: Known = field(default_factory=Known, repr=False, compare=False)

    @classmethod
    def of(cls, fabric: Fabric, flows: Flows, **choices: Any) -> "Placement":
        """Return the placement of choices: ``flow``, ``bits_per_second``, ``plane``, ``core``."""
        return cls(fabric=fabric, flows=flows, layers=layers_of(fabric), **choices)

    @property
    def ends(self) -> Ends:
        """Leaves and pods of the sub-flows."""
        if self.known.ends is None:
            self.known.ends = ends_of(self.layers, self.fabric, self.flows, self.flow)
        return self.known.ends

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What is wanted of leaves and pods."""
        if self.known.demands is None:
            self.known.demands = demands(
                self.fabric, self.layers, self.ends, self.bits_per_second, self.plane >= 0
            )
        return self.known.demands

    @cached_property
    def links(self) -> NDArray[np.int32]:
        """Directed links in order, shape (subflows, 2 or 4); -1 = none.

        Parallel cables of a choice share its sub-flows.
        """
        layers, ends, bits = self.layers, self.ends, self.bits_per_second
        placed, across = self.plane >= 0, self.core >= 0
        hops = 4 if layers.cores else 2
        links = np.full((len(self.plane), hops), NONE, dtype=np.int32)
        if layers.low.is_single and layers.high.is_single:
            cables = (layers.low.cable, layers.high.cable)
            searching(len(self.plane)).single_links(
                layers.shape, ends.columns, self.plane, self.core, *cables, links
            )
            return links
        for leaf, hop, way in ((ends.tail, 0, 0), (ends.head, hops - 1, 1)):
            low = leaf * layers.planes + self.plane
            links[:, hop] = _directed(layers.low, self.fabric, low, placed, bits, way=way)
        for pod, hop, way in ((ends.tail_pod, 1, 0), (ends.head_pod, 2, 1)) if layers.cores else ():
            high = (pod * layers.planes + self.plane) * layers.cores + self.core
            links[:, hop] = _directed(layers.high, self.fabric, high, across, bits, way=way)
        return links

    @property
    def is_local(self) -> NDArray[np.bool_]:
        """By sub-flow: both its ends are at one leaf, so it needs no path."""
        local: NDArray[np.bool_] = self.ends.tail == self.ends.head
        return local

    @property
    def is_stranded(self) -> NDArray[np.bool_]:
        """By sub-flow: no path leads from end to end."""
        stranded: NDArray[np.bool_] = (self.plane < 0) & ~self.is_local
        return stranded

    def link_load(self) -> NDArray[np.float64]:
        """Return what is wanted of each directed link, bits per second, shape (links,)."""
        load = np.zeros(self.fabric.links)
        for hop in self.links.T:
            used = hop >= 0
            load += summed(hop[used], self.bits_per_second[used], len(load))
        return load

    @property
    def bound(self) -> Bound:
        """What no placement of these sub-flows can beat."""
        if self.known.bound is None:
            self.known.bound = bound_of(self.fabric, self.demands)
        return self.known.bound

    @property
    def resource_load(self) -> NDArray[np.float64]:
        """What is wanted of each resource of `Layers`, in the order of `Layers.capacity`."""
        if self.known.load is None:
            self.known.load = self._resource_load()
        return self.known.load

    def _resource_load(self) -> NDArray[np.float64]:
        load = np.zeros(len(self.layers.capacity))
        searching(len(self.plane)).load_of(
            self.layers.shape,
            self.ends.columns,
            self.bits_per_second,
            self.plane,
            self.core,
            load,
        )
        return load

    @cached_property
    def certificate(self) -> Certificate:
        """How good the placement is, held against what no placement can beat."""
        return certify(self.fabric, self.bound, self.link_load())

    def moved_from(self, before: "Placement") -> NDArray[np.bool_]:
        """Return by sub-flow whether its path is another; both have the same sub-flows.

        Raises
        ------
        ValueError
            They have not.
        """
        if len(before.plane) != len(self.plane):
            raise ValueError(f"{len(before.plane)} sub-flows became {len(self.plane)}")
        moved: NDArray[np.bool_] = (before.plane != self.plane) | (before.core != self.core)
        return moved


def _directed(
    bundles: Bundles,
    fabric: Fabric,
    resource: NDArray[np.int32],
    used: NDArray[np.bool_],
    bits: NDArray[np.float64],
    *,
    way: int,
) -> NDArray[np.int32]:
    """Return the directed link of each resource; ``NONE`` where it is not used or has no cable."""
    links = np.full(len(resource), NONE, dtype=np.int32)
    wanted = resource[used]
    if bundles.is_single:
        cable = bundles.cable[wanted]
    else:
        cable = searching(len(wanted)).spread(
            wanted.astype(np.int32),
            bits[used],
            bundles.starts,
            bundles.cables,
            np.ascontiguousarray(fabric.capacity[way::2]),
        )
    links[used] = np.where(cable < 0, NONE, 2 * cable + way)
    return links
