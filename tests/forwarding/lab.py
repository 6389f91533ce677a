"""A lab fabric and its traffic as child processes, and what steers it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass

import grpc

from actuators.steering.capability import Capability, Rung
from actuators.steering.plan import Means
from actuators.steering.rules import Match
from actuators.steering.site import Assignment, Site, SteeredFlow, Uplink
from cluster.topology import NextHop, Route
from pipelines.drivers.gnmi_session import Session
from pipelines.drivers.steering import SteeringDriver
from pipelines.drivers.steering_switch import SwitchHand
from pipelines.drivers.steering_watch import WatchSettings
from simulator.linux.shape import Shape
from simulator.linux.traffic import BLOCK_BYTES, TrafficFlow

PORT = 4791
PASSWORD = "battery staple"
METADATA = (("username", "lab"), ("password", PASSWORD))
RULES = frozenset({Rung.POLICY_RULES, Rung.WEIGHTS, Rung.ADVICE})
# IP and UDP headers and Ethernet's: what a port counts of a block.
WIRE_BYTES = BLOCK_BYTES + 42


class Child:
    """A child process that answers lines of JSON."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self.hello = self.listen()

    @property
    def pid(self) -> int:
        return self._process.pid

    def listen(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args[2]} ended: {self._process.wait()}")
        return json.loads(line)

    def tell(self, line: str) -> None:
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def ask(self, line: str) -> dict:
        self.tell(line)
        return self.listen()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


@dataclass(frozen=True, kw_only=True)
class RunningLab:
    """A fabric that forwards."""

    shape: Shape
    child: Child

    @property
    def namespaces(self) -> dict[str, str]:
        return self.child.hello["namespaces"]

    def switch_cable(self, component: str, *, is_on: bool) -> None:
        assert self.child.ask(json.dumps({"cable": component, "on": is_on})) == {"done": True}

    def slow_cable(self, component: str, bits_per_second: int) -> dict:
        order = {"cable": component, "bits_per_second": bits_per_second}
        return self.child.ask(json.dumps(order))

    def address(self, host: str) -> str:
        return next(c.lower.address for c in self.shape.host_links if c.lower.device == host)

    def site(self, leaf: str, *, is_ready: bool = False, **down: bool) -> Site:
        """Return a leaf as steering sees it; ``down`` names interfaces that are not up."""
        uplinks = tuple(
            Uplink(
                interface=cable.lower.interface,
                next_hop=cable.upper.address,
                port_class=n,
                is_up=not down.get(cable.lower.interface, False),
            )
            for n, cable in enumerate(self.shape.uplinks_of(leaf).values())
        )
        edge = [c.upper.interface for c in self.shape.host_links if c.upper.device == leaf]
        hops = tuple(
            NextHop(index=spine, interface=cable.lower.interface)
            for spine, cable in self.shape.uplinks_of(leaf).items()
        )
        routes = tuple(
            Route(switch=leaf, prefix=prefix, next_hops=hops)
            for other, prefix in self.shape.prefixes.items()
            if other != leaf
        )
        return Site(
            switch=leaf,
            uplinks=uplinks,
            edge_interfaces=tuple(edge),
            routes=routes,
            is_ready=is_ready,
        )

    def means(self, *, is_ready: bool = False) -> Means:
        leaves = self.shape.leaf_names
        return Means(
            sites={leaf: self.site(leaf, is_ready=is_ready) for leaf in leaves},
            capabilities={
                f"switch/{leaf}": Capability(
                    target=f"switch/{leaf}", rungs=RULES, takes_commits=True
                )
                for leaf in leaves
            },
        )

    def flows(
        self, number: int, *, protocol: str = "udp", rate: float = 200.0, leaf: int = 1
    ) -> list[SteeredFlow]:
        """Return flows from a leaf's first host to the first host of the next leaf."""
        far = leaf % self.shape.leaves + 1
        source, target = self.address(f"host{leaf}-1"), self.address(f"host{far}-1")
        return [
            SteeredFlow(
                switch=f"leaf{leaf}",
                number=n,
                match=Match(
                    source=f"{source}/32",
                    target=f"{target}/32",
                    protocol=protocol,
                    source_ports=str(20_000 + n),
                    target_ports=str(PORT),
                ),
                bits_per_second=rate * WIRE_BYTES * 8,
            )
            for n in range(1, number + 1)
        ]

    @contextmanager
    def traffic(
        self,
        flows: Sequence[SteeredFlow],
        *,
        rate: float = 200.0,
        period: float = 0.0,
        busy: float = 0.0,
    ) -> Iterator["Traffic"]:
        """Send the flows of one leaf until the end of the block; never two at a time."""
        leaf = int(flows[0].switch.removeprefix("leaf"))
        far = leaf % self.shape.leaves + 1
        told = [
            TrafficFlow(
                flow=flow.number,
                protocol=flow.match.protocol,
                source_port=int(flow.match.source_ports),
                target=flow.match.target.removesuffix("/32"),
                target_port=PORT,
            )
            for flow in flows
        ]
        arguments = ["--flows", json.dumps([asdict(flow) for flow in told]), "--rate", str(rate)]
        arguments += ["--period", str(period), "--busy", str(busy), "--cpu", "0"]
        program = "simulator.linux.traffic"
        receiver = Child(program, "receive", "--namespace", self.namespaces[f"host{far}-1"])
        sender = Child(program, "send", "--namespace", self.namespaces[f"host{leaf}-1"], *arguments)
        try:
            yield Traffic(sender, receiver)
        finally:
            sender.close()
            receiver.close()


@dataclass(frozen=True, slots=True)
class Traffic:
    """Flows under way."""

    sender: Child
    receiver: Child

    def sent(self) -> dict[int, int]:
        return {int(flow): n for flow, n in self.sender.ask("report")["sent"].items()}

    def stop(self) -> dict[int, dict[str, int]]:
        """Stop sending; return by flow what was sent, and what had come when no more came."""
        told = self.sender.ask("stop")
        sent = {int(flow): n for flow, n in told["sent"].items()}
        deadline = time.monotonic() + 2.0
        while True:
            seen = {int(f): s for f, s in self.receiver.ask("report")["seen"].items()}
            came = sum(one["received"] for one in seen.values())
            if came >= sum(sent.values()) or time.monotonic() > deadline:
                break
        retransmitted = {int(flow): n for flow, n in told["retransmitted"].items()}
        return {
            flow: {
                "sent": number,
                "lost": number - seen.get(flow, {"received": 0})["received"],
                "reordered": seen.get(flow, {"reordered": 0})["reordered"],
                "doubled": seen.get(flow, {"doubled": 0})["doubled"],
                "retransmitted": retransmitted.get(flow, 0),
            }
            for flow, number in sent.items()
        }


def totals(report: dict[int, dict[str, int]]) -> dict[str, int]:
    """Return what a report says of all flows in sum."""
    names = next(iter(report.values())).keys()
    return {name: sum(one[name] for one in report.values()) for name in names}


@contextmanager
def running_lab(*, leaves: int = 2, spines: int = 4, hosts: int = 1, features=()):
    """Run a fabric of these sizes; yields a `RunningLab`."""
    shape = Shape(leaves=leaves, spines=spines, hosts=hosts)
    arguments = ["--leaves", str(leaves), "--spines", str(spines), "--hosts", str(hosts)]
    arguments += ["--password", PASSWORD]
    for told in features:
        arguments += ["--features", told]
    child = Child("simulator.linux", *arguments)
    try:
        yield RunningLab(shape=shape, child=child)
    finally:
        child.close()


@asynccontextmanager
async def hands(
    lab: RunningLab, *switches: str, election_id: int = 1, rollback_seconds: float = 30.0
) -> AsyncIterator[dict[str, SwitchHand]]:
    """Open a session with each switch; yields a hand by target."""
    opened = {}
    for switch in switches:
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{lab.child.hello['ports'][switch]}")
        session = Session(
            name=switch,
            channel=channel,
            metadata=METADATA,
            election_id=election_id,
            rollback_seconds=rollback_seconds,
        )
        opened[f"switch/{switch}"] = SwitchHand(session)
    try:
        yield opened
    finally:
        for hand in opened.values():
            await hand.close()


@asynccontextmanager
async def steering(
    lab: RunningLab, *switches: str, watch: WatchSettings | None = None, **settings
) -> AsyncIterator[SteeringDriver]:
    """Yield a driver for the switches, or for all leaves."""
    async with hands(lab, *(switches or lab.shape.leaf_names), **settings) as opened:
        yield SteeringDriver(opened, watch=watch)


def placed(flows: Sequence[SteeredFlow], interfaces: Sequence[str | None]) -> Assignment:
    """Return flows on the interfaces, dealt round."""
    dealt = tuple(interfaces[n % len(interfaces)] for n in range(len(flows)))
    return Assignment(flows=tuple(flows), interfaces=dealt)
