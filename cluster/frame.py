"""The samples one source delivered at once, by column."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class SeriesKey(NamedTuple):
    """Identity of a series.

    ``attributes`` is further identity as sorted ``name="value"`` pairs joined by commas, often
    empty.
    """

    component: str
    metric: str
    attributes: str = ""


def format_attributes(pairs: dict[str, str]) -> str:
    r"""Return label pairs in the one form that identifies a series.

    Empty values are left out: an empty label equals a missing one.

    Examples
    --------
    >>> format_attributes({"queue": "3", "le": "0.1", "pod": ""})
    'le="0.1",queue="3"'
    """
    return ",".join(f'{name}="{_escape(value)}"' for name, value in sorted(pairs.items()) if value)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@dataclass(frozen=True)
class Layout:
    """The columns of a frame, in order."""

    columns: tuple[SeriesKey, ...]

    @cached_property
    def layout_id(self) -> int:
        """64-bit hash of the columns: equal columns have the equal id in every process."""
        digest = hashlib.blake2b(digest_size=8)
        for column in self.columns:
            for part in column:
                digest.update(part.encode())
                digest.update(b"\xff")
        return int.from_bytes(digest.digest(), "little")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The samples one source delivered at once.

    Attributes
    ----------
    source
        Component that delivered: ``switch/leaf1``, ``host/h1``, ``engine/chat-0``,
        ``job/pretrain``.
    time_ns
        Device time per row, int64, shape (rows,); rows may be out of order.
    values
        float64, shape (rows, columns); NaN = not sampled, every other value is finite.
    received_ns
        Collector's clock.
    ended_columns
        Columns whose series the source deleted.
    """

    source: str
    cell: str
    layout: Layout
    time_ns: NDArray[np.int64]
    values: NDArray[np.float64]
    received_ns: int
    collector: str = ""
    sequence: int = 0
    ended_columns: tuple[int, ...] = ()

    @property
    def samples(self) -> int:
        """Number of readings: what is not NaN."""
        return int(np.count_nonzero(~np.isnan(self.values)))
