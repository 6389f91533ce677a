"""A discovered topology with what only a person knows: routes, rules, GPUs, services, groups."""

from cluster.findings import Finding
from cluster.topology import Topology


def rewired(seen: Topology, known: Topology) -> tuple[Topology, tuple[Finding, ...]]:
    """Return what was seen with all of the known that still fits, and what was left out.

    A route and a rule need their ports, a GPU its host; a GPU keeps its NIC where that is still
    plugged in.
    """
    ports = seen.links_by_port
    routes = tuple(
        route
        for route in known.routes
        if all(f"{route.switch}:{hop.interface}" in ports for hop in route.next_hops)
    )
    rules = tuple(r for r in known.source_port_rules if f"{r.switch}:{r.interface}" in ports)
    hosts = {host.name for host in seen.hosts}
    gpus = tuple(
        gpu if gpu.nic in ports else gpu.model_copy(update={"nic": ""})
        for gpu in known.gpus
        if gpu.host in hosts
    )
    left_out = (
        *(
            Finding(
                kind="route_left_out",
                component=f"switch/{route.switch}",
                text=f"route {route.prefix}: a port of its next hops has no link any more",
            )
            for route in known.routes
            if route not in routes
        ),
        *(
            Finding(
                kind="rule_left_out",
                component=f"switch/{rule.switch}",
                text=f"source port rule {rule.sequence}: {rule.interface} has no link any more",
            )
            for rule in known.source_port_rules
            if rule not in rules
        ),
        *(
            Finding(
                kind="gpu_left_out",
                component=gpu.component,
                text=f"no switch hears its host {gpu.host!r}",
            )
            for gpu in known.gpus
            if gpu.host not in hosts
        ),
    )
    kept = {"routes": routes, "source_port_rules": rules, "gpus": gpus}
    wiring = {"switches": seen.switches, "hosts": seen.hosts, "links": seen.links}
    others = {name: getattr(known, name) for name in Topology.model_fields}
    return Topology(**(others | wiring | kept)), left_out
