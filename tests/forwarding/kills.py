"""Moves under way when their actor is killed: what the switches hold then, and later."""

import asyncio
import json
import subprocess

import grpc
from gnmi_pb import gnmi_pb2, gnmi_pb2_grpc

from actuators.steering import paths
from tests.forwarding.actor import plan_of
from tests.forwarding.lab import METADATA, Child, hands

FLOWS = 6
OLD, NEW = ("Ethernet49",), ("Ethernet50", "Ethernet51")
ROLLBACK_SECONDS = 0.4


def request(lab, *, old=OLD, new=NEW, election, pauses=False, counts=False):
    return {
        "ports": lab.child.hello["ports"],
        "leaves": lab.shape.leaves,
        "flows": FLOWS,
        "rate": 100.0,
        "old": old,
        "new": new,
        "rollback": ROLLBACK_SECONDS,
        "election": election,
        "pauses": pauses,
        "counts": counts,
    }


class Actor:
    """An actor under way."""

    def __init__(self, told):
        self.child = Child("tests.forwarding.actor", json.dumps(told))

    def go(self):
        """Let it go on to its next stop; return what it says there."""
        return self.child.ask("go")

    def start(self):
        """Let it go on, and do not wait for what it says."""
        self.child.tell("go")

    def finish(self):
        """Let it go on to its end; return what it says there, and the stops."""
        stops = []
        said = self.go()
        while "at" in said:
            stops.append(said["at"])
            said = self.go()
        self.child.close()
        return said, stops

    def kill(self):
        self.child.kill()


def rules_of(lab, told, which):
    """Return the texts of each leaf's rules, by number, as the plan has them."""
    _, planned = plan_of(lab, told)
    rules = {leaf: {} for leaf in lab.shape.leaf_names}
    for change in planned.changes:
        value = change.to_value if which == "new" else change.from_value
        number = paths.rule_number(change.path)
        if number is not None and value:
            rules[change.target.removeprefix("switch/")][number] = value
    return rules


async def is_committing(hand):
    """Return whether a commit waits at a switch: it takes no Set then, not even an empty one."""
    stub = gnmi_pb2_grpc.gNMIStub(hand.session.channel)
    call = stub.Set(gnmi_pb2.SetRequest(), metadata=METADATA)
    code = await call.code()
    assert code in (grpc.StatusCode.OK, grpc.StatusCode.FAILED_PRECONDITION)
    return code is not grpc.StatusCode.OK


async def held(lab, election):
    """Return the rules of each leaf as it tells them, once no commit waits there any more."""
    async with hands(lab, *lab.shape.leaf_names, election_id=election) as opened:
        for hand in opened.values():
            while await is_committing(hand):  # noqa: ASYNC110 - the switch tells nobody
                await asyncio.sleep(0.02)
        return {
            hand.session.name: {n: rule.text() for n, rule in (await hand.rules()).items()}
            for hand in opened.values()
        }


def forwarded(lab, leaf):
    """Return how many rules the kernel has, by the uplink they send to."""
    told = subprocess.run(
        ["ip", "netns", "exec", lab.namespaces[leaf], "ip", "-json", "rule"],
        capture_output=True,
        check=True,
    ).stdout
    tables = [rule["table"] for rule in json.loads(told) if "sport" in str(rule)]
    uplinks = [cable.lower.interface for cable in lab.shape.uplinks_of(leaf).values()]
    counts = dict.fromkeys(uplinks, 0)
    for table in tables:
        counts[uplinks[int(table) - 100]] += 1
    return counts


def meant(lab, leaf, rules):
    """Return how many rules the kernel is to have, by uplink."""
    by_hop = {c.upper.address: c.lower.interface for c in lab.shape.uplinks_of(leaf).values()}
    counts = dict.fromkeys(by_hop.values(), 0)
    for text in rules.values():
        counts[by_hop[text.rpartition(" ")[2]]] += 1
    return counts
