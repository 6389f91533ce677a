"""What a cluster consists of and how it hangs together. Read from a file, checked as a whole."""

from collections import Counter
from functools import cached_property
from itertools import pairwise
from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from cluster import component as names
from cluster.config import Config


class Switch(Config):
    """A switch; ``tier`` counts up from the hosts: 1 = leaf, 2 = spine."""

    name: str
    cell: str
    tier: PositiveInt


class Link(Config):
    """A cable between two ports, ``switch:interface`` or ``host:device``.

    ``lower`` is the end nearer the hosts.
    """

    lower: str
    upper: str
    capacity_bits_per_second: PositiveFloat

    @property
    def component(self) -> str:
        """``link/leaf1:Ethernet49``: a link between switches is named by its lower end."""
        return f"link/{self.lower}"


class NextHop(Config):
    """One of a route's equal ways: its index on the switch, and the port it leaves by."""

    index: str
    interface: str


class Route(Config):
    """A static route whose next hops share the traffic by weight."""

    switch: str
    prefix: str
    next_hops: tuple[NextHop, ...] = Field(min_length=1)
    network_instance: str = "default"
    protocol: str = "DEFAULT"

    def weight_path(self, next_hop: NextHop) -> str:
        """Return the gNMI path of a next hop's weight (openconfig-local-routing)."""
        return (
            f"/network-instances/network-instance[name={self.network_instance}]"
            f"/protocols/protocol[identifier=STATIC][name={self.protocol}]"
            f"/static-routes/static[prefix={self.prefix}]"
            f"/next-hops/next-hop[index={next_hop.index}]/config/wecmp-weight"
        )


class SourcePortRule(Config):
    """A static rule of a switch: what is sent from these ports leaves by this interface.

    Hosts choose a path by the port that they send from; both ends of the range belong to it.
    """

    switch: str
    interface: str
    first_port: int = Field(ge=1, le=65535)
    last_port: int = Field(ge=1, le=65535)
    policy: str = "trimtab"
    sequence: PositiveInt

    def path(self, leaf: str) -> str:
        """Return the gNMI path of a leaf of the rule (openconfig-policy-forwarding)."""
        return (
            "/network-instances/network-instance[name=default]/policy-forwarding/policies"
            f"/policy[policy-id={self.policy}]/rules/rule[sequence-id={self.sequence}]/{leaf}"
        )


class Gpu(Config):
    """A GPU, and the NIC (``host:device``) it sends through."""

    host: str
    uuid: str
    index: int = Field(ge=0)
    nic: str = ""

    @property
    def component(self) -> str:
        return names.gpu(self.host, self.uuid)


class Host(Config):
    name: str
    cell: str
    prefix: str = Field(default="", description="what routes to its leaf are announced as")


class Engine(Config):
    """An inference engine, and the GPUs it runs on (components)."""

    name: str
    gpus: tuple[str, ...] = ()

    @property
    def component(self) -> str:
        return f"engine/{self.name}"


class Service(Config):
    """An inference service with prefill and decode engines, and its latency limits."""

    name: str
    cell: str
    engines: tuple[Engine, ...] = ()
    ttft_limit_seconds: PositiveFloat = 2.0
    tpot_limit_seconds: PositiveFloat = 0.05

    @property
    def component(self) -> str:
        return f"service/{self.name}"


class PeerGroup(Config):
    """Components that do the same work, told by a person rather than by topology or a job."""

    name: str
    kind: Literal["port", "gpu", "nic", "engine", "host", "store"]
    members: tuple[str, ...] = Field(min_length=3)


class Topology(Config):
    """A cluster, whole and consistent.

    Raises
    ------
    ValueError
        (as pydantic's error) Two things have one name, a link's or route's end does not exist, or
        a link is in use twice;
        every fault is named.
    """

    switches: tuple[Switch, ...] = ()
    hosts: tuple[Host, ...] = ()
    links: tuple[Link, ...] = ()
    routes: tuple[Route, ...] = ()
    source_port_rules: tuple[SourcePortRule, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    services: tuple[Service, ...] = ()
    peer_groups: tuple[PeerGroup, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> "Topology":
        faults = [
            *self._duplicates(),
            *self._loose_ends(),
            *self._loose_routes(),
            *self._loose_rules(),
        ]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @cached_property
    def links_by_port(self) -> dict[str, Link]:
        """Link by either end, ``switch:interface`` or ``host:device``."""
        return {end: link for link in self.links for end in (link.lower, link.upper)}

    @cached_property
    def cells(self) -> dict[str, str]:
        """Cell by switch or host name."""
        by_switch = {switch.name: switch.cell for switch in self.switches}
        return by_switch | {host.name: host.cell for host in self.hosts}

    @cached_property
    def service_of_engine(self) -> dict[str, Service]:
        """Service by engine component."""
        return {e.component: service for service in self.services for e in service.engines}

    @cached_property
    def gpu_by_component(self) -> dict[str, Gpu]:
        return {gpu.component: gpu for gpu in self.gpus}

    def fabric_link_of(self, port: str) -> Link | None:
        """Return the switch-to-switch link that a port component is an end of, else None."""
        link = self.links_by_port.get(names.name_of(port))
        switches = {switch.name for switch in self.switches}
        if link is None:
            return None
        ends = (link.lower.partition(":")[0], link.upper.partition(":")[0])
        return link if set(ends) <= switches else None

    def _duplicates(self) -> list[str]:
        named = [
            *(f"switch/{s.name}" for s in self.switches),
            *(f"host/{h.name}" for h in self.hosts),
            *(g.component for g in self.gpus),
            *(e.component for s in self.services for e in s.engines),
            *(s.component for s in self.services),
            *(f"port {end!r}" for link in self.links for end in (link.lower, link.upper)),
        ]
        return [f"{name} is defined {n} times" for name, n in Counter(named).items() if n > 1]

    def _loose_ends(self) -> list[str]:
        return [
            f"link {link.lower!r} - {link.upper!r}: no switch or host {owner!r}"
            for link in self.links
            for owner in (link.lower.partition(":")[0], link.upper.partition(":")[0])
            if owner not in self.cells
        ]

    def _loose_rules(self) -> list[str]:
        faults = []
        by_switch: dict[str, list[SourcePortRule]] = {}
        for rule in self.source_port_rules:
            by_switch.setdefault(rule.switch, []).append(rule)
            at = f"source port rule {rule.sequence} of {rule.switch!r}"
            if f"{rule.switch}:{rule.interface}" not in self.links_by_port:
                faults.append(f"{at}: no link at {rule.switch}:{rule.interface}")
            if rule.first_port > rule.last_port:
                faults.append(f"{at}: ports {rule.first_port} to {rule.last_port} run backwards")
        for switch, rules in by_switch.items():
            rules.sort(key=lambda rule: rule.first_port)
            faults += [
                f"source port rules {a.sequence} and {b.sequence} of {switch!r} share ports"
                for a, b in pairwise(rules)
                if b.first_port <= a.last_port
            ]
        return faults

    def _loose_routes(self) -> list[str]:
        ports = self.links_by_port
        return [
            f"route {route.prefix!r} of {route.switch!r}: no link at {route.switch}:{hop.interface}"
            for route in self.routes
            for hop in route.next_hops
            if f"{route.switch}:{hop.interface}" not in ports
        ]
