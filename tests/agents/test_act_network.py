"""The closed loop over announced flows, on a simulated cluster whose job takes source ports."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest_asyncio

from actuators.planner import Ports
from actuators.records import Event, Mode, ReasonCode, Verdict
from actuators.settings import EffectConfig, ObjectiveConfig, RerouteConfig
from actuators.steering.paths import rank_and_connection, source_port_path
from actuators.view import View
from cluster.frame import Frame, Layout, SeriesKey
from detectors.records import AlertState, Cause
from pipelines.agents.act_drivers import Drivers
from pipelines.agents.act_feed import Feed
from pipelines.agents.act_restore import History
from pipelines.agents.act_worker import Worker
from pipelines.config.act import ActConfig
from pipelines.messages.decisions import decode_event
from pipelines.wire import jobs_pb2
from simulator.inventory import topology
from simulator.job import announcement
from simulator.world.faults import FaultRequest
from simulator.world.steering import port_range
from tests.actuators.inputs import alert, no_pause
from tests.simulator.worlds import network

JOB = "job/pretrain"
LINK = "link/leaf2:Ethernet51"
KEYS = (
    SeriesKey(JOB, "train_step_seconds"),
    SeriesKey(JOB, "train_communication_seconds"),
)


class JobSide:
    """The `Driver` and `Jobs` of the simulated job, without a channel between."""

    name = "job_channel"

    def __init__(self, world):
        self.world = world

    async def micro_batches(self, job):
        return dict(enumerate(self.world.training.wanted.tolist()))

    async def read(self, changes):
        ports = self.world.training.source_ports
        return {
            (JOB, source_port_path(rank, 0)): str(port) for rank, port in enumerate(ports.tolist())
        }

    async def write(self, changes):
        ports = {rank_and_connection(c.path)[0]: int(c.to_value) for c in changes}
        assert self.world.training.connect(ports) == ""

    async def confirm(self, changes):
        """A job keeps what it took."""


class Loop:
    """A worker that acts on a simulated cluster; both have one clock."""

    def __init__(self, folder, **settings):
        self.world = network()
        self.told = []
        self.job = JobSide(self.world)
        self.config = ActConfig(
            mode=Mode.AUTO,
            objectives=(ObjectiveConfig(component=JOB, metric="train_step_seconds"),),
            effect=EffectConfig(settle_seconds=2.0, window_seconds=20.0),
            reroute=RerouteConfig(hold_down_seconds=60.0),
            cooldown_seconds=1.0,
            **settings,
        )
        shape = topology(self.world.names)
        self.feed = Feed(shape, self.config.objectives, slide_seconds=5.0)
        self.worker = Worker(
            config=self.config,
            state_dir=folder,
            view=View(topology=shape, jobs=self.feed.jobs, levels=self.feed.levels),
            feed=self.feed,
            drivers=Drivers(ports=Ports(jobs=self.job), by_name={"job_channel": self.job}),
            clock=self,
            put=lambda message: self.told.append(decode_event(message.value)),
            flush=self._flushed,
            read_history=lambda _: History(events=list(self.told)),
            pause=no_pause,
        )

    def now_ns(self):
        return self.world.time_ns

    async def _flushed(self):
        """Everything is on the topic at once."""

    async def start(self):
        await self.worker.assign({0})
        return await self.worker.cell("pod1")

    def announce(self):
        told = announcement(self.world)
        event = jobs_pb2.JobEvent(job_id="pretrain", cell="pod1", event="joined", announcement=told)
        self.feed.take_job(event)

    async def run(self, seconds, cell, standing=None):
        """Let time pass; the job reports its steps, an open alert is told again."""
        for second in range(int(seconds)):
            self.world.advance(1.0)
            for step in self.world.training.finished:
                self.feed.take(
                    Frame(
                        source=JOB,
                        cell="pod1",
                        layout=Layout(KEYS),
                        time_ns=np.array([step.ended_ns]),
                        values=np.array([[step.step_seconds, step.communication_seconds]]),
                        received_ns=self.world.time_ns,
                    )
                )
            self.world.training.finished.clear()
            self.announce()
            if standing is not None and second % 10 == 0:
                await cell.on_alert(standing, sent_ns=self.now_ns())
            await cell.tick()
            for task in list(cell.execution.tasks.values()):
                await asyncio.wait({task})

    def decisions(self):
        return list(dict.fromkeys(event.decision_id for event in self.told))

    def events(self, decision_id):
        return [e.event for e in self.told if e.decision_id == decision_id]

    def last(self, decision_id):
        return [e for e in self.told if e.decision_id == decision_id][-1]


@pytest_asyncio.fixture
async def loop(tmp_path):
    made = Loop(tmp_path)
    yield made
    await made.worker.close()


async def placed(loop):
    cell = await loop.start()
    await loop.run(60, cell)
    return cell


async def test_announced_job_is_placed_measured_and_kept(loop):
    await placed(loop)
    (decision,) = loop.decisions()
    assert loop.events(decision) == [
        Event.PROPOSED,
        Event.INVOKED,
        Event.SUCCEEDED,
        Event.VERIFIED,
        Event.MEASURED,
        Event.KEPT,
    ]
    last = loop.last(decision)
    assert (last.component, last.cause, last.alert_id) == (JOB, "placement", "")
    assert last.effect.verdict is Verdict.IMPROVED
    assert "it answers no alert" in last.constraints_checked


async def test_placed_job_is_left_alone(loop):
    cell = await placed(loop)
    await loop.run(60, cell)
    assert len(loop.decisions()) == 1


async def test_job_that_lost_its_ports_is_placed_again(loop):
    cell = await placed(loop)
    loop.world.training.source_ports[:] = 0
    await loop.run(60, cell)
    first, second = loop.decisions()
    assert (first[:-1], second[-2:]) == (second[:-1], "-2")
    assert loop.events(second)[-1] is Event.KEPT


async def test_degraded_link_loses_its_flows_and_gets_them_back_when_it_is_well(loop):
    cell = await placed(loop)
    before = loop.world.training.source_ports.copy()
    fault = loop.world.inject(FaultRequest(kind="degraded_link", target=LINK.partition("/")[2]))
    await loop.run(20, cell)
    degraded = replace(alert(LINK, Cause.LINK_DEGRADED, affected=(JOB,)), onset_ns=fault.started_ns)
    await loop.run(60, cell, standing=degraded)
    assert loop.events("a1-1")[-1] is Event.KEPT
    last = loop.last("a1-1")
    assert last.effect.verdict is Verdict.IMPROVED
    changed = np.flatnonzero(loop.world.training.source_ports != before)
    # The link is leaf2's to the third spine: what leaf2 sends by it, and what leaf1 sends there.
    first, last_port = port_range(2)
    by_it = (before >= first) & (before <= last_port) & (np.arange(len(before)) < 16)
    assert changed.tolist() == np.flatnonzero(by_it).tolist()
    loop.world.end(fault.fault_id)
    resolved = replace(degraded, state=AlertState.RESOLVED, revision=2)
    await cell.on_alert(resolved, sent_ns=loop.now_ns())
    await loop.run(58, cell)
    assert (loop.world.training.source_ports != before).any()
    await loop.run(5, cell)
    assert loop.last("a1-1").event is Event.ROLLED_BACK
    assert loop.last("a1-1").reason_code is ReasonCode.RECOVERED
    assert loop.world.training.source_ports.tolist() == before.tolist()


async def test_nothing_is_placed_before_the_job_has_shown_how_fast_it_is(loop):
    cell = await loop.start()
    await loop.run(8, cell)
    assert loop.told == []


async def test_advice_moves_nothing_and_says_later_what_came_without(tmp_path):
    loop = Loop(tmp_path, rules=({"kind": "reroute", "mode": "advise"},))
    cell = await loop.start()
    await loop.run(60, cell)
    (decision,) = loop.decisions()
    assert loop.events(decision) == [Event.PROPOSED, Event.ADVISED, Event.MEASURED]
    assert not loop.world.training.source_ports.any()
    await loop.worker.close()
