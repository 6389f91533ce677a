"""The cells that this worker owns, and what they share."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from actuators.carry_out import Pause
from actuators.view import View
from pipelines.agents.act_book import Book
from pipelines.agents.act_cell import Cell
from pipelines.agents.act_drivers import Drivers
from pipelines.agents.act_execute import Execution
from pipelines.agents.act_feed import Feed
from pipelines.agents.act_journal import Journal, journal_path, journaled_cells
from pipelines.agents.act_restore import History, partition_of
from pipelines.clock import Clock
from pipelines.config.act import ActConfig
from pipelines.topics import Outgoing

log = structlog.get_logger()

_AGAIN_SECONDS = 2.0


@dataclass(slots=True)
class Worker:
    """Owns cells by partition.

    They are restored when a partition is assigned, and let go of when it is revoked.

    Attributes
    ----------
    read_history
        Reads the topics' past of some partitions; blocks, so it runs in a thread.
    """

    config: ActConfig
    state_dir: Path
    view: View
    feed: Feed
    drivers: Drivers
    clock: Clock
    put: Callable[[Outgoing], None]
    flush: Callable[[], Awaitable[None]]
    read_history: Callable[[frozenset[int]], History]
    pause: Pause = asyncio.sleep
    cells: dict[str, Cell] = field(default_factory=dict)
    _partitions: set[int] = field(default_factory=set)
    _partition_count: int = 1
    _restored: asyncio.Event = field(default_factory=asyncio.Event)
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def assign(self, partitions: Iterable[int]) -> None:
        """Own exactly these partitions from now on; returns when their cells are restored."""
        self._restored.clear()
        wanted = set(partitions)
        async with self._changing:
            gained = frozenset(wanted - self._partitions)
            history = await self._history(gained) if gained else History()
            self._partition_count = max(history.partitions, self._partition_count)
            self._partitions = wanted
            await self._let_go()
            for event in history.jobs.values():
                self.feed.take_job(event)
            told = {event.cell for event in history.events}
            told |= {event.cell for event in history.jobs.values()}
            for cell in sorted(told | set(journaled_cells(self.state_dir))):
                if self._owns(cell) and cell not in self.cells:
                    self._open(cell, history)
            self._restored.set()

    async def cell(self, name: str) -> Cell:
        """Return a cell once its past is known."""
        await self._restored.wait()
        if name not in self.cells:
            self._open(name, History())
        return self.cells[name]

    async def hold(self, name: str) -> None:
        """Look after a cell that nothing was decided about yet, where it is ours."""
        if self._restored.is_set() and name and self._owns(name):
            await self.cell(name)

    async def tick(self) -> None:
        """Let every cell go round; one that fails does not hold up the others."""
        if not self._restored.is_set():
            return
        for cell in list(self.cells.values()):
            try:
                await cell.tick()
            except Exception:
                log.exception("round of a cell failed", cell=cell.book.cell)

    async def close(self) -> None:
        for cell in self.cells.values():
            await cell.close()
        self.cells.clear()

    async def _history(self, partitions: frozenset[int]) -> History:
        while True:
            try:
                return await asyncio.to_thread(self.read_history, partitions)
            except Exception as error:  # noqa: BLE001 - whatever the client raises, try again
                log.warning("decisions of the past not read yet", detail=str(error))
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _let_go(self) -> None:
        for name in [name for name in self.cells if not self._owns(name)]:
            await self.cells.pop(name).close()

    def _owns(self, cell: str) -> bool:
        return partition_of(cell, self._partition_count) in self._partitions

    def _open(self, name: str, history: History) -> None:
        book = Book(
            cell=name,
            journal=Journal(journal_path(self.state_dir, name)),
            put=self.put,
            clock=self.clock,
        )
        book.restore(event for event in history.events if event.cell == name)
        execution = Execution(
            book=book,
            feed=self.feed,
            view=self.view,
            drivers=self.drivers,
            config=self.config,
            flush=self.flush,
            pause=self.pause,
        )
        self.cells[name] = Cell(book=book, execution=execution, config_hash=hash_of(self.config))
        log.info("cell taken over", cell=name, decisions=len(book.decisions))


def hash_of(config: ActConfig) -> str:
    """Return the hash of the settings that a decision was made under."""
    return hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:16]
