"""A process that moves flows and stops at every call to a switch until it is told to go on.

``python -m tests.forwarding.actor JSON``: ``ports`` of the switches, ``leaves``, ``flows`` a leaf,
``old`` and ``new`` interfaces that they are dealt to (``null`` for ``old``: they are hashed),
``rollback`` in seconds, ``election``, ``pauses`` (whether to stop). Prints a line of JSON at each
stop, ``{"done": true}`` at the end.
"""

import asyncio
import json
import sys

import grpc

from actuators.carry_out import Hands, bring_about
from actuators.records import Event
from actuators.steering.classes import PortClasses
from actuators.steering.counters import ways_of
from actuators.steering.plan import change_set
from actuators.steering.site import Assignment
from pipelines.drivers.gnmi_session import Session
from pipelines.drivers.steering import SteeringDriver
from pipelines.drivers.steering_switch import SwitchHand
from simulator.linux.shape import Shape
from tests.actuators.inputs import no_pause
from tests.forwarding.lab import METADATA, RunningLab, placed


class PausingHand(SwitchHand):
    """Stops before and after each call that changes something."""

    def __init__(self, session, *, pauses):
        super().__init__(session)
        self._pauses = pauses

    async def write(self, changes):
        self._stop("before write")
        await super().write(changes)
        self._stop("after write")

    async def confirm(self):
        self._stop("before confirm")
        await super().confirm()
        self._stop("after confirm")

    def _stop(self, where):
        if self._pauses:
            say(at=f"{self.session.name} {where}")
            sys.stdin.readline()


def say(**told):
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def plan_of(lab, told):
    """Return the flows of all leaves, and what moves them."""
    flows, old, new = [], [], []
    for leaf in range(1, told["leaves"] + 1):
        own = lab.flows(told["flows"], leaf=leaf, rate=told["rate"])
        flows += own
        old += placed(own, told["old"] or [None]).interfaces
        new += placed(own, told["new"]).interfaces
    before = Assignment(flows=tuple(flows), interfaces=tuple(old))
    after = Assignment(flows=tuple(flows), interfaces=tuple(new))
    return flows, change_set(before, after, lab.means(is_ready=bool(told["old"])))


async def main(told):
    lab = RunningLab(shape=Shape(leaves=told["leaves"]), child=None)
    hands = {}
    for leaf in lab.shape.leaf_names:
        session = Session(
            name=leaf,
            channel=grpc.aio.insecure_channel(f"127.0.0.1:{told['ports'][leaf]}"),
            metadata=METADATA,
            election_id=told["election"],
            rollback_seconds=told["rollback"],
        )
        hands[f"switch/{leaf}"] = PausingHand(session, pauses=told["pauses"])
    driver = SteeringDriver(hands)
    flows, planned = plan_of(lab, told)
    if told["counts"]:
        driver.ways = ways_of(flows, lab.means().sites.values(), PortClasses())
    say(ready=True)
    sys.stdin.readline()
    hold = Hands(driver=driver, retries=0, pause=no_pause)
    outcome = await bring_about(planned.changes, hold, written=lambda: None)
    await driver.close()
    say(done=outcome.event is Event.VERIFIED, reason=outcome.reason)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
