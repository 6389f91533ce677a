"""A lab switch: its configuration, its kernel, and the commit that waits for its confirmation."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import grpc
from gnmi_pb import gnmi_pb2
from pyroute2.netlink.exceptions import NetlinkError

from simulator.clock import VirtualClock
from simulator.gnmi.commit import Commits, commit_of
from simulator.gnmi.device import changes_something
from simulator.gnmi.errors import GnmiError, invalid, unimplemented
from simulator.gnmi.paths import Elems
from simulator.gnmi.tree import Leaf
from simulator.linux.compiled import Compiled, compiled
from simulator.linux.configuration import LabConfiguration, Value
from simulator.linux.kernel import Kernel
from simulator.linux.shape import Shape
from simulator.linux.tree import configured_leaves, live_leaves

_TICK_NS: Final = 1_000_000
_MODELS: Final = (
    ("openconfig-interfaces", "3.7.1"),
    ("openconfig-network-instance", "4.4.1"),
)
_FEATURE_MODELS: Final = {
    "policy": ("openconfig-policy-forwarding", "0.7.0"),
    "weights": ("openconfig-local-routing", "2.1.0"),
}
FEATURES: Final = frozenset({"policy", "weights", "commits"})

Reroute = Callable[[], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class LabDevice:
    """Takes Sets into its kernel: when `change` returns, packets go as it says.

    Attributes
    ----------
    reroute
        Brings the whole fabric's routes in line with what is configured and which cables work.
    up
        Interfaces with a carrier, as last looked.
    """

    shape: Shape
    switch: str
    kernel: Kernel
    clock: VirtualClock
    configuration: LabConfiguration
    commits: Commits
    reroute: Reroute
    up: set[str] = field(default_factory=set)
    _live: list[Leaf] = field(default_factory=list)
    _configured: list[Leaf] = field(default_factory=list)
    _configured_of: Mapping[Elems, Value] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def models(self) -> Sequence[tuple[str, str]]:
        told = [m for f, m in _FEATURE_MODELS.items() if f in self.configuration.features]
        return (*_MODELS, *told)

    @property
    def time_ns(self) -> int:
        return self.clock.now_ns()

    @property
    def tick_ns(self) -> int:
        return _TICK_NS

    @property
    def meaning(self) -> Compiled:
        return compiled(self.shape, self.switch, self.configuration.values)

    def leaves(self) -> Sequence[Leaf]:
        if not self._live:
            self._live = live_leaves(
                self.shape,
                self.switch,
                self.configuration,
                counters=self.kernel.counters,
                up=lambda: self.up,
            )
        if self._configured_of is not self.configuration.values:
            self._configured = configured_leaves(self.shape, self.switch, self.configuration)
            self._configured_of = self.configuration.values
        return [*self._live, *self._configured]

    async def change(self, request: gnmi_pb2.SetRequest) -> None:
        async with self._lock:
            before = self.configuration.snapshot()
            self._change(request)
            await self._bring_about(before)

    async def expire(self) -> bool:
        """Roll back a commit whose time is over; return whether there was one."""
        async with self._lock:
            before = self.configuration.snapshot()
            if not self.commits.expire(self.clock.now_ns()):
                return False
            await self._bring_about(before)
            return True

    def _change(self, request: gnmi_pb2.SetRequest) -> None:
        self.commits.arbitrate(request.extension)
        commit = commit_of(request.extension)
        if commit is not None and "commits" not in self.configuration.features:
            raise unimplemented("the commit extension is not supported")
        now_ns = self.clock.now_ns()
        if commit is not None and commit.WhichOneof("action") != "commit":
            if changes_something(request):
                raise invalid("a commit cannot be amended once issued")
            self.commits.conclude(commit, now_ns)
            return
        after = self.configuration.edited(request)
        compiled(self.shape, self.switch, after)
        self.commits.begin(commit, now_ns)
        self.configuration.write(after)

    async def _bring_about(self, before: Mapping[Elems, Value]) -> None:
        """Bring the kernel in line; what it refuses is taken back, the commit with it."""
        try:
            await self._apply(compiled(self.shape, self.switch, before))
        except (NetlinkError, OSError) as error:
            self.configuration.write(before)
            self.commits.state.pending = None
            await self._apply(self.meaning)
            details = f"the kernel refuses: {error}"
            raise GnmiError(grpc.StatusCode.INTERNAL, details) from error

    async def _apply(self, before: Compiled) -> None:
        """Open ways first, close them last: no packet is without one in between."""
        after = self.meaning
        for interface in sorted(before.off - after.off):
            await self.kernel.switch_link(interface, is_on=True)
        await self.kernel.bring_rules(after.rules, after.bound)
        if after.weights != before.weights or after.off != before.off:
            await self.reroute()
        for interface in sorted(after.off - before.off):
            await self.kernel.switch_link(interface, is_on=False)
