"""Moves traffic off a degraded link by lowering the weights of the next hops that cross it."""

from collections.abc import Mapping
from dataclasses import dataclass

from actuators.ports import Fabric
from actuators.proposal import Proposal, Refusal
from actuators.records import Action, ActionKind, Change, ReasonCode
from actuators.settings import RerouteConfig
from actuators.view import View
from cluster import component as names
from cluster.topology import Link, NextHop, Route, Topology
from detectors.records import Alert

_COST_SECONDS = 1.0
_OCTETS = "net_if_out_octets_total"
_KIND = ActionKind.REROUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A route, and its next hop that crosses the link."""

    route: Route
    next_hop: NextHop

    def path(self, next_hop: NextHop | None = None) -> str:
        return self.route.weight_path(next_hop or self.next_hop)


def link_of(component: str, topology: Topology) -> Link | None:
    """Return the link between switches that a link or port component names."""
    return topology.fabric_link_of(f"port/{names.name_of(component)}")


def crossings(link: Link, topology: Topology) -> tuple[Crossing, ...]:
    """Return every next hop that crosses a link, in both directions.

    Upward: the lower switch's own routes by that port. Downward: other switches' routes to the
    prefixes of the lower switch's hosts by way of the upper switch.
    """
    lower, _, interface = link.lower.partition(":")
    upper = names.owner_of(f"port/{link.upper}")
    prefixes = _prefixes_below(lower, topology)
    found = []
    for route in topology.routes:
        for hop in route.next_hops:
            upward = route.switch == lower and hop.interface == interface
            downward = (
                route.switch not in {lower, upper}
                and route.prefix in prefixes
                and _leads_to(route.switch, hop, topology) == upper
            )
            if upward or downward:
                found.append(Crossing(route=route, next_hop=hop))
    return tuple(found)


async def plan(
    alert: Alert, *, view: View, fabric: Fabric, config: RerouteConfig, action_id: str
) -> Proposal | Refusal:
    """Return the drain of the alert's link.

    A link whose next hops are all at the drained weight plans nothing; a route whose other next
    hops are all drained keeps its last path.

    Raises
    ------
    ActuationError
        A switch could not be asked.
    """
    link = link_of(alert.component, view.topology)
    if link is None:
        return _refusal(alert, ReasonCode.NO_PROPOSAL, f"{alert.component!r} joins no two switches")
    crossed = crossings(link, view.topology)
    if not crossed:
        return _refusal(alert, ReasonCode.NO_PROPOSAL, "no route of the topology crosses the link")
    weights = {
        switch: await fabric.weights(switch) for switch in sorted({c.route.switch for c in crossed})
    }
    return drain(alert, crossed, weights, view=view, config=config, action_id=action_id)


def drain(
    alert: Alert,
    crossed: tuple[Crossing, ...],
    weights: Mapping[str, Mapping[str, int]],
    *,
    view: View,
    config: RerouteConfig,
    action_id: str,
) -> Proposal | Refusal:
    """Return the drain, or why there is none, from the weights by switch and path."""
    undrained = [c for c in crossed if _weight(c, weights, config) > config.drained_weight]
    if not undrained:
        return _refusal(
            alert, ReasonCode.ALREADY_SO, f"its next hops are at weight {config.drained_weight}"
        )
    movable = [c for c in undrained if _has_another_path(c, weights, config)]
    if not movable:
        return _refusal(
            alert, ReasonCode.LAST_PATH, "every route over the link would lose its last path"
        )
    gain, basis = _gain(alert, movable[0], weights, view=view, config=config)
    if gain is None or gain <= 0.0:
        code = ReasonCode.NO_PROPOSAL if gain is None else ReasonCode.NO_GAIN
        return _refusal(alert, code, basis)
    changes = tuple(
        Change(
            target=f"switch/{c.route.switch}",
            path=c.path(),
            from_value=str(_weight(c, weights, config)),
            to_value=str(config.drained_weight),
        )
        for c in movable
    )
    first = _weight(movable[0], weights, config)
    target = f"link/{link.lower}" if (link := link_of(alert.component, view.topology)) else ""
    return Proposal(
        action=Action(
            action_id=action_id,
            kind=_KIND,
            target=target,
            parameter="weight_share",
            from_value=f"{first / config.full_weight:.2f}",
            to_value=f"{config.drained_weight / config.full_weight:.2f}",
            changes=changes,
            expected_gain_ratio=gain,
            expected_cost_seconds=_COST_SECONDS,
            driver="gnmi",
        ),
        scope=(target,),
        touched=tuple(sorted({change.target for change in changes})),
        reason=basis,
    )


def _gain(
    alert: Alert,
    crossing: Crossing,
    weights: Mapping[str, Mapping[str, int]],
    *,
    view: View,
    config: RerouteConfig,
) -> tuple[float | None, str]:
    """Return the predicted gain of the objective, and what it is computed from.

    A synchronous job waits for its slowest path: a path's time is its share of the group's
    traffic over what is left of its speed.
    """
    speed, basis = speed_ratio(alert, crossing, view)
    if speed is None:
        return None, "neither rates nor the job's communication tell how slow the link is"
    route = crossing.route
    shares = {hop.index: float(_hop_weight(route, hop, weights, config)) for hop in route.next_hops}
    now = _slowest(shares, crossing.next_hop.index, speed)
    after = _slowest(
        shares | {crossing.next_hop.index: float(config.drained_weight)},
        crossing.next_hop.index,
        speed,
    )
    fraction, told = _communication_share(alert, view)
    gain = (1.0 - after / now) * fraction
    return gain, (
        f"the link runs at {speed:.0%} of its speed ({basis}) and carries 1 of "
        f"{len(route.next_hops)} equal paths; without it the slowest path takes "
        f"{after / now:.0%} of its time now, and communication is {fraction:.0%} of {told}"
    )


def _slowest(shares: Mapping[str, float], degraded: str, speed: float) -> float:
    total = sum(shares.values())
    return max(
        share / total / (speed if index == degraded else 1.0) for index, share in shares.items()
    )


def speed_ratio(alert: Alert, crossing: Crossing | None, view: View) -> tuple[float | None, str]:
    """Return what is left of the link's speed: the lowest of what three witnesses say.

    Without a crossing there are no siblings to ask.
    """
    siblings = None if crossing is None else _against_siblings(crossing, view)
    told = {
        "its rate against its siblings": siblings,
        "its own rate before": _against_itself(alert),
        "the job's communication time before": _against_communication(alert, view),
    }
    known = {name: ratio for name, ratio in told.items() if ratio is not None}
    if not known:
        return None, ""
    name = min(known, key=lambda witness: known[witness])
    return max(min(known[name], 1.0), 0.01), name


def _against_siblings(crossing: Crossing, view: View) -> float | None:
    route = crossing.route
    rates = {
        hop.index: view.levels.rate(names.port(route.switch, hop.interface), _OCTETS)
        for hop in route.next_hops
    }
    own = rates.pop(crossing.next_hop.index)
    siblings = sorted(rate for rate in rates.values() if rate)
    if own is None or not siblings:
        return None
    return own / siblings[len(siblings) // 2]


def _against_itself(alert: Alert) -> float | None:
    ratios = [
        detection.after / detection.before
        for detection in alert.evidence
        if "octets" in detection.series.metric and detection.before > 0.0
    ]
    return min(ratios, default=None)


def _against_communication(alert: Alert, view: View) -> float | None:
    ratios = []
    for component in _jobs(alert, view):
        readings = view.levels.readings(component, "train_communication_seconds")
        healthy = sorted(readings.before(alert.onset_ns))
        now = readings.level()
        if healthy and now:
            ratios.append(healthy[len(healthy) // 2] / now)
    return min(ratios, default=None)


def _communication_share(alert: Alert, view: View) -> tuple[float, str]:
    for component in _jobs(alert, view):
        step = view.levels.level(component, "train_step_seconds")
        communication = view.levels.level(component, "train_communication_seconds")
        if step and communication is not None:
            return min(communication / step, 1.0), f"{component}'s step"
    return 1.0, "the objective as far as is known"


def _jobs(alert: Alert, view: View) -> list[str]:
    affected = [c for c in alert.affected if names.kind_of(c) == "job"]
    return affected or list(view.jobs)


def _prefixes_below(switch: str, topology: Topology) -> frozenset[str]:
    hosts = {
        link.lower.partition(":")[0]
        for link in topology.links
        if link.upper.partition(":")[0] == switch
    }
    return frozenset(h.prefix for h in topology.hosts if h.name in hosts and h.prefix)


def _leads_to(switch: str, hop: NextHop, topology: Topology) -> str:
    end = f"{switch}:{hop.interface}"
    link = topology.links_by_port[end]
    other = link.upper if link.lower == end else link.lower
    return other.partition(":")[0]


def _weight(
    crossing: Crossing, weights: Mapping[str, Mapping[str, int]], config: RerouteConfig
) -> int:
    return _hop_weight(crossing.route, crossing.next_hop, weights, config)


def _hop_weight(
    route: Route, hop: NextHop, weights: Mapping[str, Mapping[str, int]], config: RerouteConfig
) -> int:
    # A next hop whose weight the switch does not tell has the full one.
    return weights[route.switch].get(route.weight_path(hop), config.full_weight)


def _has_another_path(
    crossing: Crossing, weights: Mapping[str, Mapping[str, int]], config: RerouteConfig
) -> bool:
    route = crossing.route
    return any(
        _hop_weight(route, hop, weights, config) > config.drained_weight
        for hop in route.next_hops
        if hop.index != crossing.next_hop.index
    )


def _refusal(alert: Alert, code: ReasonCode, reason: str) -> Refusal:
    return Refusal(kind=_KIND, target=alert.component, reason_code=code, reason=reason)
