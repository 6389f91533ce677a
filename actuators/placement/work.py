"""Sub-flows on their way to a placement."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actuators.placement.kernels import searching
from actuators.placement.layers import Ends, Layers

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(slots=True, kw_only=True)
class Work:
    """Sub-flows on their way to a placement; plane and core are written to."""

    layers: Layers
    ends: Ends
    bits: Floats
    plane: Ints
    core: Ints

    def relieve(self, order: Ints, load: Floats, *, target: float, most_moves: int) -> int:
        """Move sub-flows off resources busier than ``target``; return how many moved."""
        moved: int = searching(len(order)).relieve(
            order,
            self.layers.shape,
            self.ends.columns,
            self.bits,
            self.plane,
            self.core,
            load,
            self.layers.capacity,
            target,
            most_moves,
        )
        return moved

    def fill(self, order: Ints, load: Floats, capacity: Floats) -> None:
        """Place sub-flows one after the other where there is most room."""
        searching(len(order)).fill(
            order,
            self.layers.shape,
            self.ends.columns,
            self.bits,
            self.plane,
            self.core,
            load,
            capacity,
        )

    def strand(self, load: Floats) -> int:
        """Take sub-flows off paths that are dead, with what they load; return how many."""
        stranded: int = searching(len(self.plane)).strand(
            self.layers.shape,
            self.ends.columns,
            self.bits,
            self.plane,
            self.core,
            load,
            self.layers.capacity,
        )
        return stranded

    def load(self) -> Floats:
        load = np.zeros(len(self.layers.capacity))
        searching(len(self.plane)).load_of(
            self.layers.shape, self.ends.columns, self.bits, self.plane, self.core, load
        )
        return load
