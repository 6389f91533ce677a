"""A cell that decides over a small cluster, with a clock and targets that the test holds."""

import asyncio
from pathlib import Path

import numpy as np
import pytest_asyncio

from actuators.planner import Ports
from actuators.records import Approval, DecisionEvent, Event
from actuators.settings import EffectConfig, ObjectiveConfig
from actuators.view import View
from cluster.frame import Frame, Layout, SeriesKey
from pipelines.agents.act_cell import Cell
from pipelines.agents.act_drivers import Drivers
from pipelines.agents.act_feed import Feed
from pipelines.agents.act_restore import History
from pipelines.agents.act_worker import Worker
from pipelines.config.act import ActConfig
from pipelines.messages.decisions import decode_event
from tests.actuators.inputs import SECOND, Targets, detection, fabric_targets, no_pause, topology

STEP = SeriesKey("job/train", "train_step_seconds")
SLOW = detection("port/leaf1:e49", "net_if_out_octets_per_second", before=10.0, after=3.0)
EFFECT = EffectConfig(settle_seconds=2.0, window_seconds=10.0)


_worlds: list["World"] = []


@pytest_asyncio.fixture(autouse=True)
async def closed_worlds():
    """Close every world of a test: import it into the test's module."""
    yield
    for world in _worlds:
        await world.worker.close()
    _worlds.clear()


class Clock:
    """Stands where the test puts it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def now_ns(self) -> int:
        return int(self.seconds * SECOND)


class World:
    """One worker with one cell; `restart` is a kill and a new start over the same disk.

    The broker's topic is ``told``; ``forgets`` makes it one that lost everything at the restart.
    """

    def __init__(self, folder: Path, targets: Targets | None = None, **settings: object) -> None:
        self.folder = folder
        self.targets = targets or fabric_targets()
        self.clock = Clock(110.0)
        self.told: list[DecisionEvent] = []
        self.config = ActConfig(
            objectives=(ObjectiveConfig(component="job/train", metric="train_step_seconds"),),
            effect=EFFECT,
            **settings,
        )
        self.worker = self._worker()
        _worlds.append(self)

    def _worker(self) -> Worker:
        feed = Feed(topology(), self.config.objectives, slide_seconds=5.0)
        return Worker(
            config=self.config,
            state_dir=self.folder,
            view=View(topology=topology(), jobs=feed.jobs, levels=feed.levels),
            feed=feed,
            drivers=Drivers(
                ports=Ports(fabric=self.targets, pools={"chat": self.targets}),
                by_name={"gnmi": self.targets},
                by_service={"chat": self.targets},
            ),
            clock=self.clock,
            put=lambda message: self.told.append(decode_event(message.value)),
            flush=self._flushed,
            read_history=lambda _: History(events=list(self.told)),
            pause=no_pause,
        )

    async def _flushed(self) -> None:
        """Everything is on the topic at once."""

    async def start(self) -> Cell:
        await self.worker.assign({0})
        return await self.worker.cell("pod1")

    async def restart(self, *, broker_forgets: bool = False) -> Cell:
        """Stop without a word, as kill -9 does, and start again."""
        for cell in self.worker.cells.values():
            for task in cell.execution.tasks.values():
                task.cancel()
            cell.book.journal.close()
        if broker_forgets:
            self.told.clear()
        self.worker = self._worker()
        return await self.start()

    def steps(self, seconds: float, count: int, level: float) -> None:
        """Let the job report steps, one a second from a time on; the clock follows."""
        layout = Layout((STEP,))
        for n in range(count):
            at_ns = int((seconds + n) * SECOND)
            self.clock.seconds = max(self.clock.seconds, seconds + n)
            self.worker.feed.take(
                Frame(
                    source="job/train",
                    cell="pod1",
                    layout=layout,
                    time_ns=np.array([at_ns]),
                    values=np.array([[level * (1 + 0.01 * (-1) ** n)]]),
                    received_ns=at_ns,
                )
            )

    def degraded(self) -> None:
        """20 healthy steps of 1 s, then 11 of 2 s until now (second 110)."""
        self.steps(80.0, 20, 1.0)
        self.steps(100.0, 11, 2.0)

    async def settle(self) -> None:
        """Let the writes under way finish."""
        for cell in self.worker.cells.values():
            while cell.execution.tasks:
                await asyncio.gather(*cell.execution.tasks.values(), return_exceptions=True)
                await asyncio.sleep(0)

    def events(self, decision_id: str = "a1-1") -> list[Event]:
        by_sequence = {e.sequence: e for e in self.told if e.decision_id == decision_id}
        return [by_sequence[n].event for n in sorted(by_sequence)]

    def last(self, decision_id: str = "a1-1") -> DecisionEvent:
        return max((e for e in self.told if e.decision_id == decision_id), key=lambda e: e.sequence)

    def weights(self) -> list[str]:
        """Weights of the next hops, leaf1's then leaf2's."""
        return list(self.targets.values.values())

    def ask(self, verb: str, *, decision_id: str = "a1-1") -> Approval:
        return Approval(
            request_id=f"r-{verb}",
            decision_id=decision_id,
            cell="pod1",
            verb=verb,
            who="ada",
            why=f"{verb} it",
            at_ns=self.clock.now_ns(),
        )
