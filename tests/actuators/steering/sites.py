"""A leaf with four uplinks, its flows, and what stands there for an assignment."""

from dataclasses import replace

from actuators.steering import paths
from actuators.steering.capability import Capability, Rung
from actuators.steering.plan import Means
from actuators.steering.rules import Match, Rule
from actuators.steering.site import Assignment, Site, SteeredFlow, Uplink
from cluster.topology import NextHop, Route

TARGET, JOB = "switch/leaf1", "job/pretrain"
INTERFACES = tuple(f"Ethernet{49 + n}" for n in range(4))
HOPS = tuple(f"10.101.{n + 1}.1" for n in range(4))
ROUTE = Route(
    switch="leaf1",
    prefix="10.2.0.0/24",
    next_hops=tuple(
        NextHop(index=f"spine{n + 1}", interface=interface)
        for n, interface in enumerate(INTERFACES)
    ),
)
WEIGHT_PATHS = tuple(ROUTE.weight_path(hop) for hop in ROUTE.next_hops)


def site(*, down=(), avoided=(), off=(), weights=None, is_ready=True, edge=("Ethernet1",)):
    uplinks = tuple(
        Uplink(
            interface=interface,
            next_hop=HOPS[n],
            port_class=n,
            is_up=interface not in down,
            is_enabled=interface not in off,
            is_avoided=interface in avoided,
        )
        for n, interface in enumerate(INTERFACES)
    )
    return Site(
        switch="leaf1",
        uplinks=uplinks,
        edge_interfaces=edge,
        routes=(ROUTE,),
        weights=dict(weights or {}),
        is_ready=is_ready,
    )


def means(*rungs, at=None, job=False, most_rules=None):
    capabilities = {
        TARGET: Capability(
            target=TARGET, rungs=frozenset({*rungs, Rung.ADVICE}), most_rules=most_rules
        )
    }
    if job:
        capabilities[JOB] = Capability(target=JOB, rungs=frozenset({Rung.SOURCE_PORTS}))
    return Means(sites={"leaf1": at or site()}, capabilities=capabilities)


def flow(number, *, source_port=0, bits_per_second=1e9):
    return SteeredFlow(
        switch="leaf1",
        number=number,
        match=Match(
            source=f"10.1.0.{number}/32",
            target=f"10.2.0.{number}/32",
            protocol="udp",
            target_ports="4791",
        ),
        job="pretrain",
        rank=number,
        source_port=source_port,
        bits_per_second=bits_per_second,
    )


def assignment(interfaces, flows=None):
    """Return flows numbered from 1 on the interfaces; None = hashed."""
    told = flows or [flow(n) for n in range(1, len(interfaces) + 1)]
    return Assignment(flows=tuple(told), interfaces=tuple(interfaces))


def rule_state(placed, at):
    """Return what stands on a switch where each placed flow has a rule."""
    return {
        (TARGET, paths.rule_path(flow.number)): Rule(
            sequence_id=flow.number, match=flow.match, next_hop=at.uplink(interface).next_hop
        ).text()
        for flow, interface in placed.by_key.values()
        if interface is not None
    }


def weight_state(at):
    return {(TARGET, path): str(weight) for path, weight in at.weights.items()}


def with_weights(at, state):
    """Return the site as it is once the state is in force."""
    weights = {path: int(v) for (_, path), v in state.items() if paths.is_weight(path)}
    return replace(at, weights=weights, is_ready=True)
