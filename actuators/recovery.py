"""Brings a mended link's traffic back: after a hold-down that grows each time it fails again."""

from collections.abc import Iterable

from actuators.decision import Decision
from actuators.records import ActionKind, Event, Mode, ReasonCode
from actuators.settings import RerouteConfig

_DOUBLINGS = 16


def is_ours(decision: Decision) -> bool:
    """Tell whether it is a kept reroute that Trimtab decided by itself.

    What a person approved, a person takes back.
    """
    action, last = decision.action, decision.last
    return (
        action is not None
        and action.kind is ActionKind.REROUTE
        and last.event is Event.KEPT
        and last.mode is Mode.AUTO
    )


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
