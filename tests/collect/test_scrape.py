"""A scraper against a real HTTP server whose answers are set by the test."""

import asyncio

import aiohttp
import pytest
from aiohttp import web

from pipelines.collect.frames import Frames
from pipelines.collect.letters import Letters
from pipelines.collect.scrape import Scraper, TargetState
from pipelines.config.collect import ScrapeTarget
from pipelines.wire import telemetry_pb2 as pb
from tests.collect.fakes import Sent, SetClock

GOOD = 'vllm:num_requests_running{model_name="m"} 3\n'


class Exporter:
    """Answers with what is set: status, body, and how long it takes."""

    def __init__(self):
        self.status, self.body, self.seconds = 200, GOOD, 0.0

    async def metrics(self, _):
        await asyncio.sleep(self.seconds)
        return web.Response(status=self.status, text=self.body)


@pytest.fixture
async def exporter():
    exporter = Exporter()
    app = web.Application()
    app.add_routes([web.get("/metrics", exporter.metrics)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    exporter.url = f"http://127.0.0.1:{runner.addresses[0][1]}/metrics"
    yield exporter
    await runner.cleanup()


@pytest.fixture
async def session():
    async with aiohttp.ClientSession() as session:
        yield session


class Scene:
    def __init__(self, url, **settings):
        self.clock, self.sent, self.letters = SetClock(), Sent(), []
        self.frames = Frames(send=self.sent, clock=self.clock)
        letters = Letters(
            send=lambda message, _: self.letters.append(pb.DeadLetter.FromString(message.value)),
            clock=self.clock,
        )
        target = ScrapeTarget(
            name="chat-0", url=url, cell="pod1", component="engine/chat-0", kind="vllm", **settings
        )
        self.scraper = Scraper(target, frames=self.frames, letters=letters, clock=self.clock)

    async def scrape(self, session):
        await self.scraper.scrape(session)
        self.frames.flush()
        return self.scraper.state


async def test_target_is_down_empty_or_good_and_recovers_by_itself(exporter, session):
    """C26, C33."""
    scene = Scene(exporter.url)
    states = []
    for status, body in [(500, GOOD), (200, ""), (200, "python_info 1\n"), (200, GOOD)]:
        exporter.status, exporter.body = status, body
        states.append(await scene.scrape(session))
    assert states == [
        TargetState.DOWN,
        TargetState.EMPTY,
        TargetState.EMPTY,
        TargetState.GOOD,
    ]
    assert scene.sent.readings() == {
        ("engine/chat-0", "python_info", ""): [(scene.clock.ns, 1.0)],
        ("engine/chat-0", "llm_requests_running", ""): [(scene.clock.ns, 3.0)],
    }


async def test_slow_and_oversized_answers_are_cut_off(exporter, session):
    """C35."""
    scene = Scene(exporter.url, timeout_seconds=0.05, largest_body_bytes=1000)
    exporter.seconds = 0.3
    assert await scene.scrape(session) is TargetState.DOWN
    exporter.seconds, exporter.body = 0.0, GOOD * 100
    assert await scene.scrape(session) is TargetState.DOWN
    assert scene.sent.frames == []


async def test_bad_line_is_dead_lettered_and_the_good_ones_are_kept(exporter, session):
    """C38; the rate of letters is bounded."""
    exporter.body = GOOD + 'vllm:num_requests_waiting{model_name="m" 1\n' * 25
    scene = Scene(exporter.url)
    assert await scene.scrape(session) is TargetState.GOOD
    assert len(scene.letters) == 10
    letter = scene.letters[0]
    assert (letter.reason, letter.source, letter.cell, letter.samples) == (
        "bad_line",
        "chat-0",
        "pod1",
        1,
    )
    assert letter.payload == b'vllm:num_requests_waiting{model_name="m" 1'
    scene.clock.ns += 60_000_000_000
    await scene.scrape(session)
    assert len(scene.letters) == 20


async def test_impossible_values_never_enter(exporter, session):
    """C18, C19, C29: refused and counted, whatever else came stays."""
    exporter.body = (
        GOOD + "vllm:kv_cache_usage_perc 4294967295\nvllm:num_requests_waiting NaN\nx +Inf\n"
    )
    scene = Scene(exporter.url)
    await scene.scrape(session)
    assert scene.sent.readings() == {
        ("engine/chat-0", "llm_requests_running", ""): [(scene.clock.ns, 3.0)]
    }
    assert scene.frames.refused == {"out_of_range": 1, "not_finite": 2}


async def test_scrapes_go_on_at_their_interval_after_a_failure(exporter, session):
    scene = Scene(exporter.url, interval_seconds=0.02, timeout_seconds=0.5)
    exporter.status = 503
    running = asyncio.create_task(scene.scraper.run(session))
    async with asyncio.timeout(10):
        exporter.status = 200
        while scene.scraper.state is not TargetState.GOOD:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
