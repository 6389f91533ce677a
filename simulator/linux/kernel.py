"""One namespace's forwarding, by netlink: routes, policy rules, links, counters."""

import os
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from errno import EEXIST, ENOENT, ESRCH
from typing import Any, Final, NamedTuple

from pyroute2 import AsyncIPRoute
from pyroute2.netlink.exceptions import NetlinkError

from simulator.linux.namespaces import RTMGRP_LINK, counters_file, netlink
from simulator.linux.routing import Hop, Routes, Where
from simulator.linux.rule_batch import KernelRule, send

# Preferences of `ip rule`: who enters the policy, how others pass it by, where its rules begin.
_ENTRIES: Final = 100
_PASS_BY: Final = 9_999
_POLICY: Final = 10_000
_MAIN: Final = 32_766
_IFF_UP: Final = 1
_FRESH_SECONDS: Final = 0.0005
_QUEUE_HANDLE: Final = 0x10000
_BURST_BYTES: Final = 1_600
_QUEUE_BYTES: Final = 1_000_000
_BUFFER_BYTES: Final = 1 << 20


class PolicyRule(NamedTuple):
    """What a rule matches, and the table it sends to; empty and 0 match anything."""

    sequence_id: int
    source: str
    target: str
    protocol: int
    source_ports: str
    target_ports: str
    table: int

    def kernel_rule(self) -> KernelRule:
        return KernelRule(_POLICY + self.sequence_id, *self[1:])


class Counters(NamedTuple):
    """What an interface has carried since it was made."""

    in_octets: int
    in_pkts: int
    in_errors: int
    in_discards: int
    out_octets: int
    out_pkts: int
    out_errors: int
    out_discards: int


@dataclass(slots=True)
class Kernel:
    """A namespace's forwarding state as it was last brought about; `open` it first."""

    namespace: str
    rules: set[PolicyRule] = field(default_factory=set)
    entries: dict[str, int] = field(default_factory=dict)
    routes: dict[Where, tuple[Hop, ...]] = field(default_factory=dict)
    events: socket.socket | None = None
    requests: socket.socket | None = None
    _link: Any = None
    _index: dict[str, int] = field(default_factory=dict)
    _counters: int = -1
    _counted: Mapping[str, Counters] = field(default_factory=dict)
    _counted_at: float = 0.0

    async def open(self) -> None:
        self._link = AsyncIPRoute(netns=self.namespace)
        await self._link.setup_endpoint()
        self.events = netlink(self.namespace, groups=RTMGRP_LINK)
        self.events.setblocking(False)
        self.requests = netlink(self.namespace)
        self._counters = counters_file(self.namespace)

    async def close(self) -> None:
        for opened in (self.events, self.requests):
            if opened is not None:
                opened.close()
        if self._counters >= 0:
            os.close(self._counters)
        if self._link is not None:
            self._link.close()

    async def add_cable(self, interface: str, far: "Kernel", far_interface: str) -> None:
        await self._link.link(
            "add",
            ifname=interface,
            kind="veth",
            peer={"ifname": far_interface, "net_ns_fd": far.namespace},
        )

    async def start_interface(self, interface: str, address: str, length: int) -> None:
        found = await self._link.link_lookup(ifname=interface)
        self._index[interface] = found[0]
        await self._link.addr("add", index=found[0], address=address, prefixlen=length)
        await self.switch_link(interface, is_on=True)

    async def start_loopback(self) -> None:
        await self._link.link("set", index=1, state="up")

    async def add_default(self, gateway: str) -> None:
        await self._link.route("add", dst="default", gateway=gateway)

    async def start_policy(self) -> None:
        """Let no packet pass the policy's rules but what enters by a bound interface."""
        await self._rule("add", priority=_PASS_BY, action="goto", goto=_MAIN)
        await self._rule("add", priority=_POLICY, action="nop")

    async def switch_link(self, interface: str, *, is_on: bool) -> None:
        state = "up" if is_on else "down"
        await self._link.link("set", index=self._index[interface], state=state)

    async def limit_rate(self, interface: str, bits_per_second: int) -> None:
        """Let an interface send no faster; what is more waits, up to a megabyte."""
        await self._link.tc(
            "replace",
            "tbf",
            index=self._index[interface],
            handle=_QUEUE_HANDLE,
            rate=bits_per_second // 8,
            burst=_BURST_BYTES,
            limit=_QUEUE_BYTES,
        )

    async def links_up(self) -> set[str]:
        """Return the interfaces that are on and have a carrier."""
        up = set()
        async for link in await self._link.get_links():
            # The operational state lags behind the carrier.
            if link["flags"] & _IFF_UP and link.get_attr("IFLA_CARRIER") == 1:
                up.add(str(link.get_attr("IFLA_IFNAME")))
        return up

    async def bring_rules(self, wanted: Iterable[PolicyRule], bound: Iterable[str]) -> None:
        """Add what is missing, then remove what is not wanted: no packet is ever without a rule.

        Of two rules with one sequence number the older is in force until it is removed.
        """
        rules, interfaces = set(wanted), set(bound)
        self._send(add=sorted(rules - self.rules))
        for interface in sorted(interfaces - self.entries.keys()):
            await self._bind(interface)
        for interface in sorted(self.entries.keys() - interfaces):
            priority = self.entries.pop(interface)
            await self._rule(
                "del", priority=priority, iifname=interface, action="goto", goto=_POLICY
            )
        self._send(remove=sorted(self.rules - rules))

    async def bring_routes(self, wanted: Routes, *, again: bool = False) -> None:
        """Replace routes that differ, then remove what is not wanted.

        With ``again`` all are written: the kernel drops those of a link that goes down by itself.
        """
        for where, hops in wanted.items():
            if again or self.routes.get(where) != hops:
                await self._replace(where, hops)
                self.routes[where] = hops
        for where in [w for w in self.routes if w not in wanted]:
            await self._quietly(self._link.route("del", dst=where.prefix, table=where.table))
            del self.routes[where]

    def counters(self) -> Mapping[str, Counters]:
        """Return every interface's counters, as they were at most half a millisecond ago."""
        now = time.monotonic()
        if now - self._counted_at < _FRESH_SECONDS:
            return self._counted
        text = os.pread(self._counters, _BUFFER_BYTES, 0).decode()
        found = {}
        for line in text.splitlines()[2:]:
            name, _, numbers = line.partition(":")
            told = [int(number) for number in numbers.split()]
            found[name.strip()] = Counters(*told[0:4], *told[8:12])
        self._counted, self._counted_at = found, now
        return found

    def _send(self, *, add: Sequence[PolicyRule] = (), remove: Sequence[PolicyRule] = ()) -> None:
        assert self.requests is not None  # noqa: S101 - opened before
        # What is done when the kernel refuses is not known rule by rule: all may be there.
        self.rules |= set(add)
        send(
            self.requests,
            add=[rule.kernel_rule() for rule in add],
            remove=[rule.kernel_rule() for rule in remove],
        )
        self.rules -= set(remove)

    async def _bind(self, interface: str) -> None:
        priority = _ENTRIES + self._index[interface]
        await self._rule("add", priority=priority, iifname=interface, action="goto", goto=_POLICY)
        self.entries[interface] = priority

    async def _replace(self, where: Where, hops: tuple[Hop, ...]) -> None:
        spec: dict[str, Any] = {"dst": where.prefix, "table": where.table}
        if len(hops) == 1:
            spec |= {"gateway": hops[0].gateway, "oif": self._index[hops[0].interface]}
        else:
            spec["multipath"] = [
                {"gateway": h.gateway, "oif": self._index[h.interface], "hops": h.weight - 1}
                for h in hops
            ]
        await self._link.route("replace", **spec)

    async def _rule(self, command: str, **spec: Any) -> None:
        await self._quietly(self._link.rule(command, **spec))

    async def _quietly(self, request: Any) -> None:
        """Take it for done when what is to be added is there, or what is to go is gone."""
        try:
            await request
        except NetlinkError as error:
            if error.code not in (EEXIST, ENOENT, ESRCH):
                raise
