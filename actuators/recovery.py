"""Brings a mended link's traffic back: after a hold-down that grows each time it fails again."""

from collections.abc import Iterable

from actuators.decision import Decision
from actuators.records import ActionKind, Event, Mode, ReasonCode
from actuators.settings import RerouteConfig

_DOUBLINGS = 16


def due(decision: Decision, *, resolved_ns: int, now_ns: int, hold_down_seconds: float) -> str:
    """Return why a kept reroute is taken back now, empty while it is not.

    Only what Trimtab did by itself: what a person approved, a person takes back.

    Parameters
    ----------
    resolved_ns
        Since when the alert that the decision answered is resolved.
    """
    action, last = decision.action, decision.last
    if action is None or action.kind is not ActionKind.REROUTE:
        return ""
    if last.event is not Event.KEPT or last.mode is not Mode.AUTO:
        return ""
    quiet_seconds = (now_ns - resolved_ns) / 1e9
    if quiet_seconds < hold_down_seconds:
        return ""
    return f"{last.component} has been well for {quiet_seconds:.0f} s"


def hold_down_seconds(
    target: str, decisions: Iterable[Decision], *, now_ns: int, config: RerouteConfig
) -> float:
    """Return how long a target must be well: twice as long for every recent return to it.

    A return counts for `RerouteConfig.flap_memory_seconds`; the hold-down never exceeds that.
    """
    since_ns = now_ns - int(config.flap_memory_seconds * 1e9)
    returns = sum(
        event.reason_code is ReasonCode.RECOVERED
        and event.event is Event.ROLLED_BACK
        and event.at_ns > since_ns
        for decision in decisions
        if decision.action is not None and decision.action.target == target
        for event in decision.events
    )
    grown = config.hold_down_seconds * 2.0 ** min(returns, _DOUBLINGS)
    return min(grown, config.flap_memory_seconds)
