"""Where a plan's topology and jobs come from: files, an example, or the running deployment."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from cluster.fabric import Fabric
from cluster.gravity import estimate, flows_of
from cluster.topology import Topology
from cluster.traffic import Job, Phase
from pipelines.config.load import read_as
from pipelines.errors import ConfigError
from pipelines.plan.deployed import announced_jobs, measured_load
from pipelines.plan.examples import EXAMPLES
from pipelines.plan.job_file import jobs_of, read_jobs

if TYPE_CHECKING:
    from pipelines.facts import Database

MEASURED: Final = "measured traffic"
_SECONDS: Final = 60
_FITS: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is planned.

    Attributes
    ----------
    measured
        Traffic that nobody announced, estimated from counters.
    """

    name: str
    about: str
    topology: Topology
    jobs: tuple[Job, ...] = ()
    measured: Phase | None = None
    notes: tuple[str, ...] = ()


def from_example(name: str, more: Sequence[Path]) -> Source:
    """Return an example, with the jobs of some files beside its own.

    Raises
    ------
    ConfigError
        There is no such example, or a file cannot be used.
    """
    make = EXAMPLES.get(name)
    if make is None:
        raise ConfigError(f"--example: is {name!r}, not one of {', '.join(sorted(EXAMPLES))}")
    example = make()
    jobs = jobs_of(example.jobs, example.topology)
    return Source(
        name=name,
        about=example.about,
        topology=example.topology,
        jobs=_checked([*jobs, *_read(more, example.topology)]),
    )


def from_files(topology_path: Path, jobs: Sequence[Path]) -> Source:
    """Return what files say; raises `ConfigError`."""
    topology = read_as(Topology, topology_path)
    return Source(
        name=topology_path.name,
        about=", ".join(path.name for path in jobs),
        topology=topology,
        jobs=_checked(_read(jobs, topology)),
    )


def from_deployment(
    name: str, topology: Topology, database: "Database", more: Sequence[Path]
) -> Source:
    """Return the jobs that are announced now; where there are none, the traffic that is measured.

    Raises
    ------
    ConfigError
        Nothing is announced and nothing measured, or a file cannot be used.
    """
    announced = announced_jobs(database, topology)
    jobs = _checked([*announced.jobs, *_read(more, topology)])
    if jobs:
        return Source(
            name=name,
            about="the jobs announced now",
            topology=topology,
            jobs=jobs,
            notes=announced.left_out,
        )
    measured, notes = _measured(topology, database)
    return Source(
        name=name,
        about=f"traffic measured over {_SECONDS} s",
        topology=topology,
        measured=measured,
        notes=(*announced.left_out, *notes),
    )


def _measured(topology: Topology, database: "Database") -> tuple[Phase, tuple[str, ...]]:
    fabric = Fabric.of(topology)
    load = measured_load(database, topology, fabric, seconds=_SECONDS)
    blind = int(np.isnan(load).sum())
    if blind == len(load):
        raise ConfigError(
            "nothing to plan: no job is announced, and no counter of a port between switches "
            f"moved in the last {_SECONDS} s"
        )
    learned = estimate(fabric, np.nan_to_num(load))
    notes = [
        "no job is announced: who sends to whom is estimated from port counters (gravity model); "
        "flow records are not collected, so pairs may differ where traffic is not spread"
    ]
    if blind:
        notes.append(f"{blind} of {len(load)} directed links are not measured, and taken as idle")
    if learned.misfit_ratio > _FITS:
        notes.append(
            f"the counters do not fit together: off by {learned.misfit_ratio:.0%} of the largest"
        )
    flows = flows_of(fabric, learned.bits_per_second)
    phase = Phase(
        job=-1,
        job_id=MEASURED,
        period_seconds=0.0,
        start_seconds=0.0,
        duration_seconds=0.0,
        collectives=(),
        flows=flows,
    )
    return phase, tuple(notes)


def _read(paths: Sequence[Path], topology: Topology) -> list[Job]:
    return [job for path in paths for job in read_jobs(path, topology)]


def _checked(jobs: Sequence[Job]) -> tuple[Job, ...]:
    seen: set[str] = set()
    for job in jobs:
        if job.job_id in seen:
            raise ConfigError(f"job {job.job_id!r} is there twice; job_id tells jobs apart")
        seen.add(job.job_id)
    return tuple(jobs)
