"""The service's router: who its workers are, and moving one to the other role."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from simulator.clock import VirtualClock
from simulator.http.access import answer, check_token, read_object
from simulator.http.engine import ROLES
from simulator.world.engine import Engine, Role
from simulator.world.serving import RoleRefusedError
from simulator.world.world import World

_POLL_SECONDS = 0.1
_USUAL_DRAIN_SECONDS = 30.0
_LONGEST_DRAIN_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class RouterApi:
    """Handlers of the router; ``urls`` are the workers' by engine name."""

    world: World
    clock: VirtualClock
    urls: Mapping[str, str]
    token: str
    save: Callable[[], None]

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/workers", self._workers)
        app.router.add_get("/health", self._health)
        app.router.add_post("/pd_role_switch", self._switch)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response()

    async def _workers(self, _: web.Request) -> web.Response:
        now = self.world.seconds
        workers = [
            {
                "url": self.urls[engine.name],
                "name": engine.name,
                "role": engine.role,
                "running": len(engine.running) + len(engine.computing) + len(engine.inflight),
                "waiting": len(engine.queue) + len(engine.waiting),
                "draining": engine.draining,
                "healthy": engine.available_at <= now,
            }
            for engine in self.world.serving.engines
        ]
        return answer(200, workers=workers)

    async def _switch(self, request: web.Request) -> web.Response:
        check_token(request, self.token)
        body = await read_object(request)
        role, drain = body.get("new_role"), _drain_seconds(body)
        if role not in ROLES or drain is None:
            return answer(
                400, success=False, message=f"wants new_role of {ROLES} and drain_timeout_secs"
            )
        engine = self._engine(body.get("worker_url"))
        if engine is None:
            return answer(404, success=False, message=f"no worker {body.get('worker_url')!r}")
        old = engine.role
        refused = self._refusal(engine, role) or await self._moved(engine, role, drain)
        told = {"old_role": old, "new_role": role}
        return answer(409 if refused else 200, success=not refused, message=refused, **told)

    def _engine(self, url: Any) -> Engine | None:
        wanted = str(url).rstrip("/")
        name = next((name for name, known in self.urls.items() if known == wanted), "")
        return self.world.serving.by_name(name)

    def _refusal(self, engine: Engine, role: Role) -> str:
        if engine.draining:
            return f"{engine.name} is being drained already"
        return self.world.serving.refusal(engine, role)

    async def _moved(self, engine: Engine, role: Role, drain_seconds: float) -> str:
        """Drain, switch, wait for the re-initialisation; return why not, empty when done."""
        if engine.role == role and engine.available_at <= self.world.seconds:
            return ""
        deadline = self.world.seconds + drain_seconds
        engine.draining = True
        try:
            while not engine.idle:
                if self.world.seconds >= deadline:
                    return f"{engine.name} did not drain within {drain_seconds:g} s"
                await self._pause()
            self.world.serving.switch(engine, role, self.world.seconds)
        except RoleRefusedError as error:
            return str(error)
        finally:
            engine.draining = False
            self.save()
        while engine.available_at > self.world.seconds:
            await self._pause()
        return ""

    async def _pause(self) -> None:
        await asyncio.sleep(_POLL_SECONDS / self.clock.speed)


def _drain_seconds(body: Mapping[str, Any]) -> float | None:
    seconds = body.get("drain_timeout_secs", _USUAL_DRAIN_SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    return float(seconds) if 0.0 <= seconds <= _LONGEST_DRAIN_SECONDS else None
