"""Link loads of a fabric as panels: a line for each lower switch, a column for each uplink."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cluster.fabric import Fabric
from pipelines.plan.picture import Panel, Row

_KINDS = {1: "leaf", 2: "spine", 3: "core"}
_DIRECTIONS = ("up", "down")


def rows_of(
    fabric: Fabric, full_capacity: NDArray[np.float64], loads: Mapping[str, NDArray[np.float64]]
) -> tuple[Row, ...]:
    """Return a row for every pair of tiers and direction, with a panel for each title in ``loads``.

    Parameters
    ----------
    full_capacity
        By directed link, before any what-if; a link that lost all of it is shown as down.
    loads
        Bits per second wanted of each directed link, by the panel's title.
    """
    rows = []
    for tier in sorted({int(tier) for tier in fabric.tier[fabric.lower]}):
        grid = _Grid(fabric, tier)
        for way, direction in enumerate(_DIRECTIONS):
            low, high = _KINDS.get(tier, f"tier {tier}"), _KINDS.get(tier + 1, f"tier {tier + 1}")
            ends = f"{low} to {high}" if way == 0 else f"{high} to {low}"
            panels = tuple(
                grid.panel(title, load[way::2], fabric.capacity[way::2], full_capacity[way::2])
                for title, load in loads.items()
            )
            rows.append(Row(heading=f"{direction}: {ends}", panels=panels))
    return tuple(rows)


class _Grid:
    """Where each cable of a tier is drawn."""

    def __init__(self, fabric: Fabric, tier: int) -> None:
        self._cables = np.flatnonzero(fabric.tier[fabric.lower] == tier)
        lower = fabric.lower[self._cables]
        switches, self._line = np.unique(lower, return_inverse=True)
        self._rows = tuple(fabric.switches[int(switch)] for switch in switches)
        order = np.lexsort((fabric.upper[self._cables], self._line))
        first = np.searchsorted(self._line[order], np.arange(len(switches)))
        self._column = np.empty(len(order), dtype=np.int64)
        self._column[order] = np.arange(len(order)) - first[self._line[order]]
        self._columns = self._names(fabric)

    def _names(self, fabric: Fabric) -> tuple[str, ...]:
        """Return the upper switch of a column where all lines have the same, else its number."""
        wide = int(self._column.max(initial=-1)) + 1
        names = []
        for column in range(wide):
            upper = set(fabric.upper[self._cables[self._column == column]].tolist())
            same = len(upper) == 1
            names.append(fabric.switches[upper.pop()] if same else f"uplink {column + 1}")
        return tuple(names)

    def panel(
        self,
        title: str,
        load: NDArray[np.float64],
        capacity: NDArray[np.float64],
        full_capacity: NDArray[np.float64],
    ) -> Panel:
        shape = (len(self._rows), len(self._columns))
        percent, dead = np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
        wanted, room = load[self._cables], capacity[self._cables]
        is_dead = (room <= 0.0) & (full_capacity[self._cables] > 0.0)
        share = np.divide(wanted, room, out=np.zeros(len(wanted)), where=room > 0.0) * 100.0
        percent[self._line, self._column] = share
        dead[self._line, self._column] = is_dead
        alive = share[~is_dead]
        over = int((alive > 100.5).sum())  # noqa: PLR2004 - what is told as 101 %
        note = (
            f"highest {alive.max(initial=0.0):.0f} %, mean "
            f"{alive.mean() if len(alive) else 0.0:.0f} %, "
            f"{over:,} of {len(share):,} links over 100 %"
        )
        return Panel(
            title=title,
            rows=self._rows,
            columns=self._columns,
            percent=percent,
            dead=dead,
            note=note,
        )
