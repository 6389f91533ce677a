"""Did the packets follow? What ports carried before and after a change, beside the plan."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from actuators.records import Change
from actuators.steering import paths
from actuators.steering.change_set import ABSENT
from actuators.steering.classes import PortClasses
from actuators.steering.rules import rule_of_text
from actuators.steering.site import Site, SteeredFlow

# Of a port's load; a smaller change is not told from the traffic's own ups and downs.
_LEAST_SHARE: Final = 0.1
# Of the change that is expected.
_ENOUGH: Final = 0.5

Port = tuple[str, str]
"""Target and interface."""
Rates = Mapping[Port, float]
"""Bits per second a port sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Which port a changed rule or source port sends its flow out of, and how much that is.

    Attributes
    ----------
    hops
        Port by (target, next hop).
    classes, ports
        Port by class of source ports, by (job, path of its source port).
    rates
        Bits per second by (target, path) of the change, as far as known.
    """

    hops: Mapping[tuple[str, str], Port] = field(default_factory=dict)
    classes: PortClasses = field(default_factory=PortClasses)
    ports: Mapping[tuple[str, str], Mapping[int, Port]] = field(default_factory=dict)
    rates: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def beside(self, ports: Iterable[Port]) -> list[Port]:
        """Return these ports, and all others that flows can leave the same targets by."""
        told = dict.fromkeys(ports)
        targets = {target for target, _ in told}
        return [*told, *(p for p in self.hops.values() if p[0] in targets and p not in told)]

    def port(self, change: Change, value: str) -> Port | None:
        """Return where a value of what is changed sends to; None when it cannot be said."""
        number = paths.rule_number(change.path)
        if number is not None:
            hop = "" if value == ABSENT else rule_of_text(number, value).next_hop
            return self.hops.get((change.target, hop))
        by_class = self.ports.get((change.target, change.path), {})
        found = self.classes.class_of(int(value or 0)) if by_class else None
        return None if found is None else by_class.get(found)


def ways_of(flows: Iterable[SteeredFlow], sites: Iterable[Site], classes: PortClasses) -> Ways:
    """Return the ways of flows, for `expected_shifts`."""
    by_switch = {site.switch: site for site in sites}
    ports: dict[tuple[str, str], dict[int, Port]] = {}
    rates: dict[tuple[str, str], float] = {}
    for flow in flows:
        site = by_switch[flow.switch]
        rule = (site.target, paths.rule_path(flow.number, site.instance))
        source = (f"job/{flow.job}", paths.source_port_path(flow.rank, flow.connection))
        if flow.bits_per_second > 0:
            rates[rule] = rates[source] = flow.bits_per_second
        if flow.job:
            ports[source] = {
                uplink.port_class: (site.target, uplink.interface)
                for uplink in site.uplinks
                if uplink.port_class is not None
            }
    hops = {
        (site.target, uplink.next_hop): (site.target, uplink.interface)
        for site in by_switch.values()
        for uplink in site.uplinks
    }
    return Ways(hops=hops, classes=classes, ports=ports, rates=rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """What a port is expected to carry more (positive) or less.

    Attributes
    ----------
    bits_per_second
        NaN when a flow's rate is not known.
    sign
        1 more, -1 less, 0 cannot be said.
    least
        What it carries afterwards at least: the flows that are sent to it; bits per second.
    """

    bits_per_second: float
    sign: int
    least: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What one port carried, in bits per second, and whether that is as expected."""

    port: Port
    expected: Shift
    before: float
    after: float
    is_seen: bool

    def text(self) -> str:
        told = f"{self.port[0]} {self.port[1]}: {self.before:.4g} -> {self.after:.4g} bit/s"
        if self.is_seen:
            return told
        if self.expected.sign < 0:
            return f"{told}, expected less"
        return f"{told}, expected more, {self.expected.least:.4g} bit/s at least"


@dataclass(slots=True)
class _Gains:
    """What comes to a port and goes from it: signed rates, by whether the other port is known."""

    known: list[float] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    coming: list[float] = field(default_factory=list)


def expected_shifts(changes: Iterable[Change], ways: Ways) -> dict[Port, Shift]:
    """Return what the ports of moved flows are expected to carry more or less.

    A flow that was or will be hashed may leave by the same port before and after: it counts for
    what the port carries afterwards at least, and for nothing else.
    """
    gains: dict[Port, _Gains] = {}
    for change in changes:
        rate = ways.rates.get((change.target, change.path), math.nan)
        old, new = ways.port(change, change.from_value), ways.port(change, change.to_value)
        for port, other, sign in ((old, new, -1), (new, old, 1)):
            if port is None or port == other:
                continue
            gain = gains.setdefault(port, _Gains())
            if other is None:
                gain.open.append(sign)
            else:
                gain.known.append(sign * (math.inf if math.isnan(rate) else rate))
            if sign > 0 and not math.isnan(rate):
                gain.coming.append(rate)
    return {port: _shift(gain) for port, gain in gains.items()}


def _shift(gain: _Gains) -> Shift:
    """Return what comes and goes in sum; where a rate is not known, only what all agree on."""
    amount = sum(gain.known)  # NaN when unknown rates come and go
    sign = (amount > 0) - (amount < 0)
    if any(one == -sign for one in gain.open):
        sign = 0
    least = sum(gain.coming)
    return Shift(
        bits_per_second=amount if math.isfinite(amount) else math.nan, sign=sign, least=least
    )


def is_silent(before: Rates, after: Rates) -> bool:
    """Return whether all ports together carry next to nothing: then counters cannot tell."""
    was, now = sum(before.values()), sum(after.values())
    return was <= 0 or now < _LEAST_SHARE * was


def followed(expected: Mapping[Port, Shift], before: Rates, after: Rates) -> list[Followed]:
    """Return for each port whether it carries more or less as expected.

    Ports that lose about what they gain, whose change is small beside their load, or that carried
    something already when nothing is known of the flows' rates, cannot tell: they are left out, or
    judged by what they carry afterwards at least.
    """
    told = []
    for port, shift in expected.items():
        was, now = before.get(port), after.get(port)
        if was is None or now is None:
            continue
        can_tell = _can_tell(shift, was)
        if not can_tell and shift.least <= 0:
            continue
        seen = (not can_tell or _is_seen(shift, was, now)) and now >= _ENOUGH * shift.least
        told.append(Followed(port=port, expected=shift, before=was, after=now, is_seen=seen))
    return told


def _can_tell(shift: Shift, before: float) -> bool:
    if shift.sign == 0:
        return False
    if math.isnan(shift.bits_per_second):
        return shift.sign > 0 and before <= 0
    if shift.sign < 0 and before < _ENOUGH * -shift.bits_per_second:
        return False  # it did not carry what is to go
    return abs(shift.bits_per_second) >= max(_LEAST_SHARE * before, 1.0)


def _is_seen(shift: Shift, before: float, after: float) -> bool:
    change = (after - before) * shift.sign
    if math.isnan(shift.bits_per_second):
        return change > 0
    return change >= _ENOUGH * abs(shift.bits_per_second)
