"""Liveness by progress: a process is alive while what it reads moves on, not because it runs."""

from dataclasses import dataclass, field

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from pipelines.clock import Clock


@dataclass(slots=True)
class Health:
    """What a process says of itself.

    ``ready_when`` names what must have happened before the process does its work; ``beat`` tells
    that a named loop went round. A loop that has not gone round for ``stuck_after_seconds`` makes
    the process unhealthy.
    """

    clock: Clock
    ready_when: frozenset[str]
    stuck_after_seconds: float = 60.0
    _ready: set[str] = field(default_factory=set)
    _beats_ns: dict[str, int] = field(default_factory=dict)

    def ready(self, what: str) -> None:
        self._ready.add(what)

    def not_ready(self, what: str) -> None:
        self._ready.discard(what)

    def beat(self, loop: str) -> None:
        self._beats_ns[loop] = self.clock.now_ns()

    def missing(self) -> list[str]:
        """Return what the process still waits for."""
        return sorted(self.ready_when - self._ready)

    def stuck(self) -> list[str]:
        """Return the loops that do not go round any more."""
        oldest_ns = self.clock.now_ns() - int(self.stuck_after_seconds * 1e9)
        return sorted(loop for loop, at_ns in self._beats_ns.items() if at_ns < oldest_ns)


def health_app(health: Health) -> web.Application:
    """Return ``/healthz``, ``/readyz`` and ``/metrics``; 503 names what is stuck or missing."""

    async def healthz(_: web.Request) -> web.Response:
        return _told(health.stuck(), "stuck")

    async def readyz(_: web.Request) -> web.Response:
        return _told(health.missing(), "waiting for")

    async def metrics(_: web.Request) -> web.Response:
        headers = {"Content-Type": CONTENT_TYPE_LATEST}
        return web.Response(body=generate_latest(), headers=headers)

    app = web.Application()
    app.add_routes(
        [web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics)]
    )
    return app


async def serve_health(health: Health, port: int) -> web.AppRunner:
    """Serve on loopback until the returned runner's ``cleanup`` is awaited."""
    runner = web.AppRunner(health_app(health), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    return runner


def _told(names: list[str], what: str) -> web.Response:
    if names:
        return web.Response(status=503, text=f"{what}: {', '.join(names)}\n")
    return web.Response(text="ok\n")
