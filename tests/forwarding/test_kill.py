"""Whoever acts is killed: switches hold the old placement or the new one, and forward by it."""

import itertools

import pytest

from tests.forwarding.kills import (
    NEW,
    OLD,
    Actor,
    forwarded,
    held,
    meant,
    request,
    rules_of,
)
from tests.forwarding.lab import totals

# By how many stops the actor has passed; all of them are tried by the benchmark.
WRITTEN_AT_BOTH, CONFIRMED_AT_ONE = 4, 7


def pin(lab):
    """Pin all flows to the old uplink."""
    said, _ = Actor(request(lab, old=None, new=OLD, election=1)).finish()
    assert said["done"], said


async def moved_and_put_back(lab, election):
    """Let one more actor end what was begun, and another put it back; return what is held."""
    said, _ = Actor(request(lab, election=next(election))).finish()
    assert said["done"], said
    found = await held(lab, next(election))
    said, _ = Actor(request(lab, old=NEW, new=OLD, election=next(election))).finish()
    assert said["done"], said
    return found


@pytest.mark.parametrize("stops", [WRITTEN_AT_BOTH, CONFIRMED_AT_ONE])
async def test_switches_of_a_killed_actor_hold_one_placement_and_forward_by_it(lab, stops):
    pin(lab)
    election = itertools.count(2)
    told = request(lab, election=0)
    old, new = rules_of(lab, told, "old"), rules_of(lab, told, "new")
    with lab.traffic(lab.flows(6, rate=100.0), rate=100.0) as traffic:
        actor = Actor(request(lab, election=next(election), pauses=True))
        for _ in range(stops):
            actor.go()
        actor.kill()
        found = await held(lab, next(election))
        assert [rules in (old[leaf], new[leaf]) for leaf, rules in found.items()] == [True, True]
        assert [forwarded(lab, leaf) for leaf in found] == [
            meant(lab, leaf, rules) for leaf, rules in found.items()
        ]
        assert await moved_and_put_back(lab, election) == new
        report = totals(traffic.stop())
    assert (report["lost"], report["reordered"]) == (0, 0)
    if stops == WRITTEN_AT_BOTH:
        assert found == old
