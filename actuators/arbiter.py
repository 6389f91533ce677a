"""One pick per alert over all that the actuators propose."""

from collections.abc import Sequence

from actuators.proposal import Proposal, Refusal
from actuators.records import Alternative

# A degradation that nobody mends lasts at least this long: what a gain is worth.
_HORIZON_SECONDS = 600.0


def net_gain_seconds(proposal: Proposal) -> float:
    """Return what a proposal gains over the next ten minutes, its cost taken off."""
    action = proposal.action
    return action.expected_gain_ratio * _HORIZON_SECONDS - action.expected_cost_seconds


def pick(
    answers: Sequence[Proposal | Refusal],
) -> tuple[Proposal | None, tuple[Alternative, ...]]:
    """Return the proposal with the largest net gain, and the others with the reason.

    None when none gains more than it costs.
    """
    proposals = [answer for answer in answers if isinstance(answer, Proposal)]
    best = max(proposals, key=net_gain_seconds, default=None)
    if best is not None and net_gain_seconds(best) <= 0.0:
        best = None
    rejected = [
        Alternative(action_kind=answer.kind, target=answer.target, reason=answer.reason)
        if isinstance(answer, Refusal)
        else Alternative(
            action_kind=answer.action.kind,
            target=answer.action.target,
            reason=_beaten(answer, best),
        )
        for answer in answers
        if answer is not best
    ]
    return best, tuple(rejected)


def _beaten(loser: Proposal, best: Proposal | None) -> str:
    net = f"gains {net_gain_seconds(loser):.0f} s in {_HORIZON_SECONDS:.0f} s"
    if best is None:
        return f"{net}: not worth its cost of {loser.action.expected_cost_seconds:.0f} s"
    return f"{net}, the pick {net_gain_seconds(best):.0f} s"
