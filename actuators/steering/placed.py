"""From a placement of flows to what each switch is to send by which uplink."""

from collections.abc import Callable, Iterator, Mapping

from actuators.placement import Placement
from actuators.steering.rules import Match
from actuators.steering.site import Assignment, SteeredFlow, numbered

Describe = Callable[[int], Match | None]
"""Returns what the packets of a sub-flow are known by; None when it cannot be steered."""


def assignment_of(
    placement: Placement,
    describe: Describe,
    *,
    present: Mapping[str, Mapping[Match, int]] | None = None,
) -> Assignment:
    """Return the uplink of every sub-flow at each switch that sends it up.

    In three tiers a sub-flow between pods is steered twice: at its leaf and in its pod.

    Parameters
    ----------
    describe
        By the sub-flow's row in the placement.
    present
        Numbers that flows have by switch; they keep them.

    Raises
    ------
    ValueError
        Two sub-flows at one switch are known by the same.
    """
    rows: dict[str, dict[Match, tuple[str, float]]] = {}
    for row in range(len(placement.flow)):
        match = describe(row)
        if match is None:
            continue
        rate = float(placement.bits_per_second[row])
        for switch, interface in _ups(placement, row):
            told = rows.setdefault(switch, {})
            if match in told:
                raise ValueError(f"two sub-flows at {switch} are known by {match!r}")
            told[match] = (interface, rate)
    flows, interfaces = [], []
    for switch, by_match in rows.items():
        numbers = numbered(list(by_match), (present or {}).get(switch, {}))
        for match, (interface, rate) in by_match.items():
            flows.append(
                SteeredFlow(switch=switch, number=numbers[match], match=match, bits_per_second=rate)
            )
            interfaces.append(interface)
    return Assignment(flows=tuple(flows), interfaces=tuple(interfaces))


def _ups(placement: Placement, row: int) -> Iterator[tuple[str, str]]:
    """Yield switch and interface of a sub-flow's ways up; there is one way down."""
    fabric = placement.fabric
    for link in placement.links[row].tolist():
        if link >= 0 and link % 2 == 0:
            cable = link // 2
            yield (
                fabric.switches[int(fabric.lower[cable])],
                fabric.cables[cable].rpartition(":")[2],
            )
