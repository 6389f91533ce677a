"""What a switch can be steered by: asked, tried, and left as it was found."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from actuators.ports import ActuationError
from actuators.steering import paths
from actuators.steering.capability import Capability, Rung, advice_only
from actuators.steering.rules import Match, Rule, rule_of_leaves
from pipelines.drivers.gnmi_session import Session

_PROBE = "trimtab-probe"
_NUMBER = 1
# Documentation addresses (RFC 5737): no packet is of this flow.
_MATCH = Match(
    source="192.0.2.1/32",
    target="192.0.2.2/32",
    protocol="udp",
    source_ports="49152..50175",
    target_ports="4791",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What is tried at a switch; what is empty is not tried, and the rung is said to be lacking.

    Attributes
    ----------
    next_hop
        Address of a neighbour that rules may send to.
    weight_path
        Path of one of its next hops' weights.
    interface
        A port that is on.
    """

    next_hop: str = ""
    weight_path: str = ""
    interface: str = ""
    instance: str = "default"


@dataclass(slots=True)
class _Found:
    rungs: set[Rung] = field(default_factory=lambda: {Rung.ADVICE})
    lacking: dict[Rung, str] = field(default_factory=dict)
    counts_rules: bool = False


async def probe_switch(session: Session, probe: Probe) -> Capability:
    """Return what a switch can be steered by.

    Each rung is tried by a Set that changes nothing that forwards (a policy that is applied
    nowhere, a weight and a port as they are) and is taken back at once; where the switch takes
    commits it would undo it by itself, too. What cannot be reached can be advised about only.
    """
    target = f"switch/{session.name}"
    try:
        models = await session.models()
    except ActuationError as error:
        return advice_only(target, str(error))
    found = _Found()
    for rung, attempt in (
        (Rung.POLICY_RULES, _try_rule),
        (Rung.WEIGHTS, _try_weight),
        (Rung.DRAIN, _try_port),
    ):
        try:
            reason = await attempt(session, probe, found)
        except ActuationError as error:
            reason = str(error)
        if reason:
            found.lacking[rung] = reason
        else:
            found.rungs.add(rung)
    return Capability(
        target=target,
        rungs=frozenset(found.rungs),
        lacking=found.lacking,
        takes_commits=bool(session.takes_commits),
        counts_rules=found.counts_rules,
        models=tuple(f"{name}@{version}" for name, version in sorted(models.items())),
    )


async def _try_rule(session: Session, probe: Probe, found: _Found) -> str:
    if not probe.next_hop:
        return "no next hop's address is known"
    policy = paths.policy_path(probe.instance).replace(f"={paths.POLICY}]", f"={_PROBE}]")
    rule = Rule(sequence_id=_NUMBER, match=_MATCH, next_hop=probe.next_hop)
    entry = f"{policy}/rules/rule[sequence-id={_NUMBER}]"
    values = {f"{entry}/{leaf}": value for leaf, value in rule.leaves().items()}
    try:
        await session.set({f"{policy}/config/policy-id": _PROBE, **values})
        told = await session.leaves(policy)
    finally:
        await _take_back(session, {}, delete=(policy,))
    leaves = {path.removeprefix(f"{entry}/"): v for path, v in told.items() if entry in path}
    found.counts_rules = "state/matched-pkts" in leaves
    return _unlike(leaves, rule)


def _unlike(leaves: Mapping[str, str], rule: Rule) -> str:
    try:
        read = rule_of_leaves(leaves)
    except ValueError as error:
        return str(error)
    return "" if read == rule else f"rule read back is {read.text()!r}, not {rule.text()!r}"


async def _try_weight(session: Session, probe: Probe, found: _Found) -> str:
    del found
    if not probe.weight_path:
        return "no route's weights are known"
    told = await session.leaves(probe.weight_path)
    if told:
        same: dict[str, int | str | bool] = {p: int(v) for p, v in told.items()}
        await session.set(same)
        await _take_back(session, same)
        return ""
    # Not configured: the weight in force is written, and removed again.
    in_force = await session.leaves(probe.weight_path.replace("/config/", "/state/"))
    weight = next((int(value) for value in in_force.values()), 1)
    await session.set({probe.weight_path: weight})
    await _take_back(session, {}, delete=(probe.weight_path,))
    return ""


async def _try_port(session: Session, probe: Probe, found: _Found) -> str:
    del found
    if not probe.interface:
        return "no port that is on is known"
    path = paths.enabled_path(probe.interface)
    told = await session.leaves(path)
    if told.get(path) != "true":
        return f"{path} is {told.get(path)!r}, not 'true'"
    await session.set({path: True})
    await _take_back(session, {path: True})
    return ""


async def _take_back(
    session: Session,
    values: Mapping[str, int | str | bool],
    *,
    delete: tuple[str, ...] = (),
) -> None:
    """Cancel the commit; where there is none, write what was there."""
    if session.pending:
        await session.cancel()
    elif session.takes_commits is False:
        await session.set(values, delete=delete)
