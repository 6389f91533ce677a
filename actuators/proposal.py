"""What an actuator answers: a proposal, or a refusal with its reason."""

from dataclasses import dataclass

from actuators.records import Action, ActionKind, ReasonCode
from actuators.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An action that an actuator offers.

    Attributes
    ----------
    scope
        Components that no other action may touch meanwhile, and that cool down after it; the
        action's target is among them.
    touched
        Targets that are written to: the action's blast radius.
    reason
        Why it should help, with the numbers that the gain is computed from.
    """

    action: Action
    scope: tuple[str, ...]
    touched: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An actuator's "nothing to do here"."""

    kind: ActionKind
    target: str
    reason_code: ReasonCode
    reason: str


def proposal_of(action: Action, view: View) -> Proposal:
    """Return the proposal of an action that was recorded before."""
    service = view.service_of(action.target) if action.kind is ActionKind.REASSIGN else None
    return Proposal(
        action=action,
        scope=(action.target,) if service is None else (action.target, service),
        touched=tuple(sorted({change.target for change in action.changes})),
        reason="",
    )
