"""Sub-flows on their way to a placement."""

from dataclasses import dataclass, field
from typing import Any

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
    capacity: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.capacity = self.layers.capacity

    @property
    def _columns(self) -> tuple[Any, ...]:
        """What every loop of `search` takes of the sub-flows, in its order."""
        return self.layers.shape, self.ends.columns, self.bits, self.plane, self.core

    def relieve(self, order: Ints, load: Floats, *, target: float, most_moves: int) -> int:
        """Move sub-flows off resources busier than ``target``; return how many moved."""
        moved: int = searching(len(order)).relieve(
            order,
            *self._columns,
            load,
            self.capacity,
            target,
            most_moves,
        )
        return moved

    def fill(self, order: Ints, load: Floats, capacity: Floats) -> None:
        """Place sub-flows one after the other where there is most room."""
        searching(len(order)).fill(
            order,
            *self._columns,
            load,
            capacity,
        )

    def fill_cores(self, order: Ints, load: Floats) -> None:
        """Give sub-flows that have a plane the core with most room; without one they lose both."""
        searching(len(order)).fill_cores(
            order,
            *self._columns,
            load,
            self.capacity,
        )

    def strand(self, load: Floats) -> int:
        """Take sub-flows off paths that are dead, with what they load; return how many.

        Where only the way to the core is dead, the plane stays.
        """
        stranded: int = searching(len(self.plane)).strand(
            *self._columns,
            load,
            self.capacity,
        )
        return stranded

    @property
    def is_coreless(self) -> NDArray[np.bool_]:
        """By sub-flow: it has a plane, but lacks the core that it needs."""
        without: NDArray[np.bool_] = (
            (self.plane >= 0) & (self.core < 0) & (self.ends.tail_pod != self.ends.head_pod)
        )
        return without

    def busiest(self, load: Floats) -> float:
        """Return the highest load over capacity."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.max(load / self.capacity, where=load > 0.0, initial=0.0))

    def load(self) -> Floats:
        load = np.zeros(len(self.capacity))
        searching(len(self.plane)).load_of(*self._columns, load)
        return load
