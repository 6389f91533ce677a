"""Jobs as they announced themselves: which rank runs where."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One rank of a job; components of its GPU and NIC, the latter empty where unknown.

    ``data_parallel_group`` is the kind of work that it shares with the other members (its stage),
    ``pipeline`` whose data it works on (its replica of the model); -1 = not told.
    """

    rank: int
    gpu: str
    nic: str = ""
    data_parallel_group: int = 0
    pipeline: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job's placement; ``component`` is ``job/<job_id>``.

    Attributes
    ----------
    source_ports
        Of its connections, rank by rank: what chooses their paths.
    """

    component: str
    ranks: tuple[Rank, ...] = field(default=())
    source_ports: tuple[int, ...] = ()

    @property
    def gpus(self) -> tuple[str, ...]:
        return tuple(rank.gpu for rank in self.ranks)
