"""Packets that wait in a link's queue are overtaken by what is moved, but in an idle phase."""

import asyncio
import time

import pytest

from actuators.steering.idle import Beat
from actuators.steering.plan import change_set
from pipelines.drivers.steering_watch import WatchSettings
from tests.forwarding.lab import WIRE_BYTES, placed, steering, totals
from tests.forwarding.test_moves import A, C, pinned

RATE, FLOWS = 200.0, 4
SENT = RATE * FLOWS * WIRE_BYTES * 8
PERIOD, BUSY = 0.4, 0.1
# The burst, and as long again until the queue that it leaves is empty.
BEAT = Beat(start_ns=0, period_ns=int(PERIOD * 1e9), busy_ns=int(2 * BUSY * 1e9))


@pytest.fixture
def slowed(lab):
    """A fabric whose first uplink carries two thirds of what the flows send."""
    answer = lab.slow_cable(f"link/leaf1:{A}", int(SENT * 2 / 3))
    if answer != {"done": True}:
        pytest.skip(f"the kernel cannot slow a link: {answer['error']}")
    return lab


async def in_idle_phase(changes):
    del changes
    now_ns = time.monotonic_ns()
    await asyncio.sleep((BEAT.idle_at(now_ns, need_ns=150_000_000) - now_ns) / 1e9)


async def moved(lab, driver, flows, traffic):
    """Move the flows off the slow uplink; return what became of the packets."""
    old = await pinned(lab, driver, flows, [A])
    await asyncio.sleep(PERIOD)
    planned = change_set(old, placed(flows, [C]), lab.means(is_ready=True))
    await driver.write(planned.changes)
    await driver.confirm(planned.changes)
    return totals(traffic.stop())


async def test_flows_moved_off_a_queue_are_overtaken_and_none_is_lost(slowed):
    flows = slowed.flows(FLOWS, rate=RATE)
    async with steering(slowed, watch=WatchSettings(window_seconds=0.1)) as driver:
        with slowed.traffic(flows, rate=RATE) as traffic:
            report = await moved(slowed, driver, flows, traffic)
    assert report["lost"] == 0
    assert report["reordered"] > 0


async def test_flows_moved_in_their_jobs_idle_phase_are_not(slowed):
    flows = slowed.flows(FLOWS, rate=RATE * BUSY / PERIOD)
    async with steering(slowed, watch=WatchSettings(window_seconds=PERIOD)) as driver:
        driver._idle = in_idle_phase
        with slowed.traffic(flows, rate=RATE, period=PERIOD, busy=BUSY) as traffic:
            report = await moved(slowed, driver, flows, traffic)
    assert (report["lost"], report["reordered"]) == (0, 0)
