"""What a job announces and reports: whether it can be used, and the readings in it."""

from collections import Counter
from collections.abc import Iterator

from cluster import component
from cluster.frame import SeriesKey
from pipelines.messages.jobs import collective_of
from pipelines.wire import jobs_pb2

_KINDS = ("training", "inference")
_LARGEST_PORT = 65_535


def announcement_fault(announcement: jobs_pb2.JobAnnouncement) -> str:
    """Return every reason why an announcement cannot be used, else an empty string."""
    faults = [
        *_unnamed(announcement),
        *_bad_ranks(announcement),
        *_bad_connections(announcement),
        *_bad_collectives(announcement),
    ]
    return "; ".join(faults)


def _unnamed(announcement: jobs_pb2.JobAnnouncement) -> Iterator[str]:
    if not announcement.job_id:
        yield "job_id is empty"
    if not announcement.cell:
        yield "cell is empty"
    if announcement.kind not in _KINDS:
        yield f"kind is {announcement.kind!r}, not one of {_KINDS}"


def _bad_ranks(announcement: jobs_pb2.JobAnnouncement) -> Iterator[str]:
    for number, times in Counter(rank.rank for rank in announcement.ranks).items():
        if times > 1:
            yield f"rank {number} is announced {times} times"
    for rank in announcement.ranks:
        if component.kind_of(rank.gpu) != "gpu" or not component.name_of(rank.gpu):
            yield f"rank {rank.rank}: gpu is {rank.gpu!r}, not gpu/<host>:<uuid>"
        if rank.nic and component.kind_of(rank.nic) != "nic":
            yield f"rank {rank.rank}: nic is {rank.nic!r}, not nic/<host>:<device>"


def _bad_connections(announcement: jobs_pb2.JobAnnouncement) -> Iterator[str]:
    ranks = {rank.rank for rank in announcement.ranks}
    for rank in announcement.ranks:
        for connection in rank.connections:
            at = f"rank {rank.rank}: connection to rank {connection.peer}"
            if connection.peer not in ranks or connection.peer == rank.rank:
                yield f"{at}, which is no other rank"
            if connection.source_port > _LARGEST_PORT:
                yield f"{at} from port {connection.source_port}, beyond {_LARGEST_PORT}"


def _bad_collectives(announcement: jobs_pb2.JobAnnouncement) -> Iterator[str]:
    ranks = {rank.rank for rank in announcement.ranks}
    for collective in announcement.collectives:
        yield from collective_of(collective).faults(ranks)


def step_readings(
    announcement: jobs_pb2.JobAnnouncement, report: jobs_pb2.StepReport
) -> list[tuple[SeriesKey, float]]:
    """Return the readings in a step report; what a job does not know (NaN) is left out."""
    job = component.component("job", announcement.job_id)
    gpus = {rank.rank: rank.gpu for rank in announcement.ranks}
    readings = [(SeriesKey(job, "train_step_seconds"), report.step_seconds)]
    readings.append((SeriesKey(job, "train_communication_seconds"), report.communication_seconds))
    readings += [
        (SeriesKey(gpus[rank], "train_rank_compute_seconds"), seconds)
        for rank, seconds in enumerate(report.rank_compute_seconds)
        if rank in gpus
    ]
    readings += [
        (SeriesKey(gpus[rank], "train_rank_micro_batches"), float(batches))
        for rank, batches in enumerate(report.rank_micro_batches)
        if rank in gpus
    ]
    return [(key, value) for key, value in readings if value == value]  # noqa: PLR0124 - not NaN


def unknown_ranks(announcement: jobs_pb2.JobAnnouncement, report: jobs_pb2.StepReport) -> int:
    """Return how many readings in a step report are of ranks that were not announced."""
    known = {rank.rank for rank in announcement.ranks}
    lengths = (len(report.rank_compute_seconds), len(report.rank_micro_batches))
    return sum(rank not in known for length in lengths for rank in range(length))
