"""A small cluster, alerts and levels for the tests of deciding and acting."""

from collections.abc import Mapping, Sequence

from actuators.ports import ActuationError
from actuators.readings import Reading
from actuators.records import Change
from actuators.view import Job, Levels, Rank, View
from cluster.frame import SeriesKey
from cluster.topology import (
    Engine,
    Gpu,
    Host,
    Link,
    NextHop,
    Route,
    Service,
    Switch,
    Topology,
)
from detectors.records import Alert, AlertState, Cause, Detection, Scope, Severity

SECOND = 1_000_000_000
LINK = "link/leaf1:e49"
_BITS = 100e9


def topology() -> Topology:
    """Two leaves with a host each, two spines, two equal paths between the leaves, a service."""
    leaves, spines = ("leaf1", "leaf2"), ("spine1", "spine2")
    fabric = [
        Link(lower=f"{leaf}:e{49 + s}", upper=f"{spine}:e{n + 1}", capacity_bits_per_second=_BITS)
        for n, leaf in enumerate(leaves)
        for s, spine in enumerate(spines)
    ]
    hosts = [
        Link(lower=f"h{n}:mlx0", upper=f"leaf{n}:e1", capacity_bits_per_second=_BITS)
        for n in (1, 2)
    ]
    hops = (NextHop(index="1", interface="e49"), NextHop(index="2", interface="e50"))
    return Topology(
        switches=(
            *(Switch(name=leaf, cell="pod1", tier=1) for leaf in leaves),
            *(Switch(name=spine, cell="pod1", tier=2) for spine in spines),
        ),
        hosts=tuple(Host(name=f"h{n}", cell="pod1", prefix=f"10.0.{n}.0/24") for n in (1, 2)),
        links=(*fabric, *hosts),
        routes=(
            Route(switch="leaf1", prefix="10.0.2.0/24", next_hops=hops),
            Route(switch="leaf2", prefix="10.0.1.0/24", next_hops=hops),
        ),
        gpus=tuple(Gpu(host=f"h{n}", uuid=f"G{n}", index=0) for n in (1, 2)),
        services=(
            Service(
                name="chat",
                cell="pod1",
                engines=tuple(Engine(name=f"chat-{n}") for n in range(4)),
            ),
        ),
    )


def weight_path(switch: str, index: str) -> str:
    route = next(r for r in topology().routes if r.switch == switch)
    return route.weight_path(next(h for h in route.next_hops if h.index == index))


def job() -> Job:
    return Job(
        component="job/train",
        ranks=tuple(Rank(rank=n, gpu=f"gpu/h{n + 1}:G{n + 1}", micro_batches=8) for n in range(2)),
    )


def view(levels: Levels | None = None) -> View:
    return View(topology=topology(), jobs={"job/train": job()}, levels=levels or Levels())


def levels(values: Mapping[tuple[str, str], float]) -> Levels:
    """Levels of (component, metric), each read once."""
    known = Levels()
    for (component, metric), value in values.items():
        known.note(SeriesKey(component, metric), [Reading(0, 0, value)])
    return known


def counters(rates: Mapping[tuple[str, str], float]) -> Levels:
    """Counters of (component, metric) that rise by so much a second."""
    known = Levels()
    for (component, metric), rate in rates.items():
        known.note(
            SeriesKey(component, metric),
            [Reading(0, 0, 0.0), Reading(SECOND, SECOND, rate)],
        )
    return known


def detection(
    component: str, metric: str, *, before: float = 1.0, after: float = 0.5, name: str = "d1"
) -> Detection:
    return Detection(
        detection_id=name,
        cell="pod1",
        series=SeriesKey(component, metric),
        detector="page_hinkley",
        scope=Scope.SELF,
        onset_ns=100 * SECOND,
        detected_ns=105 * SECOND,
        shift_sigmas=8.0,
        before=before,
        after=after,
    )


def alert(
    component: str = LINK,
    cause: Cause = Cause.LINK_DEGRADED,
    *,
    state: AlertState = AlertState.OPENED,
    revision: int = 1,
    affected: Sequence[str] = ("job/train",),
    evidence: Sequence[Detection] = (),
    alert_id: str = "a1",
) -> Alert:
    return Alert(
        alert_id=alert_id,
        cell="pod1",
        component=component,
        cause=cause,
        state=state,
        revision=revision,
        severity=Severity.WARNING,
        onset_ns=100 * SECOND,
        detected_ns=105 * SECOND,
        revised_ns=105 * SECOND,
        confidence=0.9,
        evidence=tuple(evidence),
        affected=tuple(affected),
        summary="goodput fell while the port stayed up",
    )


class Targets:
    """Targets that hold values; every port and driver of the actuators at once.

    ``refuse`` holds errors to raise, one per coming write; ``lose`` writes it although an error
    is raised: the answer is lost.
    """

    name = "gnmi"

    def __init__(self, values: Mapping[tuple[str, str], str]) -> None:
        self.values = dict(values)
        self.writes: list[tuple[Change, ...]] = []
        self.confirmed: list[tuple[Change, ...]] = []
        self.refuse: list[ActuationError] = []
        self.lose = False
        self.limits: dict[str, int] = {}

    async def read(self, changes: Sequence[Change]) -> Mapping[tuple[str, str], str]:
        wanted = {(c.target, c.path) for c in changes}
        return {key: value for key, value in self.values.items() if key in wanted}

    async def write(self, changes: Sequence[Change]) -> None:
        self.writes.append(tuple(changes))
        error = self.refuse.pop(0) if self.refuse else None
        if error is None or self.lose:
            for change in changes:
                self.values[change.target, change.path] = change.to_value
        if error is not None:
            raise error

    async def confirm(self, changes: Sequence[Change]) -> None:
        self.confirmed.append(tuple(changes))

    async def weights(self, switch: str) -> Mapping[str, int]:
        return {
            path: int(value)
            for (target, path), value in self.values.items()
            if target == f"switch/{switch}"
        }

    async def roles(self, service: str) -> Mapping[str, str]:
        return {target: role for (target, path), role in self.values.items() if path == "role"}

    async def concurrency_limits(self, service: str) -> Mapping[str, int]:
        return self.limits

    async def micro_batches(self, job: str) -> Mapping[int, int]:
        return {
            int(path[len("micro_batches[rank=") : -1]): int(value)
            for (target, path), value in self.values.items()
            if target == job
        }


def fabric_targets(weights: Mapping[tuple[str, str], int] | None = None) -> Targets:
    """Weights by (switch, next hop index), 20 each unless told."""
    known = {(switch, index): 20 for switch in ("leaf1", "leaf2") for index in ("1", "2")}
    known |= dict(weights or {})
    return Targets(
        {
            (f"switch/{switch}", weight_path(switch, index)): str(weight)
            for (switch, index), weight in known.items()
        }
    )


async def no_pause(_: float) -> None:
    """Wait no time."""
