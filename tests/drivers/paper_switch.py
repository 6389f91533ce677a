"""A lab switch without a kernel: it takes and tells configuration, and counts what it is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from gnmi_pb import gnmi_pb2_grpc

from pipelines.drivers.gnmi_session import Session
from pipelines.drivers.steering_switch import SwitchHand
from simulator.clock import VirtualClock
from simulator.gnmi.commit import Commits, CommitState
from simulator.gnmi.server import Credentials, GnmiService
from simulator.linux.configuration import LabConfiguration
from simulator.linux.device import FEATURES, LabDevice
from simulator.linux.kernel import Counters
from simulator.linux.shape import Shape

CREDENTIALS = Credentials("lab", "battery staple")
SHAPE = Shape()


class PaperKernel:
    """Keeps what it is told.

    Attributes
    ----------
    history
        How many rules there were after each change.
    flows
        Octets per second that are sent by each rule.
    is_deaf
        Takes rules and forwards as before.
    """

    def __init__(self):
        self.rules, self.bound, self.links = frozenset(), frozenset(), {}
        self.history = []
        self.octets = {}
        self.flows = {}
        self.is_deaf = False
        self._forwards = frozenset()
        self._counted = asyncio.get_running_loop().time()

    async def bring_rules(self, wanted, bound):
        self.counters()
        self.rules, self.bound = frozenset(wanted), frozenset(bound)
        self.history.append(len(self.rules))
        if not self.is_deaf:
            self._forwards = self.rules if self.bound else frozenset()

    async def switch_link(self, interface, *, is_on):
        self.links[interface] = is_on

    def counters(self):
        """Return counters that grow by what ``flows`` (octets/s by rule number) send."""
        now = asyncio.get_running_loop().time()
        for rule in self._forwards:
            interface = f"Ethernet{49 + rule.table - 100}"
            sent = self.flows.get(rule.sequence_id, 0.0) * (now - self._counted)
            self.octets[interface] = self.octets.get(interface, 0.0) + sent
        self._counted = now
        return {
            interface: Counters(0, 0, 0, 0, int(self.octets.get(interface, 0.0)), 0, 0, 0)
            for interface in SHAPE.interfaces("leaf1")
        }


@asynccontextmanager
async def paper_switch(
    *,
    name: str = "leaf1",
    features: frozenset[str] = FEATURES,
    rollback_seconds: float = 30.0,
    election_id: int = 1,
) -> AsyncIterator[tuple[LabDevice, SwitchHand]]:
    """Serve a switch; yields it and a hand on it. Its commits expire when the test says so."""
    kernel = PaperKernel()
    configuration = LabConfiguration(features)
    clock = VirtualClock.starting_now(1.0)

    async def reroute() -> None:
        """Change no routes: there are none."""

    device = LabDevice(
        shape=SHAPE,
        switch="leaf1",
        kernel=kernel,
        clock=clock,
        configuration=configuration,
        commits=Commits(configuration, CommitState()),
        reroute=reroute,
    )
    server = grpc.aio.server()
    service = GnmiService(device=device, clock=clock, credentials=CREDENTIALS)
    gnmi_pb2_grpc.add_gNMIServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    session = Session(
        name=name,
        channel=grpc.aio.insecure_channel(f"127.0.0.1:{port}"),
        metadata=(("username", "lab"), ("password", "battery staple")),
        election_id=election_id,
        rollback_seconds=rollback_seconds,
        timeout_seconds=2.0,
    )
    hand = SwitchHand(session)
    try:
        yield device, hand
    finally:
        await hand.close()
        await server.stop(None)
        await asyncio.sleep(0)
