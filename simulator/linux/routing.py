"""Which way a lab fabric's packets go, given the cables that work: routes of every switch. Pure."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final, NamedTuple

from simulator.linux.shape import Shape

MAIN: Final = 254
# Table of a leaf's n-th spine: what a policy rule with that next hop looks up.
_FIRST_TABLE: Final = 100


class Hop(NamedTuple):
    """A next hop; ``weight`` is its share among a route's hops."""

    gateway: str
    interface: str
    weight: int


class Where(NamedTuple):
    """A route's place: its table and destination."""

    table: int
    prefix: str


Routes = Mapping[Where, tuple[Hop, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roads:
    """What routes follow from.

    Attributes
    ----------
    alive
        Components of the uplinks that work and are on at both ends.
    weights
        Of a leaf's next hops, by (leaf, prefix, spine); those not named weigh 1.
    """

    alive: Set[str]
    weights: Mapping[tuple[str, str, str], int]


def table_of(shape: Shape, spine: str) -> int:
    return _FIRST_TABLE + shape.spine_names.index(spine)


def routes(shape: Shape, switch: str, roads: Roads) -> dict[Where, tuple[Hop, ...]]:
    """Return a switch's routes; a route without a hop is absent.

    A leaf sends by a spine only what that spine can deliver.
    """
    found = _leaf(shape, switch, roads) if switch in shape.leaf_names else _spine(shape, switch)
    return {
        where: hops
        for where, hops in ((w, _live(shape, switch, h, roads)) for w, h in found)
        if hops
    }


def _leaf(shape: Shape, leaf: str, roads: Roads) -> Iterator[tuple[Where, list[Hop]]]:
    own = shape.uplinks_of(leaf)
    for target in shape.leaf_names:
        if target == leaf:
            continue
        prefix = shape.prefixes[target]
        far = shape.uplinks_of(target)
        ways = [spine for spine in own if far[spine].component in roads.alive]
        hops = {
            spine: Hop(
                own[spine].upper.address,
                own[spine].lower.interface,
                roads.weights.get((leaf, prefix, spine), 1),
            )
            for spine in ways
        }
        yield Where(MAIN, prefix), [hop for hop in hops.values() if hop.weight > 0]
        for spine, hop in hops.items():
            yield Where(table_of(shape, spine), prefix), [hop._replace(weight=1)]


def _spine(shape: Shape, spine: str) -> Iterator[tuple[Where, list[Hop]]]:
    for leaf in shape.leaf_names:
        down = shape.uplinks_of(leaf)[spine]
        hop = Hop(down.lower.address, down.upper.interface, 1)
        yield Where(MAIN, shape.prefixes[leaf]), [hop]


def _live(shape: Shape, switch: str, hops: list[Hop], roads: Roads) -> tuple[Hop, ...]:
    dead = {
        end.interface
        for cable in shape.uplinks
        if cable.component not in roads.alive
        for end in (cable.lower, cable.upper)
        if end.device == switch
    }
    return tuple(hop for hop in hops if hop.interface not in dead)
