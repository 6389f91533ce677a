"""What a job announced, as the cluster's and the planners' own records."""

from actuators.view import Connection, Job, Rank
from cluster import component as names
from cluster.collectives import Collective
from pipelines.wire import jobs_pb2


def job_of(event: jobs_pb2.JobEvent) -> Job:
    told = event.announcement
    return Job(
        component=f"job/{event.job_id}",
        ranks=tuple(_rank_of(rank) for rank in told.ranks),
        cell=event.cell,
        collectives=tuple(collective_of(collective) for collective in told.collectives),
        priority=told.priority,
    )


def collective_of(message: jobs_pb2.Collective) -> Collective:
    return Collective(
        kind=message.kind,
        algorithm=message.algorithm,
        bytes=message.bytes,
        period_seconds=message.period_seconds,
        phase_seconds=message.phase_seconds,
        duration_seconds=message.duration_seconds,
        ranks=tuple(message.ranks),
        servers=tuple(message.servers),
    )


def _rank_of(message: jobs_pb2.Rank) -> Rank:
    return Rank(
        rank=message.rank,
        gpu=message.gpu,
        micro_batches=message.micro_batches,
        group=message.data_parallel_group,
        nic=names.name_of(message.nic) if message.nic else "",
        connections=tuple(
            Connection(peer=each.peer, source_port=each.source_port) for each in message.connections
        ),
    )
