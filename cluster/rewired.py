"""The configured topology beside a discovered one: where they differ, and what is kept."""

from collections.abc import Callable, Iterable, Iterator

from cluster.findings import Finding
from cluster.topology import Link, Topology


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


def differences(
    seen: Iterable[Link], known: Iterable[Link], is_down: Callable[[str], bool]
) -> Iterator[Finding]:
    """Yield which configured links are not seen, or are wired or as fast otherwise, and new ones.

    Nothing is new where nothing is configured. ``is_down`` tells it of a port, ``leaf1:e49``.
    """
    now = {link.lower: link for link in seen}
    configured = {link.lower: link for link in known}
    for lower, link in configured.items():
        found = now.get(lower)
        if found is None:
            down = [end for end in (link.lower, link.upper) if is_down(end)]
            why = f": {', '.join(down)} is down" if down else ""
            yield _told("missing_link", link, f"is configured, and LLDP does not show it{why}")
        elif found.upper != link.upper:
            text = f"is configured to {link.upper}, and leads to {found.upper}"
            yield _told("other_end", link, text)
        elif found.capacity_bits_per_second != link.capacity_bits_per_second:
            wanted, has = (one.capacity_bits_per_second / 1e9 for one in (link, found))
            text = f"is configured with {wanted:g} Gbit/s, and has {has:g}"
            yield _told("other_speed", link, text)
    for lower in sorted(now.keys() - configured.keys()) if configured else ():
        yield _told("new_link", now[lower], "is not in the configured topology")


def _told(kind: str, link: Link, text: str) -> Finding:
    return Finding(kind=kind, component=link.component, text=text)
