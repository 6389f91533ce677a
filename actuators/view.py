"""What the planners know of the cluster: topology, jobs, and levels of a few series."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from actuators.readings import Reading, Readings
from cluster.collectives import Collective
from cluster.frame import SeriesKey
from cluster.topology import Topology

# Newest levels are enough of these; of the objectives the whole recent past is kept.
WATCHED = frozenset(
    {
        "net_if_out_octets_total",
        "train_rank_compute_seconds",
        "train_rank_micro_batches",
        "llm_requests_running",
        "llm_requests_waiting",
        "llm_prefill_inflight_queue_requests",
        "llm_decode_prealloc_queue_requests",
        "llm_decode_transfer_queue_requests",
        "llm_kv_cache_usage_ratio",
        "llm_preemptions_total",
        "llm_requests_finished_total",
    }
)
REMEMBERED = frozenset({"train_step_seconds", "train_communication_seconds"})
_LEVEL_READINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A rank's connection to a peer, whose source port can be chosen; 0 = as the host picks."""

    peer: int
    source_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One rank of a job.

    Attributes
    ----------
    group
        The ranks that can do each other's micro-batches share it.
    nic
        Where its traffic leaves, ``host:device``; empty when it was not announced.
    connections
        Those whose source ports can be chosen; several to one peer share its traffic evenly.
    """

    rank: int
    gpu: str
    micro_batches: int
    group: int = 0
    nic: str = ""
    connections: tuple[Connection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that joined the information channel; ``component`` is ``job/<id>``."""

    component: str
    ranks: tuple[Rank, ...]
    cell: str = ""
    collectives: tuple[Collective, ...] = ()
    priority: int = 0


@dataclass(slots=True)
class Levels:
    """Readings by series, of the series that planning needs."""

    _readings: dict[SeriesKey, Readings] = field(default_factory=dict)

    def note(self, key: SeriesKey, readings: Iterable[Reading]) -> None:
        if key not in self._readings:
            kept = 4096 if key.metric in REMEMBERED else _LEVEL_READINGS
            self._readings[key] = Readings(kept)
        for reading in readings:
            self._readings[key].append(reading)

    def remembered(self, last: int) -> dict[SeriesKey, list[Reading]]:
        """Return the last readings of each series that is kept for longer than its level."""
        return {
            key: list(readings)[-last:]
            for key, readings in self._readings.items()
            if key.metric in REMEMBERED
        }

    def forget(self, key: SeriesKey) -> None:
        self._readings.pop(key, None)

    def readings(self, component: str, metric: str) -> Readings:
        """Return the readings of a series without attributes; empty when there are none."""
        return self._readings.get(SeriesKey(component, metric), Readings(1))

    def level(self, component: str, metric: str) -> float | None:
        """Return the level of a component's metric, summed over its series."""
        levels = [r.level() for r in self._of(component, metric)]
        known = [level for level in levels if level is not None]
        return sum(known) if known else None

    def rate(self, component: str, metric: str) -> float | None:
        """Return the rate of a component's counter, summed over its series."""
        rates = [r.rate() for r in self._of(component, metric)]
        known = [rate for rate in rates if rate is not None]
        return sum(known) if known else None

    def by_rank(self, job: Job, metric: str) -> dict[int, float]:
        """Return the level by rank, whether the series is the job's or its GPUs' own."""
        found = {}
        for rank in job.ranks:
            for key in (
                SeriesKey(job.component, metric, f'rank="{rank.rank}"'),
                SeriesKey(rank.gpu, metric, f'rank="{rank.rank}"'),
                SeriesKey(rank.gpu, metric),
            ):
                level = self._readings[key].level() if key in self._readings else None
                if level is not None:
                    found[rank.rank] = level
                    break
        return found

    def _of(self, component: str, metric: str) -> list[Readings]:
        return [
            readings
            for key, readings in self._readings.items()
            if key.component == component and key.metric == metric
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The cluster as planning sees it."""

    topology: Topology
    jobs: Mapping[str, Job]
    levels: Levels

    def job_of_gpu(self, gpu: str) -> Job | None:
        """Return the job that runs on a GPU, as jobs announced it."""
        for job in self.jobs.values():
            if any(rank.gpu == gpu for rank in job.ranks):
                return job
        return None

    def engine_of_gpu(self, gpu: str) -> str | None:
        """Return the inference engine that runs on a GPU."""
        for service in self.topology.services:
            for engine in service.engines:
                if gpu in engine.gpus:
                    return engine.component
        return None

    def service_of(self, component: str) -> str | None:
        """Return the service's component of a service, pool or engine."""
        kind, _, name = component.partition("/")
        if kind in {"service", "pool"}:
            return f"service/{name.rpartition(':')[0] if kind == 'pool' else name}"
        service = self.topology.service_of_engine.get(component)
        return None if service is None else service.component
