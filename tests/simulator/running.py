"""A simulated cluster that serves within a test's own event loop."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from gnmi_pb import gnmi_pb2, gnmi_pb2_grpc

from simulator.clock import VirtualClock
from simulator.gnmi.server import Credentials
from simulator.inventory import GNMI_USER
from simulator.servers import Access, Servers
from simulator.state import State
from simulator.world.world import World
from tests.simulator.worlds import first_light

PASSWORD = "correct horse"
TOKEN = "battery staple"


@dataclass(slots=True, kw_only=True)
class Running:
    """A cluster that serves; ``saved`` counts how often a change was kept."""

    state: State
    servers: Servers
    saved: list[int]

    @property
    def world(self) -> World:
        return self.state.world

    def address(self, server: str) -> str:
        return f"127.0.0.1:{self.state.ports[server]}"

    def url(self, server: str) -> str:
        return f"http://{self.address(server)}"


@asynccontextmanager
async def running(
    *, speed: float = 10.0, tls: Path | None = None, world: World | None = None
) -> AsyncIterator[Running]:
    """Serve a cluster whose time passes ``speed`` times as fast."""
    world = world or first_light()
    state = State(clock=VirtualClock.starting_now(speed), world=world)
    world.start_ns = world.time_ns = state.clock.start_ns
    saved: list[int] = []
    access = Access(credentials=Credentials(GNMI_USER, PASSWORD), token=TOKEN, tls_folder=tls)
    async with Servers(state, access, lambda: saved.append(world.time_ns)) as servers:
        passing = asyncio.create_task(_pass(state, servers))
        try:
            yield Running(state=state, servers=servers, saved=saved)
        finally:
            passing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await passing


async def _pass(state: State, servers: Servers) -> None:
    tick_ns = int(state.world.scenario.tick_seconds * 1e9)
    while True:
        await state.clock.sleep_until(state.world.time_ns + tick_ns)
        state.world.advance_to(state.clock.now_ns())
        for commits in servers.commits:
            commits.expire(state.world.time_ns)


@asynccontextmanager
async def stub(sim: Running, switch: str) -> AsyncIterator[gnmi_pb2_grpc.gNMIStub]:
    async with grpc.aio.insecure_channel(sim.address(f"gnmi/{switch}")) as channel:
        yield gnmi_pb2_grpc.gNMIStub(channel)


METADATA = (("username", GNMI_USER), ("password", PASSWORD))


def path(*elements: str, **keys: dict[str, str]) -> gnmi_pb2.Path:
    """Return a path; ``keys`` by element, hyphens written as underscores."""
    return gnmi_pb2.Path(
        elem=[
            gnmi_pb2.PathElem(name=name, key=keys.get(name.replace("-", "_"), {}))
            for name in elements
        ]
    )


def weight_path(prefix: str, spine: str, container: str = "config") -> gnmi_pb2.Path:
    return path(
        "network-instances",
        "network-instance",
        "protocols",
        "protocol",
        "static-routes",
        "static",
        "next-hops",
        "next-hop",
        container,
        "wecmp-weight",
        network_instance={"name": "default"},
        protocol={"identifier": "STATIC", "name": "DEFAULT"},
        static={"prefix": prefix},
        next_hop={"index": spine},
    )


def interface_path(name: str, *leaf: str) -> gnmi_pb2.Path:
    return path("interfaces", "interface", *leaf, interface={"name": name} if name else {})


def name_of(path_: gnmi_pb2.Path) -> str:
    """Return the element names joined by slashes."""
    return "/".join(elem.name for elem in path_.elem)
