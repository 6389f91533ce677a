"""The Faust agents of the act worker, over channels of an app without Kafka."""

import faust
import numpy as np
import pytest

from actuators.records import Event, Mode
from cluster.frame import Frame, Layout, SeriesKey
from pipelines.agents.act import Channels, Handlers, attach_agents
from pipelines.agents.letters import DeadLetters
from pipelines.messages.alerts import encode_alert
from pipelines.messages.decisions import encode_approval
from pipelines.messages.frames import encode_frame
from pipelines.wire import jobs_pb2
from pipelines.wire import telemetry_pb2 as pb
from tests.actuators.inputs import SECOND, alert
from tests.agents.act_world import SLOW, World, closed_worlds  # noqa: F401 - a fixture


class Message:
    """What the agents read of a Kafka message."""

    topic, partition, key = "telemetry.alerts", 0, b"pod1"

    def __init__(self, value, *, offset=0, seconds=110.0):
        self.value, self.offset, self.timestamp = value, offset, seconds


@pytest.fixture
async def app():
    app = faust.App("act-test", store="memory://", broker="kafka://unused")
    app.finalize()
    app.flow_control.resume()
    return app


async def test_messages_reach_the_cell(tmp_path):
    world = World(tmp_path, mode=Mode.APPROVE)
    await world.start()
    world.degraded()
    handlers = Handlers(world.worker)
    await handlers.alert(Message(encode_alert(alert(evidence=(SLOW,)))))
    await handlers.approval(Message(encode_approval(world.ask("approve"))))
    await world.settle()
    assert world.events()[-1] is Event.VERIFIED


async def test_alert_is_as_old_as_its_time_stamp_on_kafka(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    await world.start()
    world.degraded()
    old = Message(encode_alert(alert(evidence=(SLOW,))), seconds=10.0)
    await Handlers(world.worker).alert(old)
    assert world.events() == [Event.PROPOSED, Event.SKIPPED_STALE]


async def test_frame_whose_layout_is_unknown_waits_for_the_next(tmp_path):
    world = World(tmp_path)
    await world.start()
    handlers = Handlers(world.worker)
    frame = Frame(
        source="job/train",
        cell="pod1",
        layout=Layout((SeriesKey("job/train", "train_step_seconds"),)),
        time_ns=np.array([SECOND]),
        values=np.array([[2.0]]),
        received_ns=SECOND,
    )
    await handlers.frame(Message(encode_frame(frame, with_layout=False)))
    assert len(world.worker.feed.readings("job/train")) == 0
    await handlers.frame(Message(encode_frame(frame, with_layout=True)))
    assert len(world.worker.feed.readings("job/train")) == 1


async def test_what_does_not_decode_is_a_dead_letter_and_the_next_goes_on(app, tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    await world.start()
    sent = []

    async def deliver(message):
        sent.append(pb.DeadLetter.FromString(message.value))

    letters = DeadLetters(worker="act", clock=world.clock, deliver=deliver)
    channels = Channels(
        **{
            name: app.channel(value_type=bytes)
            for name in ("alerts", "approvals", "jobs", "frames")
        }
    )
    attach_agents(app, channels, Handlers(world.worker), letters)
    agent = next(a for name, a in app.agents.items() if name.endswith("act-jobs"))
    async with agent.test_context() as jobs:
        await jobs.put(b"\xff")
        await jobs.put(pb_job())
    assert [(letter.reason, letter.payload) for letter in sent] == [("not_a_job_event", b"\xff")]
    assert list(world.worker.feed.jobs) == ["job/train"]


def pb_job():
    return jobs_pb2.JobEvent(job_id="train", cell="pod1", event="joined").SerializeToString()


async def test_cell_of_a_job_is_looked_after_before_there_is_any_alert(tmp_path):
    world = World(tmp_path, mode=Mode.AUTO)
    await world.worker.assign({0})
    assert world.worker.cells == {}
    await Handlers(world.worker).job(Message(pb_job()))
    assert list(world.worker.cells) == ["pod1"]
