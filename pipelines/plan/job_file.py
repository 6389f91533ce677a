"""Jobs in a file: what they would announce over the job channel, written by hand."""

from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, field_validator

from cluster import component
from cluster.collectives import KINDS, Collective
from cluster.config import Config
from cluster.topology import Topology
from cluster.traffic import Job
from pipelines.config.load import read_as
from pipelines.errors import ConfigError


class RankConfig(Config):
    """A rank, and the NIC it sends through: named, or the one of its GPU in the topology."""

    rank: NonNegativeInt
    nic: str = Field(default="", description="nic/<host>:<device>")
    gpu: str = Field(default="", description="gpu/<host>:<uuid>")


class CollectiveConfig(Config):
    """A collective as it is announced; see docs/placement.md for what `bytes` counts.

    Attributes
    ----------
    ranks
        In ring, tree or stage order; none = all of the job's.
    stride
        Instead of `ranks`: one collective for each remainder, ranks 0, 8, 16 ... and 1, 9, 17 ...
        for a stride of 8; what GPUs with one number in their hosts do on rails.
    block
        Instead of `ranks`: one collective for each so many ranks in a row, as groups of experts.
    """

    kind: str
    algorithm: str = ""
    bytes: NonNegativeFloat
    period_seconds: NonNegativeFloat = 0.0
    phase_seconds: NonNegativeFloat = 0.0
    duration_seconds: NonNegativeFloat = 0.0
    ranks: tuple[NonNegativeInt, ...] = ()
    servers: tuple[NonNegativeInt, ...] = ()
    stride: PositiveInt | None = None
    block: PositiveInt | None = None

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(f"is {kind!r}, not one of {sorted(KINDS)}")
        return kind

    def groups(self, ranks: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the ranks of each collective this stands for."""
        if self.stride is not None:
            return [ranks[first :: self.stride] for first in range(min(self.stride, len(ranks)))]
        if self.block is not None:
            return [ranks[n : n + self.block] for n in range(0, len(ranks), self.block)]
        return [self.ranks or ranks]


class JobConfig(Config):
    """A job: where it runs and what its ranks exchange.

    Attributes
    ----------
    hosts
        Instead of `ranks`: a rank for every NIC of these hosts, host by host.
    steerable
        False where its hosts cannot choose the paths of their connections.
    """

    job_id: str = Field(min_length=1)
    cell: str = ""
    kind: Literal["training", "inference"] = "training"
    priority: NonNegativeInt = 0
    hosts: tuple[str, ...] = ()
    ranks: tuple[RankConfig, ...] = ()
    steerable: bool = True
    collectives: tuple[CollectiveConfig, ...] = ()


class JobFile(Config):
    jobs: tuple[JobConfig, ...]

    @field_validator("jobs")
    @classmethod
    def _are_some(cls, jobs: tuple[JobConfig, ...]) -> tuple[JobConfig, ...]:
        if not jobs:  # said here, so that a job that is wrong is told alone
            raise ValueError("there is no job")
        return jobs


def read_jobs(path: Path, topology: Topology) -> list[Job]:
    """Return the jobs in a TOML or JSON file.

    Raises
    ------
    ConfigError
        The file, with its key and what is allowed.
    """
    written = read_as(JobFile, path)
    return [_job(f"{path}: jobs.{n}", job, topology) for n, job in enumerate(written.jobs)]


def jobs_of(written: JobFile, topology: Topology) -> list[Job]:
    """Return the jobs of a file that is no file; raises as `read_jobs`."""
    return [_job(f"jobs.{n}", job, topology) for n, job in enumerate(written.jobs)]


def _job(where: str, written: JobConfig, topology: Topology) -> Job:
    nics = _nics(where, written, topology)
    ranks = tuple(sorted(nics))
    collectives = []
    for n, told in enumerate(written.collectives):
        given = [name for name in ("ranks", "stride", "block") if getattr(told, name)]
        if len(given) > 1:
            raise ConfigError(f"{where}.collectives.{n}: has {' and '.join(given)}, at most one")
        for group in told.groups(ranks):
            collective = _collective(told, group)
            for fault in collective.faults(nics):
                raise ConfigError(f"{where}.collectives.{n}: {fault}")
            collectives.append(collective)
    return Job(
        job_id=written.job_id,
        nics=nics,
        collectives=tuple(collectives),
        priority=written.priority,
        is_steerable=written.steerable,
    )


def _collective(told: CollectiveConfig, ranks: tuple[int, ...]) -> Collective:
    return Collective(
        kind=told.kind,
        algorithm=told.algorithm,
        bytes=told.bytes,
        period_seconds=told.period_seconds,
        phase_seconds=told.phase_seconds,
        duration_seconds=told.duration_seconds,
        ranks=ranks,
        servers=told.servers,
    )


def _nics(where: str, written: JobConfig, topology: Topology) -> dict[int, str]:
    if bool(written.hosts) == bool(written.ranks):
        found = "both hosts and ranks" if written.hosts else "neither hosts nor ranks"
        raise ConfigError(f"{where}: has {found}, one of them is needed")
    if written.ranks:
        return _named(where, written.ranks, topology)
    of_host = nics_by_host(topology)
    unknown = [host for host in written.hosts if host not in of_host]
    if unknown:
        raise ConfigError(
            f"{where}.hosts: {unknown[0]!r} has no link in the topology, "
            f"{len(of_host)} hosts do: {_some(of_host)}"
        )
    return dict(enumerate(nic for host in written.hosts for nic in of_host[host]))


def _named(where: str, ranks: tuple[RankConfig, ...], topology: Topology) -> dict[int, str]:
    nics: dict[int, str] = {}
    for n, rank in enumerate(ranks):
        if rank.rank in nics:
            raise ConfigError(f"{where}.ranks.{n}.rank: {rank.rank} is there twice")
        nic = nic_of(rank.nic, rank.gpu, topology)
        if not nic:
            raise ConfigError(
                f"{where}.ranks.{n}: has no NIC: nic is {rank.nic!r}, not nic/<host>:<device>, "
                f"and gpu {rank.gpu!r} has none in the topology"
            )
        if nic not in topology.links_by_port:
            raise ConfigError(
                f"{where}.ranks.{n}.nic: the topology has no link at {nic!r}, "
                f"it has {_some(nics_by_host(topology))}"
            )
        nics[rank.rank] = nic
    return nics


def nic_of(nic: str, gpu: str, topology: Topology) -> str:
    """Return ``host:device`` of a rank: its announced NIC, else its GPU's; empty if unknown."""
    if component.kind_of(nic) == "nic":
        return component.name_of(nic)
    known = topology.gpu_by_component.get(gpu)
    return known.nic if known is not None else ""


def nics_by_host(topology: Topology) -> dict[str, list[str]]:
    """Return the NICs that are plugged in, by host, in the order of the topology's links."""
    hosts = {host.name for host in topology.hosts}
    found: dict[str, list[str]] = {}
    for link in topology.links:
        host = link.lower.partition(":")[0]
        if host in hosts:
            found.setdefault(host, []).append(link.lower)
    return found


def _some(names: dict[str, list[str]]) -> str:
    shown = list(names)[:8]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")
