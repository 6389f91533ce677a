import numpy as np

from actuators.readings import Reading
from actuators.settings import ObjectiveConfig
from actuators.view import Job, Rank
from cluster.frame import Frame, Layout, SeriesKey
from pipelines.agents.act_feed import Feed
from pipelines.wire import jobs_pb2
from tests.actuators.inputs import SECOND, topology

OBJECTIVES = (
    ObjectiveConfig(component="job/train", metric="train_step_seconds"),
    ObjectiveConfig(component="service/chat", metric="slo_attainment_ratio"),
)
NAN = float("nan")


def feed():
    return Feed(topology(), OBJECTIVES, slide_seconds=5.0)


def frame(columns, rows, *, ended=()):
    return Frame(
        source="x",
        cell="pod1",
        layout=Layout(tuple(columns)),
        time_ns=np.array([n * SECOND for n in range(len(rows))]),
        values=np.array(rows, dtype=float),
        received_ns=9 * SECOND,
        ended_columns=tuple(ended),
    )


def test_step_times_come_from_every_row_and_blanks_from_none():
    taking = feed()
    columns = [SeriesKey("job/train", "train_step_seconds"), SeriesKey("job/other", "x")]
    taking.take(frame(columns, [[1.0, 5.0], [NAN, 5.0], [3.0, 5.0]]))
    assert list(taking.readings("job/train")) == [
        Reading(0, 9 * SECOND, 1.0),
        Reading(2 * SECOND, 9 * SECOND, 3.0),
    ]


def test_attainment_comes_from_bucket_deltas_summed_over_labels():
    taking = feed()
    columns = [
        SeriesKey("service/chat", f"llm_{name}_seconds_bucket", f'le="{bound}",model="{model}"')
        for name, limit in (("ttft", "2.0"), ("tpot", "0.05"))
        for bound in (limit, "+Inf")
        for model in ("a", "b")
    ]
    taking.take(frame(columns, [[0.0] * 8, [4.0, 5.0, 5.0, 5.0, 40.0, 40.0, 50.0, 50.0]]))
    (reading,) = taking.readings("service/chat")
    assert round(reading.value, 6) == 0.7


def test_only_ports_that_routes_leave_by_are_remembered():
    taking = feed()
    columns = [
        SeriesKey("port/leaf1:e49", "net_if_out_octets_total"),
        SeriesKey("port/leaf1:e1", "net_if_out_octets_total"),
    ]
    taking.take(frame(columns, [[0.0, 0.0], [7.0, 7.0]]))
    rates = [taking.levels.rate(c.component, c.metric) for c in columns]
    assert rates == [7.0, None]
    taking.take(frame(columns, [[9.0, 9.0]], ended=[0]))
    assert taking.levels.rate("port/leaf1:e49", "net_if_out_octets_total") is None


def test_jobs_come_and_go():
    taking = feed()
    event = jobs_pb2.JobEvent(
        job_id="train",
        cell="pod1",
        event="joined",
        announcement=jobs_pb2.JobAnnouncement(
            ranks=[jobs_pb2.Rank(rank=0, gpu="gpu/h1:G1", micro_batches=8)]
        ),
    )
    taking.take_job(event)
    assert taking.jobs == {
        "job/train": Job(
            component="job/train",
            ranks=(Rank(rank=0, gpu="gpu/h1:G1", micro_batches=8),),
            cell="pod1",
        )
    }
    event.event = "left"
    taking.take_job(event)
    assert taking.jobs == {}
