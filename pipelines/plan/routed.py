"""Flows with their paths, whoever chose them: what they load, and what they get."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from actuators.placement import Certificate, Placement
from cluster.arrays import summed
from cluster.fabric import Fabric
from cluster.fairness_paths import placed_rates
from cluster.flows import Flows


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """Sub-flows by column, as in `Placement`; ``flow`` counts within ``flows``."""

    flows: Flows
    flow: NDArray[np.int32]
    bits_per_second: NDArray[np.float64]
    plane: NDArray[np.int32]
    core: NDArray[np.int32]
    links: NDArray[np.int32]
    stranded: NDArray[np.bool_]

    @classmethod
    def of(cls, placement: Placement, first: int, last: int) -> Self:
        """Return the flows from ``first`` up to before ``last`` of a placement."""
        own = (placement.flow >= first) & (placement.flow < last)
        return cls(
            flows=placement.flows.take(slice(first, last)),
            flow=(placement.flow[own] - first).astype(np.int32),
            bits_per_second=placement.bits_per_second[own],
            plane=placement.plane[own],
            core=placement.core[own],
            links=placement.links[own],
            stranded=placement.is_stranded[own],
        )

    @classmethod
    def join(cls, many: Sequence[Self]) -> Self:
        """Return all one after the other; there must be one."""
        before = np.cumsum([0, *(len(one.flows) for one in many)])
        return cls(
            flows=Flows.concatenate([one.flows for one in many]),
            flow=np.concatenate(
                [one.flow + np.int32(skip) for one, skip in zip(many, before, strict=False)]
            ),
            bits_per_second=np.concatenate([one.bits_per_second for one in many]),
            plane=np.concatenate([one.plane for one in many]),
            core=np.concatenate([one.core for one in many]),
            links=np.concatenate([one.links for one in many]),
            stranded=np.concatenate([one.stranded for one in many]),
        )

    def certificate(self, fabric: Fabric) -> Certificate:
        """Return how good all these paths are together."""
        return Placement.of(
            fabric,
            self.flows,
            flow=self.flow,
            bits_per_second=self.bits_per_second,
            plane=self.plane,
            core=self.core,
        ).certificate

    def load(self, fabric: Fabric) -> NDArray[np.float64]:
        """Return bits per second wanted of each directed link."""
        load = np.zeros(fabric.links)
        for hop in self.links.T:
            used = hop >= 0
            load += summed(hop[used], self.bits_per_second[used], len(load))
        return load

    def rates(self, fabric: Fabric) -> NDArray[np.float64]:
        """Return what each flow gets, max-min fair over links and NICs."""
        rates = placed_rates(
            fabric,
            self.flows,
            flow=self.flow,
            bits_per_second=self.bits_per_second,
            links=self.links,
            stranded=self.stranded,
        )
        return summed(self.flow, rates, len(self.flows))
