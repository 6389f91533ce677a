"""Jobs as they announced themselves: which rank runs where."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One rank of a job; components of its GPU and NIC, the latter empty where unknown."""

    rank: int
    gpu: str
    nic: str = ""
    data_parallel_group: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job's placement; ``component`` is ``job/<job_id>``."""

    component: str
    ranks: tuple[Rank, ...] = field(default=())

    @property
    def gpus(self) -> tuple[str, ...]:
        return tuple(rank.gpu for rank in self.ranks)
