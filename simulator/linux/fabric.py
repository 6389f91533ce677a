"""A lab fabric as a whole: namespaces, cables, routes that follow the cables, gNMI servers."""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import grpc
from gnmi_pb import gnmi_pb2_grpc

from simulator.clock import VirtualClock
from simulator.gnmi.commit import Commits, CommitState
from simulator.gnmi.server import Credentials, GnmiService
from simulator.linux import namespaces
from simulator.linux.configuration import LabConfiguration
from simulator.linux.device import FEATURES, LabDevice
from simulator.linux.kernel import Kernel
from simulator.linux.routing import Roads, routes
from simulator.linux.shape import Cable, Shape

_LOOPBACK: Final = "127.0.0.1"
_EXPIRY_SECONDS: Final = 0.02
_STOP_SECONDS: Final = 0.2
_OPTIONS: Final = (("grpc.so_reuseport", 0),)
# Layer 4 hashing, no route by a dead link, no filter for what comes back another way.
_SYSCTLS: Final = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/fib_multipath_hash_policy": "1",
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/conf/all/ignore_routes_with_linkdown": "1",
    "net/ipv4/conf/default/ignore_routes_with_linkdown": "1",
    "net/ipv4/conf/all/send_redirects": "0",
    "net/ipv4/conf/default/send_redirects": "0",
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
}


@dataclass(slots=True, kw_only=True)
class Lab:
    """Entered it forwards; left it has left nothing behind.

    Attributes
    ----------
    features
        What each switch can do; one that is not named can do all of `FEATURES`.
    ports
        Loopback port of each switch's gNMI server.

    Raises
    ------
    OSError
        (on entering) Namespaces cannot be made here: see `namespaces.why_not`.
    """

    shape: Shape
    credentials: Credentials
    features: Mapping[str, frozenset[str]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    devices: dict[str, LabDevice] = field(default_factory=dict)
    _kernels: dict[str, Kernel] = field(default_factory=dict)
    _servers: list[grpc.aio.Server] = field(default_factory=list)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _alive: set[str] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _routing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __aenter__(self) -> Self:
        namespaces.clean()
        try:
            await self._build()
        except BaseException:
            await self._tear_down()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._tear_down()

    def namespace(self, device: str) -> str:
        return namespaces.name_of(device)

    async def switch_cable(self, component: str, *, is_on: bool) -> None:
        """Pull a cable between leaf and spine, or plug it in: the leaf's end loses its carrier."""
        upper = self._cable(component).upper
        await self._kernels[upper.device].switch_link(upper.interface, is_on=is_on)

    async def slow_cable(self, component: str, bits_per_second: int) -> None:
        """Let a cable between leaf and spine carry less upwards: a queue builds up at the leaf."""
        lower = self._cable(component).lower
        await self._kernels[lower.device].limit_rate(lower.interface, bits_per_second)

    async def reroute(self) -> None:
        """Bring all routes in line with the cables that work, leaves before spines."""
        async with self._routing:
            await self._reroute(again=False)

    def _cable(self, component: str) -> Cable:
        cable = next((c for c in self.shape.uplinks if c.component == component), None)
        if cable is None:
            raise ValueError(f"the fabric has no {component!r}")
        return cable

    async def _build(self) -> None:
        for device in (*self.shape.switch_names, *self.shape.host_names):
            await self._make(device)
        for cable in (*self.shape.host_links, *self.shape.uplinks):
            await self._plug(cable)
        for link in self.shape.host_links:
            await self._kernels[link.lower.device].add_default(link.upper.address)
        clock = VirtualClock.starting_now(1.0)
        for switch in self.shape.switch_names:
            await self._kernels[switch].start_policy()
            self.devices[switch] = self._device(switch, clock)
        self._alive = await self._look()
        async with self._routing:
            await self._reroute(again=True)
        for switch in self.shape.switch_names:
            self._watch(switch)
            await self._serve(switch, clock)
        self._tasks += [asyncio.create_task(self._follow()), asyncio.create_task(self._expire())]

    async def _make(self, device: str) -> None:
        name = self.namespace(device)
        namespaces.make(name)
        namespaces.inside(name, _write_sysctls)
        kernel = self._kernels[device] = Kernel(name)
        await kernel.open()
        await kernel.start_loopback()

    async def _plug(self, cable: Cable) -> None:
        lower, upper = self._kernels[cable.lower.device], self._kernels[cable.upper.device]
        await lower.add_cable(cable.lower.interface, upper, cable.upper.interface)
        for kernel, end in ((lower, cable.lower), (upper, cable.upper)):
            await kernel.start_interface(end.interface, end.address, 31)

    def _device(self, switch: str, clock: VirtualClock) -> LabDevice:
        configuration = LabConfiguration(self.features.get(switch, FEATURES))
        return LabDevice(
            shape=self.shape,
            switch=switch,
            kernel=self._kernels[switch],
            clock=clock,
            configuration=configuration,
            commits=Commits(configuration, CommitState()),
            reroute=self.reroute,
        )

    async def _serve(self, switch: str, clock: VirtualClock) -> None:
        service = GnmiService(
            device=self.devices[switch], clock=clock, credentials=self.credentials
        )
        server = grpc.aio.server(options=_OPTIONS)
        gnmi_pb2_grpc.add_gNMIServicer_to_server(service, server)
        self.ports[switch] = server.add_insecure_port(f"{_LOOPBACK}:0")
        await server.start()
        self._servers.append(server)

    def _watch(self, switch: str) -> None:
        events = self._kernels[switch].events
        assert events is not None  # noqa: S101 - opened with the kernel

        def heard() -> None:
            with contextlib.suppress(OSError):  # drained, or overrun: look anyway
                while events.recv(1 << 16):
                    pass
            self._changed.set()

        asyncio.get_running_loop().add_reader(events, heard)

    async def _follow(self) -> None:
        """Reroute whenever a link has changed."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            async with self._routing:
                alive = await self._look()
                if alive != self._alive:
                    self._alive = alive
                    await self._reroute(again=True)

    async def _expire(self) -> None:
        while True:
            await asyncio.sleep(_EXPIRY_SECONDS)
            for device in self.devices.values():
                await device.expire()

    async def _look(self) -> set[str]:
        """Return the uplinks with a carrier at both ends."""
        for switch, device in self.devices.items():
            device.up = await self._kernels[switch].links_up()
        return {
            cable.component
            for cable in self.shape.uplinks
            if all(e.interface in self.devices[e.device].up for e in (cable.lower, cable.upper))
        }

    async def _reroute(self, *, again: bool) -> None:
        meanings = {switch: device.meaning for switch, device in self.devices.items()}
        off = {f"{s}:{interface}" for s, meaning in meanings.items() for interface in meaning.off}
        roads = Roads(
            alive={c.component for c in self._usable(off)},
            weights={
                (switch, prefix, spine): weight
                for switch, meaning in meanings.items()
                for (prefix, spine), weight in meaning.weights.items()
            },
        )
        # A spine learns of a way before leaves use it, and leaves turn away before it is gone.
        opened = self.shape.spine_names if again else ()
        for switch in (*opened, *self.shape.leaf_names, *self.shape.spine_names):
            wanted = routes(self.shape, switch, roads)
            await self._kernels[switch].bring_routes(wanted, again=again)

    def _usable(self, off: set[str]) -> Iterable[Cable]:
        for cable in self.shape.uplinks:
            ends = {cable.lower.port, cable.upper.port}
            if cable.component in self._alive and not ends & off:
                yield cable

    async def _tear_down(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(server.stop(_STOP_SECONDS) for server in self._servers))
        loop = asyncio.get_running_loop()
        for device, kernel in self._kernels.items():
            if kernel.events is not None:
                loop.remove_reader(kernel.events)
            await kernel.close()
            namespaces.remove(self.namespace(device))


def _write_sysctls() -> None:
    for name, value in _SYSCTLS.items():
        path = Path("/proc/sys") / name
        if path.exists():
            path.write_text(value)
