"""Flows by column: who sends how fast to whom."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Flows, one a row; every column has the shape (flows,).

    Attributes
    ----------
    source, target
        Endpoints of a fabric, by number.
    bits_per_second
        What each wants to send.
    priority
        Larger is more important.
    job
        Number of the job that sends it.
    steerable
        Its path can be chosen; the others are hashed.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    bits_per_second: NDArray[np.float64]
    priority: NDArray[np.int16]
    job: NDArray[np.int32]
    steerable: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        source: Any,
        target: Any,
        bits_per_second: Any = 1.0,
        *,
        priority: Any = 0,
        job: Any = 0,
        steerable: Any = True,
    ) -> Self:
        """Return flows from columns or single values that hold for all.

        Raises
        ------
        ValueError
            Columns differ in length, or a rate is negative or not finite.
        """
        count = len(np.asarray(source))

        def column(values: Any, kind: Any) -> NDArray[Any]:
            return np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype=kind), (count,)))

        rates = column(bits_per_second, np.float64)
        if not (np.isfinite(rates) & (rates >= 0.0)).all():
            raise ValueError("flows have rates that are negative or not finite")
        return cls(
            source=column(source, np.int32),
            target=column(target, np.int32),
            bits_per_second=rates,
            priority=column(priority, np.int16),
            job=column(job, np.int32),
            steerable=column(steerable, np.bool_),
        )

    @classmethod
    def concatenate(cls, many: Iterable[Self]) -> Self:
        """Return all flows one after the other; none of nothing."""
        parts = list(many)
        if not parts:
            return cls.of([], [], [])
        return cls(
            **{f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)}
        )

    def __len__(self) -> int:
        return len(self.source)

    def take(self, rows: Any) -> Self:
        """Return some of the flows, by number or by mask."""
        return type(self)(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})
