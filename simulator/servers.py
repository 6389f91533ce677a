"""All servers of a simulated cluster, on loopback."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import grpc
from aiohttp import web
from gnmi_pb import gnmi_pb2_grpc

from simulator.gnmi.commit import Commits, CommitState
from simulator.gnmi.config import SwitchConfig
from simulator.gnmi.device import WorldDevice
from simulator.gnmi.server import Credentials, GnmiService
from simulator.gnmi.tree import leaves_of
from simulator.http.control import ControlApi
from simulator.http.dcgm import dcgm_text
from simulator.http.engine import EngineApi
from simulator.http.exposition import CONTENT_TYPE
from simulator.http.node import node_text
from simulator.http.router import RouterApi
from simulator.http.serving_text import gateway_text
from simulator.state import State
from simulator.world.world import World

_LOOPBACK = "127.0.0.1"
_OPTIONS = (("grpc.so_reuseport", 0), ("grpc.http2.min_recv_ping_interval_without_data_ms", 5000))
_STOP_SECONDS = 0.5


class HostText(Protocol):
    """Writes one host's scrape."""

    def __call__(self, world: World, host: int, *, stamp: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Secrets, and the folder of ``ca.pem``, ``cert.pem`` and ``key.pem`` for gNMI over TLS."""

    credentials: Credentials
    token: str
    tls_folder: Path | None = None


@dataclass
class Servers:
    """Started by entering it; ``state.ports`` then names every server's port.

    A port that ``state.ports`` names already is taken again.

    Raises
    ------
    OSError
        (on entering) Such a port is in use.
    """

    state: State
    access: Access
    save: Callable[[], None]
    commits: list[Commits] = field(default_factory=list)
    _grpc: list[grpc.aio.Server] = field(default_factory=list)
    _http: list[web.AppRunner] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        for switch in (*self.state.world.names.leaves, *self.state.world.names.spines):
            await self._start_gnmi(switch)
        for name, read in self._texts().items():
            await self._start_http(name, _metrics_app(read))
        for engine in self.state.world.serving.engines:
            api = EngineApi(self.state.world, engine, self.access.token, self.save, self._stamp)
            await self._start_http(f"engine/{engine.name}", api.app())
        urls = {
            engine.name: f"http://{_LOOPBACK}:{self.state.ports[f'engine/{engine.name}']}"
            for engine in self.state.world.serving.engines
        }
        world, clock = self.state.world, self.state.clock
        router = RouterApi(world, clock, urls, self.access.token, self.save)
        await self._start_http("router", router.app())
        await self._start_http("control", ControlApi(world, clock, self.save).app())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.gather(
            *(server.stop(_STOP_SECONDS) for server in self._grpc),
            *(runner.cleanup() for runner in self._http),
        )

    def _texts(self) -> dict[str, Callable[[], str]]:
        world = self.state.world
        texts: dict[str, Callable[[], str]] = {}
        for n, host in enumerate(world.names.hosts):
            texts[f"dcgm/{host}"] = self._of_host(dcgm_text, n)
            texts[f"node/{host}"] = self._of_host(node_text, n)
        texts["gateway"] = lambda: gateway_text(world, stamp=self._stamp())
        return texts

    def _of_host(self, write: HostText, host: int) -> Callable[[], str]:
        return lambda: write(self.state.world, host, stamp=self._stamp())

    def _stamp(self) -> str:
        """Return the stamp of scraped values: none while device time is the machine's."""
        if self.state.clock.speed == 1.0:
            return ""
        return f" {self.state.world.time_ns // 1_000_000}"

    async def _start_gnmi(self, switch: str) -> None:
        world = self.state.world
        kept = self.state.commits.setdefault(switch, CommitState())
        commits = Commits(SwitchConfig(world, switch), kept)
        self.commits.append(commits)
        device = WorldDevice(
            world=world, tree=leaves_of(world, switch), commits=commits, save=self.save
        )
        service = GnmiService(
            device=device, clock=self.state.clock, credentials=self.access.credentials
        )
        server = grpc.aio.server(options=_OPTIONS)
        gnmi_pb2_grpc.add_gNMIServicer_to_server(service, server)
        name = f"gnmi/{switch}"
        address = f"{_LOOPBACK}:{self.state.ports.get(name, 0)}"
        try:
            port = self._bind(server, address)
        except RuntimeError as error:
            raise OSError(f"cannot listen on {address}") from error
        await server.start()
        self._grpc.append(server)
        self.state.ports[name] = port

    def _bind(self, server: grpc.aio.Server, address: str) -> int:
        folder = self.access.tls_folder
        if folder is None:
            return int(server.add_insecure_port(address))
        pair = ((folder / "key.pem").read_bytes(), (folder / "cert.pem").read_bytes())
        return int(server.add_secure_port(address, grpc.ssl_server_credentials([pair])))

    async def _start_http(self, name: str, app: web.Application) -> None:
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_STOP_SECONDS)
        await runner.setup()
        site = web.TCPSite(runner, _LOOPBACK, self.state.ports.get(name, 0))
        await site.start()
        self._http.append(runner)
        self.state.ports[name] = int(runner.addresses[0][1])


def _metrics_app(read: Callable[[], str]) -> web.Application:
    async def metrics(_: web.Request) -> web.Response:
        return web.Response(text=read(), headers={"Content-Type": CONTENT_TYPE})

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    return app
