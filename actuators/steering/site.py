"""What is steered: switches with their uplinks, and flows that are sent through them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from actuators.steering.rules import Match
from cluster.topology import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Uplink:
    """A way out of a switch.

    Attributes
    ----------
    next_hop
        Address of the neighbour at its other end.
    port_class
        The class of source ports whose fixed rule sends here; None = none does.
    is_up, is_enabled
        Its cable works; its port is on.
    is_avoided
        It works and is to carry nothing: degraded, or to be serviced.
    """

    interface: str
    next_hop: str
    port_class: int | None = None
    is_up: bool = True
    is_enabled: bool = True
    is_avoided: bool = False


@dataclass(frozen=True, kw_only=True)
class Site:
    """One switch, as far as steering needs it.

    Attributes
    ----------
    edge_interfaces
        Where packets to be steered come in.
    routes
        Of this switch, with the weights they have now by `Route.weight_path`.
    full_weight
        What the weights of a route are made to sum up to.
    is_ready
        Our policy is there and applied on the edge interfaces.
    instance
        The network instance.

    Raises
    ------
    ValueError
        Two uplinks have one interface, next hop or port class.
    """

    switch: str
    uplinks: tuple[Uplink, ...]
    edge_interfaces: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ()
    weights: Mapping[str, int] = field(default_factory=dict)
    full_weight: int = 64
    is_ready: bool = False
    instance: str = "default"

    def __post_init__(self) -> None:
        for name, told in (
            ("interface", [u.interface for u in self.uplinks]),
            ("next hop", [u.next_hop for u in self.uplinks]),
            ("port class", [u.port_class for u in self.uplinks if u.port_class is not None]),
        ):
            if len(set(told)) < len(told):
                raise ValueError(f"{self.target} has uplinks with one {name}: {told}")

    @property
    def target(self) -> str:
        return f"switch/{self.switch}"

    @cached_property
    def by_interface(self) -> dict[str, Uplink]:
        return {uplink.interface: uplink for uplink in self.uplinks}

    def uplink(self, interface: str) -> Uplink:
        """Return the uplink at an interface.

        Raises
        ------
        ValueError
            There is none.
        """
        found = self.by_interface.get(interface)
        if found is None:
            raise ValueError(f"{self.target} has no uplink {interface!r}")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeredFlow:
    """A flow at one switch that can send it by several uplinks.

    Attributes
    ----------
    number
        Tells it from the others at its switch, from 1 on, and stays the same while it lives: the
        number of its rule, and its place among the ports of a class.
    job, rank, connection
        Who sends it, when it is a job that lets its source ports be chosen.
    source_port
        What that connection is sent from now; 0 = as the host picks.
    bits_per_second
        What it wants to send.
    """

    switch: str
    number: int
    match: Match
    job: str = ""
    rank: int = 0
    connection: int = 0
    source_port: int = 0
    bits_per_second: float = 0.0

    @property
    def key(self) -> tuple[str, int]:
        return self.switch, self.number

    def text(self) -> str:
        match = self.match
        who = f"{self.job} rank {self.rank}" if self.job else f"flow {self.number}"
        return f"{who} at {self.switch} ({match.source} to {match.target})"


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """Which uplink (by interface) each flow is sent by; None = as the switch's hash picks.

    Raises
    ------
    ValueError
        Two flows have one number at one switch, or a number is not positive.
    """

    flows: tuple[SteeredFlow, ...] = ()
    interfaces: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        if len(self.flows) != len(self.interfaces):
            raise ValueError(f"{len(self.flows)} flows have {len(self.interfaces)} interfaces")
        if len(self.by_key) < len(self.flows):
            raise ValueError("two flows have one number at one switch")
        if any(flow.number < 1 for flow in self.flows):
            raise ValueError("a flow's number is not positive")

    @cached_property
    def by_key(self) -> dict[tuple[str, int], tuple[SteeredFlow, str | None]]:
        pairs = zip(self.flows, self.interfaces, strict=True)
        return {flow.key: (flow, interface) for flow, interface in pairs}


def numbered(matches: Sequence[Match], present: Mapping[Match, int]) -> dict[Match, int]:
    """Return a number for each match: the one it has, else the smallest that is free."""
    taken = {present[match] for match in matches if match in present}
    numbers: dict[Match, int] = {}
    free = 1
    for match in matches:
        if match in present:
            numbers[match] = present[match]
            continue
        while free in taken:
            free += 1
        numbers[match] = free
        taken.add(free)
    return numbers
