import asyncio

import pytest
from aiohttp import web

from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change
from pipelines.drivers.serving_http import ServingHttp


class Service:
    """A router and one engine on one port, as SGLang's answer."""

    def __init__(self):
        self.role, self.limit, self.healthy = "prefill", 64, True
        self.answer = None
        self.hold = False
        self.asked = []
        self.url = ""

    async def workers(self, request):
        worker = {"url": self.url, "worker_type": self.role, "is_healthy": self.healthy}
        other = {"url": "http://10.0.0.9:1", "worker_type": "decode", "is_healthy": True}
        return web.json_response({"workers": [worker, other], "total": 2})

    async def switch_role(self, request):
        self.asked.append((request.headers.get("Authorization"), await request.json()))
        if self.hold:
            await asyncio.sleep(1.0)
        if self.answer is not None:
            status, body = self.answer
            return web.json_response(body, status=status)
        old, self.role = self.role, self.asked[-1][1]["new_role"]
        return web.json_response(
            {"success": True, "message": "", "old_role": old, "new_role": self.role}
        )

    async def info(self, request):
        return web.json_response({"internal_states": [{"max_running_requests": self.limit}]})

    async def set_state(self, request):
        self.limit = (await request.json())["server_args"]["max_running_requests"]
        return web.json_response({"updated": True})


@pytest.fixture
async def service():
    running = Service()
    app = web.Application()
    app.add_routes(
        [
            web.get("/workers", running.workers),
            web.post("/pd_role_switch", running.switch_role),
            web.get("/get_server_info", running.info),
            web.post("/set_internal_state", running.set_state),
        ]
    )
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    running.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield running
    await runner.cleanup()


@pytest.fixture
async def driver(service):
    driver = ServingHttp(
        "service/chat",
        router_url=service.url + "/",
        engine_urls={"engine/chat-0": service.url + "/metrics"},
        token="secret",
        drain_seconds=0.1,
        timeout_seconds=0.2,
    )
    yield driver
    await driver.close()


ROLE = Change(target="engine/chat-0", path="role", from_value="prefill", to_value="decode")
LIMIT = Change(target="engine/chat-0", path="concurrency_limit", from_value="64", to_value="48")


async def test_roles_are_told_for_healthy_engines_that_are_known(service, driver):
    assert await driver.roles("service/chat") == {"engine/chat-0": "prefill"}
    service.healthy = False
    assert await driver.roles("service/chat") == {}


async def test_role_is_switched_by_the_router(service, driver):
    await driver.write([ROLE])
    assert service.asked == [
        (
            "Bearer secret",
            {"worker_url": service.url, "new_role": "decode", "drain_timeout_secs": 0.1},
        )
    ]
    assert await driver.read([ROLE]) == {("engine/chat-0", "role"): "decode"}


async def test_limit_is_set_at_the_engine_and_read_back(driver):
    assert await driver.concurrency_limits("service/chat") == {"engine/chat-0": 64}
    await driver.write([LIMIT])
    assert await driver.read([LIMIT]) == {("engine/chat-0", "concurrency_limit"): "48"}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((200, {"success": False, "message": "worker is not idle"}), TransientActuationError),
        ((409, {"success": False, "message": "switch in progress"}), TransientActuationError),
        ((400, {"success": False, "message": "role switch is disabled"}), PermanentActuationError),
        ((503, {}), TransientActuationError),
        ((401, {}), PermanentActuationError),
    ],
)
async def test_refusals_are_of_two_families(service, driver, answer, error):
    service.answer = answer
    with pytest.raises(error):
        await driver.write([ROLE])


async def test_answer_that_does_not_come_is_a_passing_failure(service, driver):
    """C79."""
    service.hold = True
    with pytest.raises(TransientActuationError, match="TimeoutError"):
        await driver.write([ROLE])


async def test_engine_without_a_url_is_named(driver):
    change = Change(target="engine/chat-9", path="role", from_value="a", to_value="b")
    with pytest.raises(PermanentActuationError, match="engine/chat-9 has no URL"):
        await driver.write([change])
