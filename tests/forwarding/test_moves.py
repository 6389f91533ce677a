"""Rules move live traffic, and nothing is lost or reordered."""

import asyncio
import time
from dataclasses import replace

import pytest

from actuators.carry_out import Hands, bring_about, inverse, take_back
from actuators.placement import place
from actuators.records import Event, ReasonCode
from actuators.steering.change_set import Phase
from actuators.steering.classes import PortClasses
from actuators.steering.counters import ways_of
from actuators.steering.idle import Beat
from actuators.steering.install import class_rules, install_classes
from actuators.steering.placed import assignment_of
from actuators.steering.plan import change_set
from actuators.steering.site import Assignment
from cluster.fabric import leaf_spine
from cluster.flows import Flows
from pipelines.drivers.steering_watch import WatchSettings
from tests.actuators.inputs import no_pause
from tests.forwarding.lab import WIRE_BYTES, hands, placed, steering, totals

A, B, C, D = (f"Ethernet{n}" for n in (49, 50, 51, 52))
UNHARMED = {"lost": 0, "reordered": 0, "doubled": 0, "retransmitted": 0}


def unharmed(report):
    told = totals(report)
    assert told.pop("sent") > 0
    return told


async def share_of(driver, interfaces, packets=160):
    """Return what part of leaf1's packets leaves by each interface, to a twentieth."""
    ports = [("switch/leaf1", interface) for interface in interfaces]
    first = await driver._watch.look(ports)
    everything = 0
    while everything < packets * WIRE_BYTES:
        await asyncio.sleep(0.05)
        last = await driver._watch.look(ports)
        sent = {port[1]: last.octets[port] - first.octets[port] for port in ports}
        everything = sum(sent.values())
    return {interface: round(20 * octets / everything) / 20 for interface, octets in sent.items()}


async def pinned(lab, driver, flows, interfaces):
    """Pin flows that are hashed so far; return where they are placed."""
    at = placed(flows, interfaces)
    driver.ways = ways_of(flows, lab.means().sites.values(), PortClasses())
    planned = change_set(Assignment(), at, lab.means())
    await driver.write(planned.changes)
    await driver.confirm(planned.changes)
    return at


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
async def test_flows_are_moved_and_put_back_and_no_packet_suffers(lab, protocol):
    flows = lab.flows(8, protocol=protocol)
    async with steering(lab) as driver:
        with lab.traffic(flows) as traffic:
            old = await pinned(lab, driver, flows, [A])
            assert await share_of(driver, [A, B, C, D]) == {A: 1.0, B: 0.0, C: 0.0, D: 0.0}
            new = placed(flows, [B, C, B, D])
            planned = change_set(old, new, lab.means(is_ready=True))
            hold = Hands(driver=driver, retries=0, pause=no_pause)
            done = await bring_about(planned.changes, hold, written=lambda: None)
            assert done.event is Event.VERIFIED
            assert await share_of(driver, [A, B, C, D]) == {A: 0.0, B: 0.5, C: 0.25, D: 0.25}
            back = await take_back(
                planned.changes, hold, reason_code=ReasonCode.EFFECT_WORSE, reason="worse"
            )
            assert back.event is Event.ROLLED_BACK
            assert await share_of(driver, [A, B, C, D]) == {A: 1.0, B: 0.0, C: 0.0, D: 0.0}
            assert unharmed(traffic.stop()) == UNHARMED


async def test_bringing_about_twice_writes_once(lab):
    flows = lab.flows(4)
    async with steering(lab) as driver:
        await pinned(lab, driver, flows, [A])
        planned = change_set(placed(flows, [A]), placed(flows, [B]), lab.means(is_ready=True))
        hold = Hands(driver=driver, retries=0, pause=no_pause)
        reasons = [
            (await bring_about(planned.changes, hold, written=lambda: None)).reason
            for _ in range(2)
        ]
    assert reasons == ["read back equal in 4 of 4 places", "was so already in 4 of 4 places"]


async def test_moves_wait_for_the_jobs_idle_phase(lab):
    period, busy = 0.2, 0.1
    flows = lab.flows(4, rate=200.0 * busy / period)
    beat = Beat(start_ns=0, period_ns=int(period * 1e9), busy_ns=int(busy * 1e9))
    phases = []

    async def idle(changes):
        del changes
        now_ns = time.monotonic_ns()
        at_ns = beat.idle_at(now_ns, need_ns=40_000_000)
        phases.append(at_ns % beat.period_ns)
        await asyncio.sleep((at_ns - now_ns) / 1e9)

    watch = WatchSettings(window_seconds=period)
    async with steering(lab, watch=watch) as driver:
        driver._idle = idle
        with lab.traffic(flows, period=period, busy=busy) as traffic:
            old = await pinned(lab, driver, flows, [A])
            planned = change_set(old, placed(flows, [C]), lab.means(is_ready=True))
            await driver.write(planned.changes)
            await driver.confirm(planned.changes)
            shares = await share_of(driver, [A, C])
            assert unharmed(traffic.stop()) == UNHARMED
    assert shares == {A: 0.0, C: 1.0}
    assert all(phase >= beat.busy_ns for phase in phases)


async def test_packets_that_do_not_follow_undo_the_change(lab):
    flows = lab.flows(4)
    async with steering(lab, watch=WatchSettings(timeout_seconds=0.2)) as driver:
        with lab.traffic(flows) as traffic:
            old = await pinned(lab, driver, flows, [A])
            # Two neighbours are taken for each other: packets go where nobody expects them.
            hops = driver.ways.hops
            second, fourth = ("switch/leaf1", "10.101.2.1"), ("switch/leaf1", "10.101.4.1")
            hops[second], hops[fourth] = hops[fourth], hops[second]
            planned = change_set(old, placed(flows, [B]), lab.means(is_ready=True))
            hold = Hands(driver=driver, retries=0, pause=no_pause)
            done = await bring_about(planned.changes, hold, written=lambda: None)
            assert done.event is Event.FAILED
            assert f"packets did not follow: switch/leaf1 {D}" in done.reason
            assert done.reason.endswith("everything is as it was")
            assert await share_of(driver, [A, B, C, D]) == {A: 1.0, B: 0.0, C: 0.0, D: 0.0}
            assert unharmed(traffic.stop()) == UNHARMED


async def test_source_ports_choose_the_path_once_the_classes_have_rules(lab):
    classes = PortClasses()
    site = lab.site("leaf1")
    installed = install_classes(site, classes, present={})
    flows = lab.flows(1)
    port = classes.port(2, 5)
    flows = [_sent_from(flows[0], port)]
    async with steering(lab) as driver, hands(lab, "leaf1", election_id=2) as opened:
        with lab.traffic(flows) as traffic:
            await driver.write(installed.changes)
            await driver.confirm(installed.changes)
            shares = await share_of(driver, [A, B, C, D])
            assert unharmed(traffic.stop()) == UNHARMED
        rules = await opened["switch/leaf1"].rules()
        await driver.write(inverse(installed.changes))
        await driver.confirm(inverse(installed.changes))
        assert await opened["switch/leaf1"].rules() == {}
    assert shares == {A: 0.0, B: 0.0, C: 1.0, D: 0.0}
    assert sorted(rules.values()) == sorted(class_rules(site, classes))
    assert installed.steps[0].phase is Phase.PREPARE


def _sent_from(flow, port):

    return replace(flow, match=replace(flow.match, source_ports=str(port)))


async def test_flows_placed_together_fill_all_uplinks_alike(lab):
    flows = lab.flows(8)
    fabric = leaf_spine(leaves=2, spines=4, endpoints=8)
    placement = place(fabric, Flows.of(range(8), range(8, 16)))
    found = assignment_of(placement, lambda row: flows[row].match)
    uplinks = {f"up{n}": interface for n, interface in enumerate((A, B, C, D), 1)}
    at = Assignment(
        flows=tuple(replace(f, bits_per_second=flows[0].bits_per_second) for f in found.flows),
        interfaces=tuple(uplinks[interface] for interface in found.interfaces),
    )
    async with steering(lab) as driver:
        driver.ways = ways_of(at.flows, lab.means().sites.values(), PortClasses())
        with lab.traffic(flows) as traffic:
            planned = change_set(Assignment(), at, lab.means())
            await driver.write(planned.changes)
            await driver.confirm(planned.changes)
            assert await share_of(driver, [A, B, C, D]) == {A: 0.25, B: 0.25, C: 0.25, D: 0.25}
            assert unharmed(traffic.stop()) == UNHARMED
