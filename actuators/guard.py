"""May we? Every limit an action must respect, checked in order; the first that fails says why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from actuators.proposal import Proposal
from actuators.records import Event, Mode, ReasonCode
from actuators.settings import GuardConfig

_HOUR_NS = 3_600_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the guard must know of now and of what was done before, in one cell.

    Attributes
    ----------
    alert_sent_ns
        When it was last told that the alert stands; None = the action answers none.
    objective_received_ns
        Collector's time of the newest reading of the objective; None = there is none.
    acted_ns
        When an action last touched a component, by component.
    actions_ns
        When each action of the last hour was invoked.
    open_scopes
        Components under an open action, by decision.
    open_touched
        Targets that open actions write to.
    """

    now_ns: int
    alert_sent_ns: int | None
    objective: str
    objective_received_ns: int | None
    acted_ns: Mapping[str, int] = field(default_factory=dict)
    actions_ns: tuple[int, ...] = ()
    open_scopes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    open_touched: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The guard's answer: the mode to go on with, or the event that ends the decision.

    Attributes
    ----------
    checked
        Every limit looked at, with its numbers, in order.
    """

    mode: Mode
    reason_code: ReasonCode
    reason: str
    checked: tuple[str, ...]
    refused: Event | None = None


def mode_of(proposal: Proposal, config: GuardConfig) -> Mode:
    """Return the mode of the first rule that fits kind and target."""
    action = proposal.action
    for rule in config.rules:
        if rule.kind in {"*", action.kind} and fnmatchcase(action.target, rule.target):
            return rule.mode
    return config.mode


def check(proposal: Proposal, situation: Situation, config: GuardConfig) -> Permit:
    """Return whether the action may be taken, and in which mode.

    Beyond ``actions_per_hour`` an automatic action becomes one that a person approves.
    """
    mode = mode_of(proposal, config)
    checked = [f"mode of {proposal.action.kind} on {proposal.action.target}: {mode}"]
    if mode is Mode.OFF:
        return Permit(
            mode=mode,
            reason_code=ReasonCode.MODE_OFF,
            reason=f"{proposal.action.kind} is off for {proposal.action.target}",
            checked=tuple(checked),
            refused=Event.NOTHING,
        )
    for limit in (_enabled, _alert_fresh, _objective_fresh, _no_conflict, _radius, _cooled):
        told, event, code = limit(proposal, situation, config)
        checked.append(told)
        if event is not None and not (event is Event.SKIPPED_BREAKER and mode is Mode.ADVISE):
            return Permit(
                mode=mode,
                reason_code=code,
                reason=told,
                checked=tuple(checked),
                refused=event,
            )
    return _within_budget(mode, situation, config, checked)


def recheck(proposal: Proposal, situation: Situation, config: GuardConfig) -> Permit:
    """Return whether an action that a person approved may still be taken.

    Their word stands for mode and budget, for nothing else.
    """
    permit = check(proposal, situation, config)
    if permit.refused is not None:
        return permit
    return Permit(
        mode=Mode.APPROVE,
        reason_code=ReasonCode.WITHIN_POLICY,
        reason="checked again when it ran",
        checked=permit.checked,
    )


_Told = tuple[str, Event | None, ReasonCode]


def _enabled(_: Proposal, __: Situation, config: GuardConfig) -> _Told:
    if config.enabled:
        return "kill switch: not pulled", None, ReasonCode.WITHIN_POLICY
    return "kill switch: pulled, nothing acts", Event.SKIPPED_BREAKER, ReasonCode.KILL_SWITCH


def _alert_fresh(_: Proposal, situation: Situation, config: GuardConfig) -> _Told:
    if situation.alert_sent_ns is None:
        return "it answers no alert", None, ReasonCode.WITHIN_POLICY
    age = (situation.now_ns - situation.alert_sent_ns) / 1e9
    told = f"alert is {max(age, 0.0):.1f} s old, at most {config.stale_seconds:g} s"
    stale = age > config.stale_seconds
    return told, Event.SKIPPED_STALE if stale else None, ReasonCode.STALE_ALERT


def _objective_fresh(_: Proposal, situation: Situation, config: GuardConfig) -> _Told:
    received_ns = situation.objective_received_ns
    if received_ns is None:
        told = f"{situation.objective} has no reading"
        return told, Event.SKIPPED_STALE, ReasonCode.STALE_DATA
    age = (situation.now_ns - received_ns) / 1e9
    told = f"{situation.objective} is {max(age, 0.0):.1f} s old, at most {config.stale_seconds:g} s"
    stale = age > config.stale_seconds
    return told, Event.SKIPPED_STALE if stale else None, ReasonCode.STALE_DATA


def _no_conflict(proposal: Proposal, situation: Situation, _: GuardConfig) -> _Told:
    wanted = {*proposal.scope, situation.objective}
    for decision_id, scope in sorted(situation.open_scopes.items()):
        shared = sorted(wanted & scope)
        if shared:
            told = f"{shared[0]} is under the open action of {decision_id}"
            return told, Event.SKIPPED_CONFLICT, ReasonCode.ACTION_IN_FLIGHT
    return "no open action on the same components", None, ReasonCode.WITHIN_POLICY


def _radius(proposal: Proposal, situation: Situation, config: GuardConfig) -> _Told:
    touched = len(situation.open_touched | set(proposal.touched))
    told = f"{touched} targets under action at once, at most {config.blast_radius}"
    wide = touched > config.blast_radius
    return told, Event.SKIPPED_BREAKER if wide else None, ReasonCode.BLAST_RADIUS


def _cooled(proposal: Proposal, situation: Situation, config: GuardConfig) -> _Told:
    ages = {
        name: (situation.now_ns - situation.acted_ns[name]) / 1e9
        for name in proposal.scope
        if name in situation.acted_ns
    }
    if not ages:
        return "cool-down: no action before", None, ReasonCode.WITHIN_POLICY
    name = min(ages, key=lambda component: ages[component])
    told = f"cool-down: {name} changed {ages[name]:.0f} s ago, wait {config.cooldown_seconds:g} s"
    hot = ages[name] < config.cooldown_seconds
    return told, Event.SKIPPED_COOLDOWN if hot else None, ReasonCode.COOLDOWN


def _within_budget(
    mode: Mode, situation: Situation, config: GuardConfig, checked: list[str]
) -> Permit:
    recent = sum(at_ns > situation.now_ns - _HOUR_NS for at_ns in situation.actions_ns)
    told = f"{recent} actions in the last hour, at most {config.actions_per_hour}"
    checked.append(told)
    if mode is Mode.AUTO and recent >= config.actions_per_hour:
        return Permit(
            mode=Mode.APPROVE,
            reason_code=ReasonCode.FLAP_BUDGET,
            reason=f"{told}: a person decides",
            checked=tuple(checked),
        )
    codes = {
        Mode.AUTO: ReasonCode.WITHIN_POLICY,
        Mode.APPROVE: ReasonCode.MODE_APPROVE,
        Mode.ADVISE: ReasonCode.MODE_ADVISE,
    }
    return Permit(
        mode=mode, reason_code=codes[mode], reason=f"mode is {mode}", checked=tuple(checked)
    )
