"""Series as rows of growing arrays: an id per series, and a cached row of ids per layout."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cluster.frame import Layout

Ids = NDArray[np.intp]
Floats = NDArray[np.float64]
Item = TypeVar("Item", bound=np.generic)

_LAYOUTS_KEPT = 10_000


class SeriesIds:
    """Numbers series from 0 on, in the order they are first seen."""

    def __init__(self) -> None:
        self.keys: list[Any] = []
        self._ids: dict[Any, int] = {}
        self._by_layout: dict[int, Ids] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"keys": self.keys}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.keys = state["keys"]
        self._ids = {key: i for i, key in enumerate(self.keys)}
        self._by_layout = {}

    def __len__(self) -> int:
        return len(self.keys)

    def of(self, keys: Sequence[Any]) -> Ids:
        """Return the ids of these series; new ones are numbered."""
        return np.array([self._id(key) for key in keys], dtype=np.intp)

    def of_layout(self, layout: Layout) -> Ids:
        """Return the ids of a layout's columns."""
        ids = self._by_layout.get(layout.layout_id)
        if ids is None:
            if len(self._by_layout) >= _LAYOUTS_KEPT:
                self._by_layout.clear()
            ids = self._by_layout[layout.layout_id] = self.of(layout.columns)
        return ids

    def find(self, key: Any) -> int | None:
        return self._ids.get(key)

    def _id(self, key: Any) -> int:
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self.keys)
            self.keys.append(key)
        return number


class Rows:
    """Rows of arrays that a list of ids names: as a view where the ids follow each other.

    A row is named at most once.
    """

    __slots__ = ("_rows", "_writes_through", "ids")

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self._writes_through = len(ids) > 0 and bool(np.all(np.diff(ids) == 1))
        self._rows: slice | Ids = (
            slice(int(ids[0]), int(ids[-1]) + 1) if self._writes_through else ids
        )

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, array: NDArray[Item]) -> NDArray[Item]:
        """Return the rows of an array, to be given back with `put` when they were changed."""
        return array[self._rows]

    def put(self, array: NDArray[Item], part: NDArray[Item]) -> None:
        """Write rows back that `take` returned."""
        if not self._writes_through:
            array[self._rows] = part


def grown(array: NDArray[Item], size: int, fill: float) -> NDArray[Item]:
    """Return the array with room for `size` rows, doubling as it grows."""
    if len(array) >= size:
        return array
    room = max(size, 2 * len(array), 64)
    larger = np.full((room, *array.shape[1:]), fill, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
