"""An engine's HTTP interface: metrics, and what SGLang lets one change."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from simulator.http.access import answer, check_token, read_object
from simulator.http.exposition import CONTENT_TYPE
from simulator.http.serving_text import engine_text
from simulator.world.engine import Engine
from simulator.world.serving import RoleRefusedError
from simulator.world.world import World

ROLES = ("prefill", "decode")


@dataclass(frozen=True, slots=True)
class EngineApi:
    """Handlers of one engine; ``save`` keeps a change."""

    world: World
    engine: Engine
    token: str
    save: Callable[[], None]
    stamp: Callable[[], str]

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/health", self._health)
        app.router.add_get("/get_server_info", self._info)
        app.router.add_post("/set_internal_state", self._set_state)
        app.router.add_post("/pd_role_switch", self._switch)
        return app

    async def _metrics(self, _: web.Request) -> web.Response:
        text = engine_text(self.world, self.engine, stamp=self.stamp())
        return web.Response(text=text, headers={"Content-Type": CONTENT_TYPE})

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(status=200 if self._serves else 503)

    @property
    def _serves(self) -> bool:
        return self.engine.available_at <= self.world.seconds

    async def _info(self, _: web.Request) -> web.Response:
        serving = self.world.scenario.serving
        return answer(
            200,
            model_path=serving.model,
            served_model_name=serving.model,
            tp_size=serving.gpus_per_engine,
            disaggregation_mode=self.engine.role,
            max_running_requests=self.engine.largest_limit,
            max_total_num_tokens=self.engine.largest_tokens,
            enable_pd_role_switch=True,
            internal_states=[{"max_running_requests": self.engine.limit}],
        )

    async def _set_state(self, request: web.Request) -> web.Response:
        check_token(request, self.token)
        wanted = (await read_object(request)).get("server_args")
        if not isinstance(wanted, dict) or set(wanted) != {"max_running_requests"}:
            return self._not_updated("server_args takes max_running_requests")
        limit: Any = wanted["max_running_requests"]
        highest = self.engine.largest_limit
        if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= highest:
            return self._not_updated(f"max_running_requests is {limit!r}, not 1 to {highest}")
        self.engine.limit = limit
        self.save()
        return answer(200, updated=True, server_args={"max_running_requests": limit})

    def _not_updated(self, why: str) -> web.Response:
        limits = {"max_running_requests": self.engine.limit}
        return answer(400, updated=False, message=why, server_args=limits)

    async def _switch(self, request: web.Request) -> web.Response:
        check_token(request, self.token)
        role = (await read_object(request)).get("new_role")
        old = self.engine.role
        if role not in ROLES:
            return answer(400, success=False, message=f"new_role is {role!r}, not one of {ROLES}")
        try:
            self.world.serving.switch(self.engine, role, self.world.seconds)
        except RoleRefusedError as error:
            return answer(400, success=False, message=str(error), old_role=old, new_role=role)
        self.save()
        return answer(200, success=True, message="", old_role=old, new_role=role)
