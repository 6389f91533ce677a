"""Scrapes one endpoint again and again; it is down, empty or good, and recovers by itself."""

import asyncio
import random
from enum import IntEnum

import aiohttp
import structlog

from pipelines.clock import Clock
from pipelines.collect.frames import Frames
from pipelines.collect.letters import Letters
from pipelines.collect.scrape_text import Scraped, ScrapeText
from pipelines.config.collect import ScrapeTarget
from pipelines.errors import DecodeError
from pipelines.metrics import REFUSED, SCRAPE_SECONDS, TARGET_STATE, TARGET_UP

log = structlog.get_logger()

# Beyond this a body is parsed beside the event loop.
_LARGE_BODY_BYTES = 1024 * 1024
_HEADERS = {"Accept": "text/plain;version=0.0.4"}


class TargetState(IntEnum):
    """``EMPTY``: it answers, but with nothing that its kind is known for."""

    DOWN = 0
    EMPTY = 1
    GOOD = 2


class Scraper:
    """One target. Scrapes never overlap: a slow one takes the place of the next."""

    def __init__(
        self, target: ScrapeTarget, *, frames: Frames, letters: Letters, clock: Clock
    ) -> None:
        self.state = TargetState.DOWN
        self._target = target
        self._frames = frames
        self._letters = letters
        self._clock = clock
        self._text = ScrapeText(target.kind, target.component)
        TARGET_UP.labels(target.name).set(0)

    async def run(self, session: aiohttp.ClientSession) -> None:
        """Scrape at every interval, until cancelled."""
        interval = self._target.interval_seconds
        loop = asyncio.get_running_loop()
        # So that not every target is asked at the same moment.
        due = loop.time() + random.SystemRandom().uniform(0.0, min(interval, 1.0))
        while True:
            await asyncio.sleep(max(0.0, due - loop.time()))
            await self.scrape(session)
            now = loop.time()
            due += interval * (1 + max(0, int((now - due) / interval)))

    async def scrape(self, session: aiohttp.ClientSession) -> None:
        """Scrape once; whatever happens becomes the target's state."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._target.timeout_seconds):
                body = await self._body(session)
            scraped = await self._read(body)
        except (aiohttp.ClientError, TimeoutError, OSError, DecodeError) as error:
            self._is(TargetState.DOWN, f"{type(error).__name__}: {error}")
        else:
            self._take(scraped)
            is_known = scraped.known > 0
            self._is(TargetState.GOOD if is_known else TargetState.EMPTY, "")
        SCRAPE_SECONDS.labels(self._target.name).set(asyncio.get_running_loop().time() - began)

    async def _body(self, session: aiohttp.ClientSession) -> bytes:
        largest = self._target.largest_body_bytes
        async with session.get(self._target.url, headers=_HEADERS) as response:
            response.raise_for_status()
            body = bytearray()
            async for chunk in response.content.iter_chunked(64 * 1024):
                body += chunk
                if len(body) > largest:
                    raise DecodeError("body_too_large", f"body is larger than {largest} bytes")
        return bytes(body)

    async def _read(self, body: bytes) -> Scraped:
        text = body.decode(errors="replace")
        received_ns = self._clock.now_ns()
        if len(body) > _LARGE_BODY_BYTES:
            return await asyncio.to_thread(self._text.read_columns, text, received_ns)
        return self._text.read_columns(text, received_ns)

    def _take(self, scraped: Scraped) -> None:
        target = self._target
        if scraped.columns is not None:
            self._frames.take_columns(
                target.component,
                target.cell,
                self._text.slots,
                scraped.columns,
                received_ns=self._clock.now_ns(),
                group=target.name,
            )
        for time_ns, readings in scraped.readings.items():
            self._frames.take(target.component, target.cell, time_ns, readings, group=target.name)
        for reason, count in scraped.refused.items():
            REFUSED.labels("samples", reason).inc(count)
        for bad in scraped.bad:
            self._letters.refuse(
                what="scrape_lines",
                reason="bad_line",
                detail=bad.why,
                source=target.name,
                cell=target.cell,
                payload=bad.line.encode(),
                samples=1,
            )

    def _is(self, state: TargetState, why: str) -> None:
        if state is not self.state:
            tell = log.info if state is TargetState.GOOD else log.warning
            tell("target changed", target=self._target.name, state=state.name.lower(), why=why)
        self.state = state
        TARGET_STATE.labels(self._target.name).set(int(state))
        TARGET_UP.labels(self._target.name).set(int(state is not TargetState.DOWN))
