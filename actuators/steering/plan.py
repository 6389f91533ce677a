"""From an old and a new assignment of flows to the changes between them, rung by rung.

Planning changes nothing, and planning again after the changes were made plans none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network

from actuators.records import Change
from actuators.steering import paths
from actuators.steering.capability import Capability, Rung, advice_only
from actuators.steering.change_set import ABSENT, ChangeSet, ordered
from actuators.steering.classes import PortClasses
from actuators.steering.rules import Rule
from actuators.steering.site import Assignment, Site, SteeredFlow, Uplink
from actuators.steering.weights import weights_for
from cluster.topology import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What there is to steer by: switches by name, capabilities by target, classes of ports."""

    sites: Mapping[str, Site]
    capabilities: Mapping[str, Capability]
    classes: PortClasses = field(default_factory=PortClasses)

    def capability(self, target: str) -> Capability:
        return self.capabilities.get(target) or advice_only(target, "not probed")

    def site(self, switch: str) -> Site:
        """Return a switch's site.

        Raises
        ------
        ValueError
            There is none.
        """
        site = self.sites.get(switch)
        if site is None:
            raise ValueError(f"flow is at {switch!r}, not at one of {sorted(self.sites)}")
        return site


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """A flow, how it is pinned now, and how it is to be; None = not pinned, or not there."""

    flow: SteeredFlow
    site: Site
    before: tuple[SteeredFlow, Uplink] | None
    after: Uplink | None
    lives: bool


def change_set(old: Assignment, new: Assignment, means: Means) -> ChangeSet:
    """Return the changes that bring the flows from their old uplinks to their new ones.

    A flow that is in the old assignment only has ended: its rule goes. Each flow is steered by
    the best rung that it and its switch have: its source port, a rule of its own, the weights of
    its prefix, draining what is to be avoided; where there is none, advice says what is missing.

    Raises
    ------
    ValueError
        A flow is placed on an uplink that does not exist or cannot be sent by, its switch is not
        known, or a switch to be given rules has no edge interface.
    """
    by_switch: dict[str, list[_Move]] = {}
    for move in _moves(old, new, means):
        by_switch.setdefault(move.site.switch, []).append(move)
    planned = [_of_switch(means.sites[name], moves, means) for name, moves in by_switch.items()]
    rungs: dict[str, Rung] = {}
    for part in planned:
        rungs |= part.rungs
    return ChangeSet(
        steps=ordered(change for part in planned for change in part.changes),
        rungs=rungs,
        advice=tuple(line for part in planned for line in part.advice),
    )


@dataclass(slots=True)
class _Part:
    """What is planned at one switch."""

    changes: list[Change] = field(default_factory=list)
    rungs: dict[str, Rung] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)

    def add(self, rung: Rung, changes: Iterable[Change]) -> None:
        for change in changes:
            self.changes.append(change)
            self.rungs.setdefault(change.target, rung)


def _moves(old: Assignment, new: Assignment, means: Means) -> Iterator[_Move]:
    for key in dict.fromkeys([*old.by_key, *new.by_key]):
        was, now = old.by_key.get(key), new.by_key.get(key)
        flow = (now or was or (None,))[0]
        assert flow is not None  # noqa: S101 - the key is of one of both
        site = means.site(flow.switch)
        before = None if was is None or was[1] is None else (was[0], site.uplink(was[1]))
        after = None if now is None or now[1] is None else site.uplink(now[1])
        if after is not None and not (after.is_up and after.is_enabled):
            raise ValueError(f"{flow.text()} is placed on {after.interface}, which is down")
        yield _Move(flow=flow, site=site, before=before, after=after, lives=now is not None)


def _of_switch(site: Site, moves: Sequence[_Move], means: Means) -> _Part:
    part = _Part()
    by_port = [move for move in moves if _chooses_ports(move, means)]
    part.add(Rung.SOURCE_PORTS, _port_changes(by_port, means.classes))
    rest = [move for move in moves if not _chooses_ports(move, means)]
    capability = means.capability(site.target)
    if capability.has(Rung.POLICY_RULES):
        ruled = [move for move in moves if not _is_by_port(move, means.classes)]
        rest = _by_rules(site, rest, ruled, capability, part)
    if capability.has(Rung.WEIGHTS):
        rest = _by_weights(site, rest, part)
    if capability.best() is Rung.DRAIN:
        rest = _by_draining(site, rest, part)
    part.advice += [
        f"{move.flow.text()} should leave by {move.after.interface}; {capability.text()}"
        for move in rest
        if move.lives and move.after is not None and not _is_there(move)
    ]
    return part


def _chooses_ports(move: _Move, means: Means) -> bool:
    job = means.capability(f"job/{move.flow.job}")
    if not move.flow.job or not job.has(Rung.SOURCE_PORTS):
        return False
    return move.after is None or _class_of(move, means.classes) is not None


def _is_by_port(move: _Move, classes: PortClasses) -> bool:
    """Return whether the flow goes its way by its source port now, so that it has no rule."""
    if move.before is None:
        return False
    flow, uplink = move.before
    return uplink.port_class is not None and classes.class_of(flow.source_port) == uplink.port_class


def _class_of(move: _Move, classes: PortClasses) -> int | None:
    number = None if move.after is None else move.after.port_class
    return number if number is not None and number < classes.count else None


def _port_changes(moves: Iterable[_Move], classes: PortClasses) -> Iterator[Change]:
    """Yield new source ports; who sends from one of the right class keeps it."""
    for move in moves:
        flow = move.flow
        number = _class_of(move, classes)
        if not move.lives or classes.class_of(flow.source_port) == number:
            continue
        port = 0 if number is None else classes.port(number, flow.number)
        yield Change(
            target=f"job/{flow.job}",
            path=paths.source_port_path(flow.rank, flow.connection),
            from_value=str(flow.source_port),
            to_value=str(port),
        )


def _by_rules(
    site: Site,
    moves: Sequence[_Move],
    ruled: Sequence[_Move],
    capability: Capability,
    part: _Part,
) -> list[_Move]:
    """Give flows rules of their own, as many as there is room for; return the others.

    ``ruled`` are the flows, others than ``moves`` among them, that may have a rule now.
    """
    wanted = [move for move in moves if move.after is not None]
    room = len(wanted) if capability.most_rules is None else capability.most_rules
    kept = sorted(wanted, key=lambda m: (m.before is None, -m.flow.bits_per_second))[:room]
    old = {m.flow.key: _rule(*m.before).text() for m in ruled if m.before is not None}
    new = {m.flow.key: _rule(m.flow, m.after).text() for m in kept if m.after is not None}
    changes = list(_rule_changes(site, old, new))
    if any(change.to_value != ABSENT for change in changes) and not site.is_ready:
        changes += policy_changes(site)
    part.add(Rung.POLICY_RULES, changes)
    return [move for move in wanted if move.flow.key not in new]


def _rule_changes(
    site: Site, old: Mapping[tuple[str, int], str], new: Mapping[tuple[str, int], str]
) -> Iterator[Change]:
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if before != after:
            path = paths.rule_path(key[1], site.instance)
            yield Change(target=site.target, path=path, from_value=before, to_value=after)


def _rule(flow: SteeredFlow, uplink: Uplink) -> Rule:
    return Rule(sequence_id=flow.number, match=flow.match, next_hop=uplink.next_hop)


def policy_changes(site: Site) -> list[Change]:
    """Return what makes our policy, and holds packets from the edge against it.

    Raises
    ------
    ValueError
        The switch has no edge interface.
    """
    if not site.edge_interfaces:
        raise ValueError(f"{site.target} has no edge interface to apply a policy on")
    written = [
        paths.policy_name_path(site.instance),
        *(paths.binding_path(interface, site.instance) for interface in site.edge_interfaces),
    ]
    return [
        Change(target=site.target, path=path, from_value=ABSENT, to_value=paths.POLICY)
        for path in written
    ]


def _by_weights(site: Site, moves: Sequence[_Move], part: _Part) -> list[_Move]:
    """Give each route the weights of what is placed on its next hops; return who has no route."""
    left = []
    by_route: dict[str, list[_Move]] = {}
    for move in moves:
        route = _route_of(site, move)
        if route is None:
            left.append(move)
        elif move.lives and move.after is not None:
            by_route.setdefault(route.prefix, []).append(move)
    for route in site.routes:
        if route.prefix in by_route:
            part.add(Rung.WEIGHTS, _weight_changes(site, route, by_route[route.prefix]))
    return left


def _route_of(site: Site, move: _Move) -> Route | None:
    if not move.flow.match.target:
        return None
    target = ip_network(move.flow.match.target)
    for route in site.routes:
        prefix = ip_network(route.prefix)
        if prefix.version == target.version and target.subnet_of(prefix):  # type: ignore[arg-type]
            return route
    return None


def _weight_changes(site: Site, route: Route, moves: Sequence[_Move]) -> Iterator[Change]:
    loads = {hop.interface: 0.0 for hop in route.next_hops}
    for move in moves:
        assert move.after is not None  # noqa: S101 - who has none is not among them
        if move.after.interface not in loads:
            raise ValueError(f"route {route.prefix} at {site.switch} has no {move.after.interface}")
        loads[move.after.interface] += move.flow.bits_per_second or 1.0
    weights = weights_for(loads, total=site.full_weight)
    for hop in route.next_hops:
        path = route.weight_path(hop)
        old, new = site.weights.get(path), weights[hop.interface]
        if old != new:
            told = ABSENT if old is None else str(old)
            yield Change(target=site.target, path=path, from_value=told, to_value=str(new))


def _by_draining(site: Site, moves: Sequence[_Move], part: _Part) -> list[_Move]:
    """Turn off what is to be avoided and on what is not, never the last way out."""
    staying = [u for u in site.uplinks if u.is_up and not u.is_avoided]
    if not staying:
        part.advice.append(f"{site.target} has no way out but those to be avoided: none drained")
        return list(moves)
    for uplink in site.uplinks:
        wanted = not uplink.is_avoided
        if uplink.is_up and uplink.is_enabled != wanted:
            change = Change(
                target=site.target,
                path=paths.enabled_path(uplink.interface),
                from_value=str(uplink.is_enabled).lower(),
                to_value=str(wanted).lower(),
            )
            part.add(Rung.DRAIN, [change])
    return [m for m in moves if m.before is None or not m.before[1].is_avoided]


def _is_there(move: _Move) -> bool:
    return move.before is not None and move.after == move.before[1]
