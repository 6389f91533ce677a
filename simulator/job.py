"""The training job's side of the information channel."""

from pipelines.job_client import JobClient
from pipelines.wire import jobs_pb2
from simulator.world.training import Step
from simulator.world.world import World

_PARAMETERS = ("micro_batches", "source_port")
_PRIORITY = 10


class JobReporter:
    """Announces the job, reports its steps, and gives ranks other shares when told to."""

    def __init__(self, world: World, address: str) -> None:
        self._world = world
        self.client = JobClient(address, announcement(world), self._on_directive)

    def report(self) -> None:
        """Send the steps that ended since the last call."""
        finished = self._world.training.finished
        for step in finished:
            self.client.step(_report(step))
        finished.clear()

    def _on_directive(self, directive: jobs_pb2.Directive) -> jobs_pb2.DirectiveResult:
        refused = apply(self._world, directive)
        if refused:
            return jobs_pb2.DirectiveResult(state="refused", detail=refused)
        self.client.announce(announcement(self._world))
        return jobs_pb2.DirectiveResult(state="applied", detail="from the next step on")


def apply(world: World, directive: jobs_pb2.Directive) -> str:
    """Give ranks shares or source ports, from the next step on; return why not, empty when done."""
    if directive.parameter not in _PARAMETERS:
        return f"parameter is {directive.parameter!r}, not one of {_PARAMETERS}"
    odd = [v.rank for v in directive.values if v.value != int(v.value)]
    if odd:
        return f"ranks {odd} are not given whole numbers"
    values = {v.rank: int(v.value) for v in directive.values}
    if directive.parameter == "micro_batches":
        return world.training.assign(values)
    if not world.scenario.fabric.source_port_rules:
        return "source ports cannot be chosen"
    others = [v.rank for v in directive.values if v.connection]
    if others:
        return f"ranks {others} have one connection"
    return world.training.connect(values)


def announcement(world: World) -> jobs_pb2.JobAnnouncement:
    """Return the job as it is now."""
    names, training = world.names, world.training
    ranks = []
    for rank in range(training.ranks):
        host, gpu = training.place_of(rank)
        name = names.hosts[host]
        ranks.append(
            jobs_pb2.Rank(
                rank=rank,
                gpu=f"gpu/{name}:{names.gpu_uuid(host, gpu)}",
                nic=f"nic/{name}:{names.nic(gpu)}",
                micro_batches=int(training.wanted[rank]),
                data_parallel_group=gpu,
                connections=_connections(world, rank),
            )
        )
    gpus = world.scenario.fabric.gpus_per_host
    rings = [
        jobs_pb2.Collective(
            kind="all_reduce",
            algorithm="ring",
            bytes=training.scenario.ring_bytes,
            period_seconds=training.scenario.micro_batches * training.scenario.micro_batch_seconds,
            ranks=range(rail, training.ranks, gpus),
        )
        for rail in range(gpus)
    ]
    return jobs_pb2.JobAnnouncement(
        job_id=training.scenario.job,
        cell=world.scenario.cell,
        kind="training",
        ranks=ranks,
        collectives=rings,
        priority=_PRIORITY,
        at_ns=world.time_ns,
    )


def _connections(world: World, rank: int) -> list[jobs_pb2.Connection]:
    """Return a rank's one connection: to the same rail of the ring's next host."""
    if not world.scenario.fabric.source_port_rules:
        return []
    training = world.training
    peer = (rank + world.scenario.fabric.gpus_per_host) % training.ranks
    port = int(training.source_ports[rank])
    return [jobs_pb2.Connection(peer=peer, source_port=port)]


def _report(step: Step) -> jobs_pb2.StepReport:
    return jobs_pb2.StepReport(
        step=step.number,
        at_ns=step.ended_ns,
        step_seconds=step.step_seconds,
        communication_seconds=step.communication_seconds,
        rank_compute_seconds=step.rank_compute_seconds,
        rank_micro_batches=step.micro_batches,
    )
