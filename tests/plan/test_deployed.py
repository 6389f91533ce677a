"""Jobs and loads as the recorder's own code wrote them to the embedded engine."""

import json
import math
from dataclasses import dataclass
from datetime import date

import numpy as np
import pytest
from click.testing import CliRunner

from cluster.fabric import Fabric
from cluster.frame import Layout, SeriesKey
from cluster.topology import Topology
from pipelines import topics
from pipelines.agents.record_write import RangeWriter
from pipelines.cli.main import main
from pipelines.config.topology_file import topology_toml
from pipelines.errors import ConfigError
from pipelines.messages.frames import encode_frame
from pipelines.plan.deployed import announced_jobs, measured_load
from pipelines.plan.examples import EXAMPLES
from pipelines.plan.sources import MEASURED, from_deployment
from pipelines.storage.store import Claim, Store
from pipelines.wire import jobs_pb2
from tests.record.conftest import FixedClock
from tests.record.messages import NOW_NS, SECOND_NS, frame

TOPOLOGY = EXAMPLES["leaf-spine-64"]().topology


@dataclass(frozen=True)
class Message:
    offset: int
    value: bytes
    key: bytes = b"pod1"


def write(client, topic: str, values: list[bytes]) -> None:
    writer = RangeWriter(Store(client), FixedClock())
    claim = Claim(
        epoch="e",
        topic=topic,
        partition=0,
        first=0,
        until=len(values),
        stored=date(2026, 11, 30),
    )
    writer.write(claim, [Message(offset, value) for offset, value in enumerate(values)])


def told(job_id: str, event: str, *, at: int, nics=("h1:mlx5_0", "h2:mlx5_0"), **more) -> bytes:
    announcement = jobs_pb2.JobAnnouncement(
        job_id=job_id,
        cell="pod1",
        kind="training",
        ranks=[
            jobs_pb2.Rank(rank=n, gpu=f"gpu/x:GPU-{n}", nic=f"nic/{nic}" if nic else "")
            for n, nic in enumerate(nics)
        ],
        collectives=[
            jobs_pb2.Collective(
                kind="all_reduce",
                bytes=1e9,
                period_seconds=2.0,
                phase_seconds=0.5,
                duration_seconds=0.25,
                **more,
            )
        ],
        priority=4,
    )
    return jobs_pb2.JobEvent(
        job_id=job_id, cell="pod1", event=event, at_ns=NOW_NS + at, announcement=announcement
    ).SerializeToString()


def test_jobs_that_have_joined_and_not_left_are_planned(client):
    write(
        client,
        topics.JOBS,
        [
            told("stays", "joined", at=1, nics=("h9:mlx5_0", "h10:mlx5_0")),
            told("stays", "changed", at=5),
            told("gone", "joined", at=2),
            told("gone", "left", at=3),
            told("lost", "joined", at=4, nics=("h1:mlx5_0", "")),
            told("elsewhere", "joined", at=4, nics=("h1:mlx5_0", "h99:mlx5_0")),
        ],
    )
    found = announced_jobs(client, TOPOLOGY)
    (job,) = found.jobs
    assert (job.job_id, job.priority) == ("stays", 4)
    assert job.nics == {0: "h1:mlx5_0", 1: "h2:mlx5_0"}
    (ring,) = job.collectives
    assert (ring.bytes, ring.period_seconds, ring.phase_seconds, ring.duration_seconds) == (
        1e9,
        2.0,
        0.5,
        0.25,
    )
    assert found.left_out == (
        "job 'elsewhere' is left out: the topology has no link at 'h99:mlx5_0'",
        "job 'lost' is left out: ranks [1] have no NIC in the topology",
    )


def counters(topology: Topology, rates: dict[str, float], *, seconds: int = 5) -> bytes:
    """Return a frame of what ports have sent, at rates in bits per second."""
    layout = Layout(tuple(SeriesKey(port, "net_if_out_octets_total") for port in rates))
    values = [[second * rate / 8.0 for rate in rates.values()] for second in range(seconds)]
    made = frame(values, sequence=1, layout=layout, step_ns=SECOND_NS)
    return encode_frame(made, with_layout=True)


def between(topology: Topology) -> list[tuple[str, str]]:
    """Return the ports at either end of every link between switches."""
    return [
        (f"port/{link.lower}", f"port/{link.upper}")
        for link in topology.links
        if topology.fabric_link_of(f"port/{link.lower}")
    ]


def test_loads_are_what_the_ports_at_both_ends_send(client):
    (lower, upper), (other, _) = between(TOPOLOGY)[:2]
    write(client, topics.FRAMES, [counters(TOPOLOGY, {lower: 80e9, upper: 40e9, other: 8e9})])
    load = measured_load(client, TOPOLOGY, Fabric.of(TOPOLOGY), seconds=60)
    assert load[:3] == pytest.approx([80e9, 40e9, 8e9])
    assert np.isnan(load[3:]).all()


def test_without_a_job_the_measured_traffic_is_planned(client):
    rates = {port: 10e9 for ends in between(TOPOLOGY) for port in ends}
    silent = list(rates)[-1]
    del rates[silent]
    write(client, topics.FRAMES, [counters(TOPOLOGY, rates)])
    source = from_deployment("prod", TOPOLOGY, client, ())
    assert source.jobs == ()
    assert source.measured is not None
    assert source.measured.job_id == MEASURED
    # 64 links up, of which what came down the silent one is not known.
    assert source.measured.bits_per_second == pytest.approx(64 * 10e9, rel=0.02)
    assert [note.partition(":")[0] for note in source.notes] == [
        "no job is announced",
        "1 of 128 directed links are not measured, and taken as idle",
    ]


def test_nothing_announced_and_nothing_measured_is_told(client):
    with pytest.raises(ConfigError, match=r"^nothing to plan: no job is announced"):
        from_deployment("prod", TOPOLOGY, client, ())
    assert math.isnan(measured_load(client, TOPOLOGY, Fabric.of(TOPOLOGY), seconds=60)[0])


def deployment(folder, database, name: str):
    (folder / "topology.toml").write_text(topology_toml(TOPOLOGY, heading="of a test"))
    config = folder / "trimtab.toml"
    config.write_text(
        "[broker]\nurl = 'kafka://127.0.0.1:9'\n"
        f"[database]\nurl = '{database.url}'\nname = '{name}'\n"
    )
    return config


def test_the_command_plans_what_is_announced(client, database, scratch_database, tmp_path):
    lost = told("lost", "joined", at=2, nics=("",))
    write(client, topics.JOBS, [told("stays", "joined", at=1), lost])
    config = deployment(tmp_path, database, scratch_database)
    asked = ["plan", "--from-deployment", "--config", str(config), "--format", "json"]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    assert [job["job_id"] for job in plan["jobs"]] == ["stays"]
    assert plan["notes"] == ["job 'lost' is left out: ranks [0] have no NIC in the topology"]


def test_the_command_plans_what_is_measured(client, database, scratch_database, tmp_path):
    rates = {port: 10e9 for ends in between(TOPOLOGY) for port in ends}
    write(client, topics.FRAMES, [counters(TOPOLOGY, rates)])
    config = deployment(tmp_path, database, scratch_database)
    result = CliRunner().invoke(main, ["plan", "--from-deployment", "--config", str(config)])
    assert result.exit_code == 0, result.output
    assert "1 of 1: measured traffic" in result.stdout
    assert "note: no job is announced: who sends to whom is estimated" in result.stdout
