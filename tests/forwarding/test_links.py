"""A link that goes takes its own flows along and no other, and they are put back."""

import asyncio

from actuators.carry_out import Hands, take_back
from actuators.records import Event, ReasonCode
from actuators.steering.plan import change_set
from actuators.steering.site import Assignment
from tests.actuators.inputs import no_pause
from tests.forwarding.lab import placed, steering
from tests.forwarding.ladder import draining, weights_only
from tests.forwarding.test_moves import A, B, C, D, pinned, share_of

LINK = f"link/leaf1:{B}"


def came(traffic):
    return {
        int(flow): seen["received"] for flow, seen in traffic.receiver.ask("report")["seen"].items()
    }


async def until_all_come(traffic, flows):
    """Wait until every flow arrives again."""
    start = came(traffic)
    while True:
        await asyncio.sleep(0.02)
        now = came(traffic)
        if all(now[flow.number] > start[flow.number] for flow in flows):
            return


async def test_pulled_link_moves_its_flows_only_and_they_are_put_back(lab):
    flows = lab.flows(8)
    async with steering(lab) as driver:
        with lab.traffic(flows) as traffic:
            old = await pinned(lab, driver, flows, [A, B, C, D])
            lab.switch_cable(LINK, is_on=False)
            await until_all_come(traffic, flows)
            # Hashed over the others by the switch; now they are placed.
            alive = [flow if flow.number % 4 != 2 else None for flow in flows]
            moved = placed(flows, [A, C, C, D])
            planned = change_set(old, moved, lab.means(is_ready=True))
            assert len(planned.changes) == alive.count(None) == 2
            await driver.write(planned.changes)
            await driver.confirm(planned.changes)
            assert await share_of(driver, [A, B, C, D]) == {A: 0.25, B: 0.0, C: 0.5, D: 0.25}
            lab.switch_cable(LINK, is_on=True)
            hold = Hands(driver=driver, retries=0, pause=no_pause)
            back = await take_back(
                planned.changes, hold, reason_code=ReasonCode.RECOVERED, reason="mended"
            )
            assert back.event is Event.ROLLED_BACK
            while (await share_of(driver, [A, B, C, D]))[B] < 0.2:
                pass
            assert await share_of(driver, [A, B, C, D]) == {A: 0.25, B: 0.25, C: 0.25, D: 0.25}
            report = traffic.stop()
    untouched = {n: one for n, one in report.items() if n % 4 != 2}
    assert {(one["lost"], one["reordered"], one["doubled"]) for one in untouched.values()} == {
        (0, 0, 0)
    }


async def test_weights_alone_empty_a_link_and_lose_nothing(lab):
    flows = lab.flows(16)
    async with steering(lab) as driver:
        with lab.traffic(flows) as traffic:
            means = weights_only(lab)
            planned = change_set(Assignment(), placed(flows, [A, B, D]), means)
            await driver.write(planned.changes)
            await driver.confirm(planned.changes)
            shares = await share_of(driver, [A, B, C, D])
            report = traffic.stop()
    assert shares[C] == 0.0
    assert sum(one["lost"] for one in report.values()) == 0


async def test_drained_link_is_left_before_it_goes_down(lab):
    flows = lab.flows(16)
    async with steering(lab) as driver:
        with lab.traffic(flows) as traffic:
            planned = change_set(Assignment(), placed(flows, [A]), draining(lab, B))
            assert [c.to_value for c in planned.changes] == ["false"]
            await driver.write(planned.changes)
            await driver.confirm(planned.changes)
            shares = await share_of(driver, [A, B, C, D])
            report = traffic.stop()
    assert shares[B] == 0.0
    assert sum(one["lost"] for one in report.values()) == 0
