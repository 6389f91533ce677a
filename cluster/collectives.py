"""Who sends how much to whom in a collective."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Algorithms by kind, the usual one first.
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "all_reduce": ("ring", "tree", "direct"),
    "all_gather": ("ring", "direct"),
    "reduce_scatter": ("ring", "direct"),
    "broadcast": ("ring", "tree"),
    "all_to_all": ("direct",),
    "send_recv": ("direct", "pipeline"),
    "parameter_server": ("direct",),
}


class Sends(NamedTuple):
    """Places in the collective's order of ranks, and bytes a period, by column."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    bytes: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collective:
    """What a job does again and again, and what it takes from the network.

    Attributes
    ----------
    algorithm
        Empty: the kind's usual one, the first in `KINDS`.
    bytes
        What a rank sends in a period. Of a tree the mean over the ranks; of a pipeline each way;
        of a parameter server what a worker pushes, and it pulls as much.
    period_seconds
        0: it never pauses.
    phase_seconds
        When in the period it starts.
    duration_seconds
        How long it is meant to take; 0: as short as the NICs allow.
    ranks
        In ring, tree or stage order, a broadcast's root first; empty: all of the job's.
    servers
        Which of the ranks hold a parameter server's parameters.
    """

    kind: str
    algorithm: str = ""
    bytes: float
    period_seconds: float = 0.0
    phase_seconds: float = 0.0
    duration_seconds: float = 0.0
    ranks: tuple[int, ...] = ()
    servers: tuple[int, ...] = ()

    def faults(self, known: Collection[int]) -> Iterator[str]:
        """Yield every reason why it cannot be used; ``known`` are the job's ranks."""
        yield from self._bad_kind()
        yield from self._bad_ranks(known)
        for name in ("bytes", "period_seconds", "phase_seconds", "duration_seconds"):
            value = getattr(self, name)
            if not 0.0 <= value < float("inf"):
                yield f"collective {self.kind!r}: {name} is {value!r}"
        if self.phase_seconds > 0.0 and self.phase_seconds >= self.period_seconds:
            yield (
                f"collective {self.kind!r}: phase_seconds is {self.phase_seconds:g}, "
                f"not within the period of {self.period_seconds:g}"
            )

    def _bad_kind(self) -> Iterator[str]:
        algorithms = KINDS.get(self.kind)
        if algorithms is None:
            yield f"collective kind is {self.kind!r}, not one of {sorted(KINDS)}"
        elif self.algorithm and self.algorithm not in algorithms:
            yield (
                f"collective {self.kind!r}: algorithm is {self.algorithm!r}, "
                f"not one of {sorted(algorithms)}"
            )

    def _bad_ranks(self, known: Collection[int]) -> Iterator[str]:
        unknown = sorted(set(self.ranks) - set(known))
        if unknown:
            yield f"collective {self.kind!r} names ranks {unknown} that are not announced"
        if len(set(self.ranks)) < len(self.ranks):
            yield f"collective {self.kind!r} names a rank twice"
        if self.kind != "parameter_server":
            if self.servers:
                yield f"collective {self.kind!r} has servers, only parameter_server may"
            return
        members = set(self.ranks or known)
        strangers = sorted(set(self.servers) - members)
        if strangers:
            yield f"collective {self.kind!r} names servers {strangers} that are not its ranks"
        if not self.servers or members <= set(self.servers):
            yield f"collective {self.kind!r} needs servers, and workers beside them"


def sends(collective: Collective, ranks: tuple[int, ...]) -> Sends:
    """Return what a collective without faults sends; places are indices into ``ranks``."""
    if collective.kind == "parameter_server":
        return _served(collective, ranks)
    algorithm = collective.algorithm or KINDS[collective.kind][0]
    return _PATTERNS[collective.kind, algorithm](len(ranks), collective.bytes)


def _ring(ranks: int, each: float) -> Sends:
    if ranks <= 1:
        return _chain(ranks, each)
    source = np.arange(ranks)
    return Sends(source, (source + 1) % ranks, np.full(ranks, each))


def _chain(ranks: int, each: float) -> Sends:
    source = np.arange(max(ranks - 1, 0))
    return Sends(source, source + 1, np.full(len(source), each))


def _there_and_back(ranks: int, each: float) -> Sends:
    return _both_ways(_chain(ranks, each))


def _everybody(ranks: int, each: float) -> Sends:
    source, target = np.nonzero(~np.eye(ranks, dtype=bool))
    return Sends(source, target, np.full(len(source), each / max(ranks - 1, 1)))


def _tree(ranks: int, each: float) -> Sends:
    """Return a broadcast's traffic: the whole data over each edge of one tree."""
    parents = _parents(ranks)
    child = np.flatnonzero(parents >= 0)
    return Sends(parents[child], child, np.full(len(child), each))


def _double_tree(ranks: int, each: float) -> Sends:
    """Return an all-reduce's traffic: half of the data up and down either of two trees.

    The second is the first one shifted or mirrored, so that a leaf here is an inner node there.
    Together the ranks send what a ring's would.
    """
    if ranks <= 1:
        return _chain(ranks, each)
    first = _tree(ranks, each * ranks / (4 * (ranks - 1)))
    if ranks % 2:
        source, target = ((end + 1) % ranks for end in first[:2])
    else:
        source, target = (ranks - 1 - end for end in first[:2])
    down = Sends(
        np.concatenate((first.source, source)),
        np.concatenate((first.target, target)),
        np.tile(first.bytes, 2),
    )
    return _both_ways(down)


def _parents(ranks: int) -> NDArray[np.int64]:
    """Return each rank's parent in a binary tree whose leaves are the odd ranks; -1 = root."""
    rank = np.arange(ranks)
    bit = rank & -rank
    up = (rank ^ bit) | (bit << 1)
    parents = np.where(up >= ranks, rank ^ bit, up)
    parents[:1] = -1
    return parents


def _served(collective: Collective, ranks: tuple[int, ...]) -> Sends:
    serving = np.isin(np.array(ranks), np.array(collective.servers))
    servers, workers = np.flatnonzero(serving), np.flatnonzero(~serving)
    source, target = np.repeat(workers, len(servers)), np.tile(servers, len(workers))
    share = collective.bytes / max(len(servers), 1)
    return _both_ways(Sends(source, target, np.full(len(source), share)))


def _both_ways(there: Sends) -> Sends:
    return Sends(
        np.concatenate((there.source, there.target)),
        np.concatenate((there.target, there.source)),
        np.tile(there.bytes, 2),
    )


_PATTERNS: Final[dict[tuple[str, str], Callable[[int, float], Sends]]] = {
    ("all_reduce", "ring"): _ring,
    ("all_reduce", "tree"): _double_tree,
    ("all_reduce", "direct"): _everybody,
    ("all_gather", "ring"): _ring,
    ("all_gather", "direct"): _everybody,
    ("reduce_scatter", "ring"): _ring,
    ("reduce_scatter", "direct"): _everybody,
    ("broadcast", "ring"): _chain,
    ("broadcast", "tree"): _tree,
    ("all_to_all", "direct"): _everybody,
    ("send_recv", "direct"): _chain,
    ("send_recv", "pipeline"): _there_and_back,
}
