"""Decision events on their way to Kafka, in order, until Kafka has them."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from pipelines.topics import Outgoing

log = structlog.get_logger()

_LONGEST_PAUSE_SECONDS = 10.0


class Outbox:
    """Sends one message after the other; each is tried until it is acknowledged."""

    def __init__(self, deliver: Callable[[Outgoing], Awaitable[None]]) -> None:
        self._deliver = deliver
        self._queue: asyncio.Queue[Outgoing] = asyncio.Queue()

    def put(self, message: Outgoing) -> None:
        self._queue.put_nowait(message)

    async def flush(self) -> None:
        """Return when everything put so far has been acknowledged."""
        await self._queue.join()

    async def run(self) -> None:
        """Send for ever."""
        while True:
            message = await self._queue.get()
            await self._send(message)
            self._queue.task_done()

    async def _send(self, message: Outgoing) -> None:
        pause = 0.2
        while True:
            try:
                await self._deliver(message)
            except Exception as error:  # noqa: BLE001 - whatever the client raises, try again
                log.warning("decision event not sent yet", detail=str(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            else:
                return
