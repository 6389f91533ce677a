"""The ladder's driver on switches that take configuration and forward nothing."""

import asyncio

import pytest

from actuators.carry_out import Hands, bring_about
from actuators.ports import PermanentActuationError
from actuators.records import Change, Event, ReasonCode
from actuators.steering import paths
from actuators.steering.capability import Rung
from actuators.steering.classes import PortClasses
from actuators.steering.counters import ways_of
from actuators.steering.plan import change_set
from actuators.steering.site import Assignment
from pipelines.drivers.steering import SteeringDriver
from pipelines.drivers.steering_probe import Probe, probe_switch
from pipelines.drivers.steering_watch import WatchSettings
from simulator.linux.device import FEATURES
from tests.actuators.inputs import no_pause
from tests.actuators.steering.sites import (
    INTERFACES,
    ROUTE,
    TARGET,
    WEIGHT_PATHS,
    assignment,
    flow,
    means,
    site,
)
from tests.drivers.paper_switch import paper_switch

A, B, C, D = INTERFACES
WATCH = WatchSettings(window_seconds=0.02, timeout_seconds=0.1)
OCTETS = 1e6
FRESH = {"at": site(is_ready=False)}


def told(old, new, *rungs, **more):
    rungs = rungs or (Rung.POLICY_RULES,)
    return change_set(old, new, means(*rungs, **more)).changes


def hold(driver):
    return Hands(driver=driver, retries=0, pause=no_pause)


def driving(*hands, flows=()):
    driver = SteeringDriver({f"switch/{hand.session.name}": hand for hand in hands}, watch=WATCH)
    driver.ways = ways_of(flows, [site()], PortClasses())
    return driver


def tables(device):
    return {rule.sequence_id: rule.table for rule in device.kernel.rules}


async def test_phases_are_confirmed_one_by_one_and_the_last_is_left_to_confirm():
    changes = told(assignment([A], [flow(1)]), assignment([B], [flow(2)]), **FRESH)
    async with paper_switch() as (device, hand):
        driver = driving(hand)
        first = told(Assignment(), assignment([A], [flow(1)]), **FRESH)
        await driver.write(first)
        await driver.confirm(first)
        await driver.write([c for c in changes if paths.rule_number(c.path) is not None])
        assert tables(device) == {2: 101}
        assert device.commits.state.pending is not None
        await driver.confirm(changes)
        assert device.commits.state.pending is None
        assert device.kernel.bound == {"Ethernet1"}


async def test_what_the_switch_tells_is_read_in_our_words():
    changes = told(Assignment(), assignment([A]), **FRESH)
    async with paper_switch() as (_, hand):
        driver = driving(hand)
        nothing = dict.fromkeys([(c.target, c.path) for c in changes], "")
        assert await driver.read(changes) == nothing
        await driver.write(changes)
        assert await driver.read(changes) == {(c.target, c.path): c.to_value for c in changes}


async def test_moved_rule_is_changed_in_place():
    old, new = assignment([A, A]), assignment([A, C])
    async with paper_switch() as (device, hand):
        driver = driving(hand)
        first = told(Assignment(), old, **FRESH)
        await driver.write(first)
        await driver.confirm(first)
        outcome = await bring_about(told(old, new), hold(driver), written=lambda: None)
        assert outcome.event is Event.VERIFIED
        assert tables(device) == {1: 100, 2: 102}


async def test_packets_that_follow_are_seen():
    flows = [flow(n, bits_per_second=OCTETS * 8) for n in (1, 2)]
    old, new = assignment([A, A], flows), assignment([B, C], flows)
    async with paper_switch() as (device, hand):
        driver = driving(hand, flows=flows)
        device.kernel.flows = {1: OCTETS, 2: OCTETS}
        first = told(Assignment(), old, **FRESH)
        await driver.write(first)
        await driver.confirm(first)
        outcome = await bring_about(told(old, new), hold(driver), written=lambda: None)
    assert outcome.event is Event.VERIFIED


async def test_switch_that_forwards_as_before_is_found_out_and_put_back():
    flows = [flow(1, bits_per_second=OCTETS * 8)]
    old, new = assignment([A], flows), assignment([B], flows)
    async with paper_switch() as (device, hand):
        driver = driving(hand, flows=flows)
        device.kernel.flows = {1: OCTETS}
        first = told(Assignment(), old, **FRESH)
        await driver.write(first)
        await driver.confirm(first)
        device.kernel.is_deaf = True
        outcome = await bring_about(told(old, new), hold(driver), written=lambda: None)
        assert (outcome.event, outcome.reason_code) == (Event.FAILED, ReasonCode.DRIVER_REFUSED)
        assert outcome.reason.startswith(f"packets did not follow: {TARGET} {A}")
        assert tables(device) == {1: 100}
        assert device.commits.state.pending is None


async def test_one_switchs_refusal_undoes_the_phase_at_all():
    changes = told(Assignment(), assignment([A]), **FRESH)
    other = [
        Change(target="switch/leaf2", path=c.path, from_value=c.from_value, to_value=c.to_value)
        for c in changes
    ]
    features = FEATURES - {"policy"}
    async with (
        paper_switch() as (device, hand),
        paper_switch(name="leaf2", features=features) as (_, unable),
    ):
        driver = driving(hand, unable)
        with pytest.raises(PermanentActuationError, match=r"switch/leaf2: Set .*UNIMPLEMENTED"):
            await driver.write([*changes, *other])
        assert device.configuration.values == {}
        assert device.commits.state.pending is None


async def test_switch_takes_back_what_nobody_confirms():
    changes = told(Assignment(), assignment([A]), **FRESH)
    async with paper_switch(rollback_seconds=0.05) as (device, hand):
        driver = driving(hand)
        await driver.write(changes)
        assert tables(device) == {1: 100}
        await asyncio.sleep(0.06)
        assert await device.expire()
        assert tables(device) == {}


async def test_switch_without_commits_is_put_back_by_us():
    changes = told(Assignment(), assignment([A]), **FRESH)
    features = FEATURES - {"commits"}
    async with paper_switch(features=features, rollback_seconds=0.05) as (device, hand):
        driver = driving(hand)
        await driver.write(changes)
        while device.kernel.history != [0, 1, 0]:  # noqa: ASYNC110 - the switch tells nobody
            await asyncio.sleep(0.005)
        # Capacity stays: it is a phase of its own, and confirmed.
        assert device.kernel.bound == {"Ethernet1"}


async def test_weights_and_ports_are_written_as_numbers_and_truth_values():
    weights = told(Assignment(), assignment([A, A, B]), Rung.WEIGHTS)
    drained = told(Assignment(), assignment([A]), Rung.DRAIN, at=site(avoided=(D,)))
    async with paper_switch() as (device, hand):
        driver = driving(hand)
        await driver.write([*weights, *drained])
        await driver.confirm(weights)
        assert {spine: w for (_, spine), w in device.meaning.weights.items()} == {
            "spine1": 43,
            "spine2": 21,
            "spine3": 0,
            "spine4": 0,
        }
        assert device.kernel.links == {D: False}
        back = change_set(Assignment(), assignment([A, A, B]), means(Rung.WEIGHTS)).inverse()
        await driver.write(back.changes)
        assert device.meaning.weights == {}


async def test_unknown_target_and_path_are_refused():
    async with paper_switch() as (_, hand):
        driver = driving(hand)
        odd = Change(target=TARGET, path="/system/config/hostname", from_value="", to_value="x")
        with pytest.raises(PermanentActuationError, match="hostname"):
            await driver.write([odd])
        stranger = Change(
            target="switch/leaf9", path=paths.rule_path(1), from_value="", to_value=""
        )
        with pytest.raises(PermanentActuationError, match="leaf9 cannot be steered"):
            await driver.read([stranger])


async def test_probe_tells_what_a_switch_can_do_and_leaves_it_as_it_was():
    probe = Probe(next_hop=site().uplinks[0].next_hop, weight_path=WEIGHT_PATHS[0], interface=A)
    cases = {
        FEATURES: (Rung.POLICY_RULES, True),
        FEATURES - {"commits"}: (Rung.POLICY_RULES, False),
        frozenset({"weights"}): (Rung.WEIGHTS, False),
        frozenset({"commits"}): (Rung.DRAIN, True),
    }
    assert ROUTE.weight_path(ROUTE.next_hops[0]) == WEIGHT_PATHS[0]
    for features, expected in cases.items():
        async with paper_switch(features=features) as (device, hand):
            found = await probe_switch(hand.session, probe)
            enabled = {v for p, v in device.configuration.values.items() if p[-1].name == "enabled"}
            assert (found.best(), found.takes_commits) == expected
            assert device.kernel.rules == frozenset()
            assert device.meaning.weights == {}
            assert enabled <= {True}
            assert device.commits.state.pending is None


async def test_rung_that_nothing_is_known_for_is_not_tried():
    async with paper_switch() as (device, hand):
        found = await probe_switch(hand.session, Probe())
        assert found.best() is Rung.ADVICE
        assert set(found.lacking) == {Rung.POLICY_RULES, Rung.WEIGHTS, Rung.DRAIN}
        assert device.configuration.values == {}
