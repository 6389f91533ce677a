"""Moves flows by their source ports: off a degraded link, or all together to where they fit."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from actuators.network import Network, network_of
from actuators.placement import Placement, adapt, place
from actuators.proposal import Proposal, Refusal
from actuators.records import Action, ActionKind, Change, ReasonCode
from actuators.settings import RerouteConfig
from actuators.steering.paths import source_port_path
from actuators.view import View
from cluster.fabric import Fabric
from cluster.topology import Link

_COST_SECONDS = 1.0
_KIND = ActionKind.REROUTE
PARAMETER = "source_ports"


def off_link(
    link: Link, speed_ratio: float, told: str, *, view: View, action_id: str
) -> Proposal | Refusal:
    """Return the move of as many flows off a slow link as it can no longer carry.

    Parameters
    ----------
    speed_ratio
        What is left of the link's capacity, 0.0 to 1.0; ``told`` says how that is known.
    """
    target = link.component
    try:
        network = network_of(view)
    except ValueError as error:
        return _refusal(target, ReasonCode.NO_PROPOSAL, str(error))
    fabric = network.now.fabric
    crossing = network.crossing(link)
    if not crossing.any():
        reason = "no flow whose source port is chosen crosses the link"
        return _refusal(target, ReasonCode.NO_PROPOSAL, reason)
    cable = network.cable(link)
    capacity = fabric.capacity.copy()
    capacity[2 * cable : 2 * cable + 2] *= speed_ratio
    slower = fabric.with_capacity(capacity)
    after = adapt(network.now, slower, most_moved_share=1.0)
    changes = _changes(network, after, only=crossing)
    if not changes:
        reason = f"at {speed_ratio:.0%} of its speed the link carries its flows as well as others"
        return _refusal(target, ReasonCode.NO_GAIN, reason)
    gains = _gains(network, after, slower, view)
    reason = (
        f"the link runs at {speed_ratio:.0%} of its speed ({told}) and carries "
        f"{int(crossing.sum())} flows of announced jobs; {len(changes)} of them elsewhere: "
        f"{_gain_text(gains)}"
    )
    return _proposal(
        network, target, changes, max(gains.values()), reason=reason, action_id=action_id
    )


def pinned_on(link: Link, view: View) -> int:
    """Return how many flows cross a link by their source ports: weights move none of them."""
    if not view.topology.source_port_rules:
        return 0
    try:
        return int(network_of(view).crossing(link).sum())
    except ValueError:
        return 0


def together(*, view: View, config: RerouteConfig, action_id: str) -> Proposal | Refusal:
    """Return the move of all announced flows to where they fit best together."""
    target = next(iter(view.jobs), "")
    try:
        network = network_of(view)
    except ValueError as error:
        return _refusal(target, ReasonCode.NO_PROPOSAL, str(error))
    target = network.names_of_jobs[0]
    if not any(network.senders):
        return _refusal(target, ReasonCode.NO_PROPOSAL, "no job lets its source ports be chosen")
    fabric = network.now.fabric
    after = place(fabric, network.now.flows)
    changes = _changes(network, after, only=np.ones(len(network.senders), dtype=bool))
    gains = _gains(network, after, fabric, view)
    proof = after.certificate
    reason = (
        f"{len(after.flow)} flows placed together load the busiest link to {proof.busiest:.0%}, "
        f"{proof.reached:.1%} of what is possible, now as far as is known to "
        f"{network.now.certificate.busiest:.0%}: {_gain_text(gains)}"
    )
    if not changes:
        return _refusal(target, ReasonCode.ALREADY_SO, f"every flow is where it fits: {reason}")
    if max(gains.values()) < config.least_placement_gain_ratio:
        return _refusal(target, ReasonCode.NO_GAIN, reason)
    return _proposal(
        network, target, changes, max(gains.values()), reason=reason, action_id=action_id
    )


def _changes(network: Network, after: Placement, *, only: NDArray[np.bool_]) -> tuple[Change, ...]:
    """Return new source ports of the flows that take another plane, or are not pinned yet."""
    differs = (after.plane != network.now.plane) | ~network.is_known
    changes = []
    for row in np.flatnonzero(differs & only & (after.plane >= 0)).tolist():
        sender, port = network.senders[row], network.port_for(row, int(after.plane[row]))
        if sender is None or port is None:
            continue
        changes.append(
            Change(
                target=sender.job,
                path=source_port_path(sender.rank, sender.connection),
                from_value=str(sender.source_port),
                to_value=str(port),
            )
        )
    return tuple(changes)


def _gains(network: Network, after: Placement, fabric: Fabric, view: View) -> dict[str, float]:
    """Return by job what its step gains: its communication waits for its slowest flow."""
    before, then = network.worst_ratio(network.now, fabric), network.worst_ratio(after, fabric)
    gains = {}
    for job, worst in before.items():
        share = _communication_share(job, view)
        gains[job] = share * (1.0 - worst / then[job]) if then[job] > 0.0 else 0.0
    return gains


def _communication_share(job: str, view: View) -> float:
    step = view.levels.level(job, "train_step_seconds")
    communication = view.levels.level(job, "train_communication_seconds")
    if not step or communication is None:
        return 1.0
    return min(communication / step, 1.0)


def _gain_text(gains: Mapping[str, float]) -> str:
    return ", ".join(f"{job}'s step {-gain:+.1%}" for job, gain in sorted(gains.items()))


def _proposal(
    network: Network,
    target: str,
    changes: Sequence[Change],
    gain: float,
    *,
    reason: str,
    action_id: str,
) -> Proposal:
    jobs = tuple(sorted({change.target for change in changes}))
    return Proposal(
        action=Action(
            action_id=action_id,
            kind=_KIND,
            target=target,
            parameter=PARAMETER,
            from_value=f"{int(network.is_known.sum())} of {len(network.senders)} flows pinned",
            to_value=f"{len(changes)} moved",
            changes=tuple(changes),
            expected_gain_ratio=gain,
            expected_cost_seconds=_COST_SECONDS,
            driver="job_channel",
        ),
        scope=tuple(dict.fromkeys((target, *jobs))),
        touched=jobs,
        reason=reason,
    )


def _refusal(target: str, code: ReasonCode, reason: str) -> Refusal:
    return Refusal(kind=_KIND, target=target, reason_code=code, reason=reason)
