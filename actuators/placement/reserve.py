"""Planes that are kept for what cannot be steered.

Nobody knows where a hash sends a flow, only among which ways it chooses. So hashed flows choose
among the last planes only, as many as their share of all traffic, and what they may be expected to
send there is in the way of what can be steered: it uses these planes where little is expected.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actuators.placement.hashing import hashed
from actuators.placement.layers import Ends, Layers
from cluster.arrays import summed

_HASH_VALUES = 2**31 - 1

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserve:
    """What is kept: the planes that the sub-flows ``rows`` are hashed onto."""

    planes: Ints
    rows: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        layers: Layers,
        ends: Ends,
        bits: Floats,
        free: NDArray[np.bool_],
    ) -> "Reserve":
        """Return what is kept where only the sub-flows ``free`` can be steered.

        Where none can be, all planes may be used.
        """
        low = layers.low.capacity.reshape(2 * layers.leaves, layers.planes)
        planes = np.flatnonzero((low > 0.0).any(axis=0)).astype(np.int32)
        apart = ends.tail != ends.head
        rows = np.flatnonzero(apart & ~free)
        sent, all_sent = float(bits[rows].sum()), float(bits[apart].sum())
        if 0.0 < sent < all_sent and len(planes) > 1:
            kept = int(np.clip(np.ceil(sent / all_sent * len(planes)), 1, len(planes) - 1))
            planes = planes[-kept:]
        return cls(planes=planes, rows=rows)

    def without(self, planes: Ints) -> Ints:
        """Return the planes that nothing is hashed onto; all where there are no others."""
        if not len(self.rows):
            return planes
        others = planes[~np.isin(planes, self.planes)]
        return others if len(others) else planes

    def hash_rows(self, layers: Layers, ends: Ends, seed: int) -> tuple[Ints, Ints]:
        """Return a plane and a core for each row, by a hash that stands for the switches'."""
        none = np.full(len(self.rows), -1, dtype=np.int32)
        if not len(self.planes):
            return none, none
        plane = self.planes[hashed(self.rows, seed, _HASH_VALUES) % len(self.planes)]
        if not layers.cores:
            return plane, none
        across = ends.tail_pod[self.rows] != ends.head_pod[self.rows]
        return plane, np.where(across, hashed(self.rows, seed + 1, layers.cores), none)

    def expected_load(self, layers: Layers, ends: Ends, bits: Floats) -> Floats:
        """Return what the rows are expected to load each resource with: all ways alike."""
        low, high = layers.leaves * layers.planes, layers.pods * layers.planes * layers.cores
        load = np.zeros(2 * (low + high))
        if not len(self.rows) or not len(self.planes):
            return load
        own, sent = ends.take(self.rows), bits[self.rows]
        ways = [(own.tail, layers.leaves, 0, low), (own.head, layers.leaves, low, 2 * low)]
        for node, nodes, begin, end in ways:
            of_plane = load[begin:end].reshape(nodes, layers.planes)
            of_plane[:, self.planes] = summed(node, sent, nodes)[:, None] / len(self.planes)
        if layers.cores:
            sent = np.where(own.tail_pod != own.head_pod, sent, 0.0)
            each = sent / (len(self.planes) * layers.cores)
            for n, pod in enumerate((own.tail_pod, own.head_pod)):
                begin = 2 * low + n * high
                of_core = load[begin : begin + high].reshape(layers.pods, layers.planes, -1)
                of_core[:, self.planes] = summed(pod, each, layers.pods)[:, None, None]
        return load
