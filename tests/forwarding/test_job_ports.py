"""A job that is told other source ports sends by other paths, where leaves have rules for them."""

import asyncio
import socket
import struct
from dataclasses import replace

from actuators.carry_out import Hands, bring_about
from actuators.records import Event
from actuators.steering.capability import Rung, job_capability
from actuators.steering.classes import PortClasses
from actuators.steering.counters import ways_of
from actuators.steering.install import install_classes
from actuators.steering.plan import change_set
from pipelines.drivers.steering import SteeringDriver
from simulator.linux.namespaces import inside
from tests.actuators.inputs import no_pause
from tests.drivers.port_job import Channel, running
from tests.forwarding.lab import PORT, WIRE_BYTES, hands, placed
from tests.forwarding.test_moves import A, B, C, D, share_of

RATE, BURST = 500.0, 10
CLASSES = PortClasses()


def opened_in(namespace):
    return inside(namespace, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))


class Job:
    """Sends bursts from rank 0 to rank 1, numbered; takes another port between two bursts."""

    def __init__(self, lab):
        self._namespace = lab.namespaces["host1-1"]
        self._target = (lab.address("host2-1"), PORT)
        self._receiver = opened_in(lab.namespaces["host2-1"])
        self._receiver.bind(("", PORT))
        self._receiver.setblocking(False)
        self._receiver.setsockopt(socket.SOL_SOCKET, 33, 1 << 23)  # SO_RCVBUFFORCE
        self._is_told = True
        self._sender = None
        self.ports_used = []
        self.sent = 0
        self.channel = Channel({0: [1]})
        self.channel.ports.on_change = self._on_change

    def _on_change(self, rank, connection, port):
        del rank, connection, port
        self._is_told = True

    async def run(self):
        while True:
            if self._is_told:
                self._is_told = False
                self._reopen()
            for _ in range(BURST):
                self._sender.sendto(struct.pack("!I", self.sent).ljust(100), self._target)
                self.sent += 1
            await asyncio.sleep(BURST / RATE)

    def _reopen(self):
        if self._sender is not None:
            self._sender.close()
        self._sender = opened_in(self._namespace)
        self.ports_used.append(self.channel.ports.bind(self._sender, 0, 0))

    def received(self):
        """Return the numbers in the order they came."""
        numbers = []
        while len(numbers) < self.sent:
            numbers.append(struct.unpack_from("!I", self._receiver.recv(2048))[0])
        return numbers

    def close(self):
        self._receiver.close()
        self._sender.close()


async def test_job_told_other_ports_sends_by_other_paths_in_order_and_without_loss(lab):
    means = lab.means(is_ready=True)
    means = replace(means, capabilities={"job/train": job_capability("job/train", 1)})
    site = means.sites["leaf1"]
    flow = replace(lab.flows(1)[0], job="train", bits_per_second=RATE * WIRE_BYTES * 8)
    first, job = replace(flow, source_port=CLASSES.port(0, 1)), Job(lab)
    async with hands(lab, "leaf1") as switches, running(job.channel) as jobs:
        driver = SteeringDriver(switches, jobs=jobs)
        installed = install_classes(lab.site("leaf1"), CLASSES, present={})
        await driver.write(installed.changes)
        await driver.confirm(installed.changes)
        hold = Hands(driver=driver, retries=0, pause=no_pause)
        sending = asyncio.create_task(job.run())
        for old, new, now in ((None, A, flow), (A, C, first)):
            planned = change_set(placed([now], [old]), placed([now], [new]), means)
            assert planned.rungs == {"job/train": Rung.SOURCE_PORTS}
            driver.ways = ways_of([now], [site], CLASSES)
            outcome = await bring_about(planned.changes, hold, written=lambda: None)
            assert outcome.event is Event.VERIFIED, outcome
            expected = dict.fromkeys([A, B, C, D], 0.0) | {new: 1.0}
            assert await share_of(driver, [A, B, C, D]) == expected
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await asyncio.sleep(0.05)
    assert job.received() == list(range(job.sent))
    assert job.ports_used[1:] == [CLASSES.port(0, 1), CLASSES.port(2, 1)]
    job.close()
