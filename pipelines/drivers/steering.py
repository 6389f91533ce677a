"""The ladder's driver: changes of switches and jobs, phase by phase, verified before they last."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import structlog

from actuators.ports import ActuationError, Driver, PermanentActuationError
from actuators.records import Change
from actuators.steering.change_set import Phase, Step, ordered
from actuators.steering.counters import Port, Rates, Shift, Ways, expected_shifts
from pipelines.drivers.gnmi_session import Session
from pipelines.drivers.steering_ports import JobHand
from pipelines.drivers.steering_switch import SwitchHand
from pipelines.drivers.steering_watch import Reading, Watch, WatchSettings

log = structlog.get_logger()


class Hand(Protocol):
    """Steers one target, a switch or a job."""

    async def read(self, changes: Sequence[Change]) -> Mapping[str, str]: ...

    async def write(self, changes: Sequence[Change]) -> None: ...

    async def confirm(self) -> None: ...

    async def undo(self, changes: Sequence[Change]) -> None: ...

    async def close(self) -> None: ...


Idle = Callable[[Sequence[Change]], Awaitable[None]]
"""Returns when what the changes move is not sending, or at once when nobody knows."""


async def at_once(changes: Sequence[Change]) -> None:
    """Wait for nothing."""
    del changes


class SteeringDriver:
    """The `Driver` of source ports, forwarding rules, weights and drained ports.

    ``hands`` are by target; ``jobs`` is the driver of every job's source ports.

    ``write`` goes phase by phase: capacity, moves, removal. In each, every target gets its changes
    in one transaction that it undoes by itself unless it is confirmed; they are read back, and
    after moves the counters are looked at: old ports send less, new ones more. A phase is confirmed
    before the next begins; the last one is left to `confirm`. When anything of a phase fails, the
    phase is undone everywhere. So whoever dies at whatever point leaves each target wholly before
    a phase or wholly after it, and no phase leaves a flow without a way.

    Attributes
    ----------
    ways
        Which ports the changes' flows leave by, and how much they send: without it, counters are
        not looked at.
    """

    name = "steering"

    def __init__(
        self,
        hands: Mapping[str, Hand],
        *,
        watch: WatchSettings | None = None,
        idle: Idle = at_once,
        jobs: Driver | None = None,
    ) -> None:
        self.ways = Ways()
        self._hands = dict(hands)
        switches = {t: hand for t, hand in hands.items() if isinstance(hand, SwitchHand)}
        self._watch = Watch(switches, watch or WatchSettings())
        self._idle = idle
        self._jobs = None if jobs is None else JobHand(jobs)

    async def read(self, changes: Sequence[Change]) -> Mapping[tuple[str, str], str]:
        """Return the value at each change's place; empty where nothing is."""
        by_target: dict[str, list[Change]] = {}
        for change in changes:
            by_target.setdefault(change.target, []).append(change)
        told = await asyncio.gather(*(self._hand(t).read(c) for t, c in by_target.items()))
        return {
            (target, path): value
            for target, values in zip(by_target, told, strict=True)
            for path, value in values.items()
        }

    async def write(self, changes: Sequence[Change]) -> None:
        """Bring the changes about in the order that hurts nothing.

        Raises
        ------
        TransientActuationError
            A target could not be reached, or its answer is not known.
        PermanentActuationError
            A target refused, shows something else than was written, or the packets did not follow.
        """
        steps = ordered(changes)
        first = await self._first_look(changes)
        phases = sorted({step.phase for step in steps})
        for phase in phases:
            group = [step for step in steps if step.phase is phase]
            await self._make(group, first)
            if phase is not phases[-1]:
                await self._confirm([step.target for step in group])

    async def confirm(self, changes: Sequence[Change]) -> None:
        await self._confirm(dict.fromkeys(change.target for change in changes))

    async def close(self) -> None:
        for hand in self._hands.values():
            await hand.close()

    async def _first_look(self, changes: Sequence[Change]) -> Reading | None:
        ports = expected_shifts(changes, self.ways)
        return await self._watch.look(self.ways.beside(ports)) if ports else None

    async def _make(self, steps: Sequence[Step], first: Reading | None) -> None:
        changes = [change for step in steps for change in step.changes]
        expected = expected_shifts(changes, self.ways) if steps[0].phase is Phase.MOVE else {}
        before: Rates = {}
        if expected and first is not None:
            before = await self._watch.before(first.octets, first)
        if steps[0].phase is not Phase.PREPARE:
            await self._idle(changes)
        try:
            await self._write_all(steps)
            since = await self._watch.look(before) if expected else None
            await asyncio.gather(self._check(changes), self._check_packets(expected, before, since))
        except BaseException:
            await self._undo(steps)
            raise

    async def _write_all(self, steps: Sequence[Step]) -> None:
        """Write to all targets at once, and wait for all before one's failure is told."""
        told = await asyncio.gather(
            *(self._hand(step.target).write(step.changes) for step in steps),
            return_exceptions=True,
        )
        faults = [one for one in told if isinstance(one, BaseException)]
        if faults:
            raise faults[0]

    async def _check(self, changes: Sequence[Change]) -> None:
        found = await self.read(changes)
        odd = [c for c in changes if found[c.target, c.path] != c.to_value]
        if odd:
            at = odd[0]
            raise PermanentActuationError(
                f"{at.target} {at.path} is {found[at.target, at.path]!r}, not {at.to_value!r}"
                f" ({len(odd)} of {len(changes)} differ)"
            )

    async def _check_packets(
        self, expected: Mapping[Port, Shift], before: Rates, first: Reading | None
    ) -> None:
        if first is None:
            return
        told = await self._watch.after(expected, before, first)
        odd = [one.text() for one in told if not one.is_seen]
        if odd:
            raise PermanentActuationError(f"packets did not follow: {'; '.join(odd)}")

    async def _undo(self, steps: Sequence[Step]) -> None:
        for step in reversed(steps):
            try:
                await self._hand(step.target).undo(step.changes)
            except ActuationError as error:
                # The caller reads back and tells what remains.
                log.warning("change not undone", target=step.target, detail=str(error))

    async def _confirm(self, targets: Sequence[str] | Mapping[str, object]) -> None:
        await asyncio.gather(*(self._hand(target).confirm() for target in targets))

    def _hand(self, target: str) -> Hand:
        hand = self._hands.get(target)
        if hand is None and self._jobs is not None and target.startswith("job/"):
            return self._jobs
        if hand is None:
            raise PermanentActuationError(
                f"{target} cannot be steered; what can is {sorted(self._hands)}"
            )
        return hand


def steering_driver(
    sessions: Mapping[str, Session],
    jobs: Driver,
    *,
    watch: WatchSettings | None = None,
    idle: Idle = at_once,
) -> SteeringDriver:
    """Return the ladder's driver for switches (`pipelines.drivers.gnmi_set.sessions_of`) and jobs.

    Sessions may be shared with the driver of weights: a switch has one commit at a time, so both
    never act on it at once.
    """
    hands = {target: SwitchHand(session) for target, session in sessions.items()}
    return SteeringDriver(hands, watch=watch, idle=idle, jobs=jobs)
