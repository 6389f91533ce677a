"""Jobs that are announced now, and link loads measured last, as the database holds them."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from google.protobuf.message import DecodeError as ProtobufError
from numpy.typing import NDArray

from cluster.component import name_of
from cluster.fabric import Fabric
from cluster.topology import Topology
from cluster.traffic import Job
from pipelines.facts import Database
from pipelines.messages.jobs import collective_of
from pipelines.plan.job_file import nic_of
from pipelines.wire import jobs_pb2

_JOBS: Final = """
SELECT base64Encode(argMax(message, at)) AS newest
FROM jobs GROUP BY job_id HAVING argMax(event, at) != 'left' ORDER BY job_id
"""
# The newest reading is the present: a replay, and a simulation that runs fast, have their own.
_LOADS: Final = """
SELECT component, toString(avg(rate_per_second) * 8)
FROM counter_rates(metric = 'net_if_out_octets_total')
WHERE time > (SELECT max(time) FROM samples WHERE metric = 'net_if_out_octets_total')
             - toIntervalSecond({seconds:UInt32})
GROUP BY component
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """Jobs that can be placed, and one line for each that cannot."""

    jobs: tuple[Job, ...]
    left_out: tuple[str, ...]


def announced_jobs(database: Database, topology: Topology) -> Announced:
    """Return every job that has joined and not left."""
    jobs, left_out = [], []
    for (encoded,) in database.query(_JOBS, parameters={}).result_rows:
        try:
            event = jobs_pb2.JobEvent.FromString(base64.b64decode(encoded))
        except ProtobufError:
            left_out.append("a job's row holds no announcement")
            continue
        job = job_of(event.announcement, topology)
        fault = _fault(job, event.announcement, topology)
        if fault:
            left_out.append(f"job {job.job_id!r} is left out: {fault}")
        else:
            jobs.append(job)
    return Announced(jobs=tuple(jobs), left_out=tuple(left_out))


def job_of(announcement: jobs_pb2.JobAnnouncement, topology: Topology) -> Job:
    """Return an announced job; ranks without a known NIC are left out."""
    nics = {rank.rank: nic_of(rank.nic, rank.gpu, topology) for rank in announcement.ranks}
    return Job(
        job_id=announcement.job_id,
        nics={rank: nic for rank, nic in nics.items() if nic},
        collectives=tuple(collective_of(message) for message in announcement.collectives),
        priority=announcement.priority,
    )


def _fault(job: Job, announcement: jobs_pb2.JobAnnouncement, topology: Topology) -> str:
    lost = [rank.rank for rank in announcement.ranks if rank.rank not in job.nics]
    if lost:
        return f"ranks {lost[:5]} have no NIC in the topology"
    loose = [nic for nic in job.nics.values() if nic not in topology.links_by_port]
    if loose:
        return f"the topology has no link at {loose[0]!r}"
    return next((fault for c in job.collectives for fault in c.faults(job.nics)), "")


def measured_load(
    database: Database, topology: Topology, fabric: Fabric, *, seconds: int
) -> NDArray[np.float64]:
    """Return bits per second by directed link, a mean over the last seconds; NaN = not measured."""
    rows = database.query(_LOADS, parameters={"seconds": seconds}).result_rows
    return loads_of({component: float(rate) for component, rate in rows}, topology, fabric)


def loads_of(sent: Mapping[str, float], topology: Topology, fabric: Fabric) -> NDArray[np.float64]:
    """Return the load of each directed link from what each port sends, ``port/leaf1:e49``."""
    load = np.full(2 * len(fabric.cables), np.nan)
    for n, cable in enumerate(fabric.cables):
        lower = name_of(cable)
        upper = topology.links_by_port[lower].upper
        load[2 * n] = sent.get(f"port/{lower}", np.nan)
        load[2 * n + 1] = sent.get(f"port/{upper}", np.nan)
    return load
