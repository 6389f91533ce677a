"""What a job announced, as the cluster's own records."""

from cluster.collectives import Collective
from pipelines.wire import jobs_pb2


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
