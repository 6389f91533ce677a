import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from pipelines.topics import Outgoing
from pipelines.wire import telemetry_pb2 as pb
from tests.record.messages import NOW_NS


class SteppedClock:
    def __init__(self) -> None:
        self.at_ns = NOW_NS

    def now_ns(self) -> int:
        return self.at_ns


@dataclass
class Deliveries:
    """A sink that keeps what it is sent."""

    kept: list[pb.Delivery] = field(default_factory=list)

    def send(self, message: Outgoing, received_ns: int) -> None:
        del received_ns
        self.kept.append(pb.Delivery.FromString(message.value))

    def told(self) -> list[tuple[str, int, str, int]]:
        return [(d.event_type, d.attempt, d.state, d.status) for d in self.kept]


@dataclass
class Receiver:
    """An endpoint that answers as it is told, in turn; then 204."""

    url: str = ""
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    hold: asyncio.Event | None = None

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.got.append(({k.lower(): v for k, v in request.headers.items()}, body))
        if self.hold is not None:
            await self.hold.wait()
        status, headers = self.answers.pop(0) if self.answers else (204, {})
        return web.Response(status=status, headers=headers)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver()
    app = web.Application()
    app.router.add_post("/hook", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    made.url = f"http://127.0.0.1:{port}/hook"
    yield made
    await runner.cleanup()
