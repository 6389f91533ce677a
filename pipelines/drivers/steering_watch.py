"""What ports carry, read by gNMI: whether the packets followed a change."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from actuators.steering.counters import (
    Followed,
    Port,
    Rates,
    Shift,
    followed,
    is_silent,
)
from pipelines.drivers.steering_switch import SwitchHand

_BITS: Final = 8
_NS: Final = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """How long counters are looked at.

    Attributes
    ----------
    window_seconds
        What a rate is taken over: whole periods of what is sent, where it comes in bursts.
    timeout_seconds
        By then the packets have followed, or they have not.
    """

    window_seconds: float = 0.02
    timeout_seconds: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Octets sent by port, and when each switch counted them, in its own ns."""

    octets: Mapping[Port, int]
    at_ns: Mapping[Port, int]


class Watch:
    """Reads the counters of switches' ports."""

    def __init__(self, hands: Mapping[str, SwitchHand], settings: WatchSettings) -> None:
        self._hands = hands
        self._settings = settings

    async def look(self, ports: Iterable[Port]) -> Reading:
        """Return what the ports have sent so far.

        Raises
        ------
        ActuationError
            A switch could not be asked.
        """
        by_target: dict[str, list[Port]] = {}
        for port in ports:
            if port[0] in self._hands:
                by_target.setdefault(port[0], []).append(port)
        told = await asyncio.gather(*(self._look_at(t, p) for t, p in by_target.items()))
        octets: dict[Port, int] = {}
        at_ns: dict[Port, int] = {}
        for found, time_ns in told:
            octets |= found
            at_ns |= dict.fromkeys(found, time_ns)
        return Reading(octets=octets, at_ns=at_ns)

    async def before(self, ports: Iterable[Port], first: Reading) -> Rates:
        """Return the rates since ``first``, over a window at least."""
        ports = list(ports)
        while True:
            now = await self.look(ports)
            missing = self._missing_seconds(first, now)
            if missing <= 0:
                return _rates(first, now)
            await asyncio.sleep(missing)

    async def after(
        self, expected: Mapping[Port, Shift], before: Rates, first: Reading
    ) -> list[Followed]:
        """Return what the ports carry since ``first`` once all follow, or when the time is up.

        Empty when counters cannot tell: nothing is sent.
        """
        waited = 0.0
        if not any(before.values()):
            return []
        while True:
            await asyncio.sleep(self._settings.window_seconds)
            waited += self._settings.window_seconds
            now = await self.look(first.octets)
            rates = _rates(first, now)
            told = followed(expected, before, rates)
            if all(one.is_seen for one in told) and self._missing_seconds(first, now) <= 0:
                return told
            if waited >= self._settings.timeout_seconds:
                return [] if is_silent(before, rates) else told
            first = now

    def _missing_seconds(self, first: Reading, now: Reading) -> float:
        spans = [now.at_ns[p] - first.at_ns[p] for p in now.at_ns if p in first.at_ns]
        return self._settings.window_seconds - min(spans, default=0) / _NS if spans else 0.0

    async def _look_at(self, target: str, ports: list[Port]) -> tuple[dict[Port, int], int]:
        by_path = {_path(port[1]): port for port in ports}
        found, time_ns = await self._hands[target].session.readings(list(by_path))
        octets = {
            by_path[path]: int(value)
            for path, value in found.items()
            if path in by_path and value.isdigit()
        }
        return octets, time_ns


def _path(interface: str) -> str:
    return f"/interfaces/interface[name={interface}]/state/counters/out-octets"


def _rates(first: Reading, last: Reading) -> dict[Port, float]:
    """Return bits per second by port; without those that were reset or not read twice."""
    rates = {}
    for port, octets in last.octets.items():
        span_ns = last.at_ns[port] - first.at_ns.get(port, last.at_ns[port])
        sent = octets - first.octets.get(port, octets)
        if span_ns > 0 and sent >= 0:
            rates[port] = sent * _BITS / (span_ns / _NS)
    return rates
