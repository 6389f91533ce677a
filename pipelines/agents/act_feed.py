"""What acting reads of frames: the objectives, and the few levels that gains are computed from."""

import math
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from actuators.objective import TPOT, TTFT, Attainment, Buckets, StepSeconds
from actuators.readings import Reading, Readings
from actuators.settings import ObjectiveConfig
from actuators.view import REMEMBERED, WATCHED, Job, Levels
from cluster.frame import Frame, Layout, SeriesKey
from cluster.topology import Topology
from pipelines.messages.jobs import job_of
from pipelines.wire import jobs_pb2

_BOUND = re.compile(r'(?:^|,)le="([^"]*)"')
_LAYOUTS_KEPT = 10_000
_READINGS_KEPT = 512

Objective = StepSeconds | Attainment


@dataclass(slots=True)
class Columns:
    """The columns of one layout that acting reads."""

    layout: Layout
    levels: list[tuple[int, SeriesKey]] = field(default_factory=list)
    steps: list[tuple[int, StepSeconds]] = field(default_factory=list)
    buckets: dict[str, tuple[Attainment, list[tuple[int, str, float]]]] = field(
        default_factory=dict
    )

    @property
    def any(self) -> bool:
        return bool(self.levels or self.steps or self.buckets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a feed has read and cannot read again.

    Attributes
    ----------
    objectives, levels
        Readings by series.
    layouts
        Of the frames that acting reads something of.
    read
        Collector and sequence of the newest frame by source.
    """

    objectives: dict[SeriesKey, list[Reading]]
    levels: dict[SeriesKey, list[Reading]]
    layouts: list[Layout]
    read: dict[str, tuple[str, int]]


class Feed:
    """Takes frames; holds the objectives' readings and the levels.

    The columns of a layout are looked up once. Nothing of what a frame holds besides is touched.
    """

    def __init__(
        self,
        topology: Topology,
        objectives: Iterable[ObjectiveConfig],
        *,
        slide_seconds: float,
    ) -> None:
        self.levels = Levels()
        self.jobs: dict[str, Job] = {}
        self._ports = frozenset(
            f"port/{route.switch}:{hop.interface}"
            for route in topology.routes
            for hop in route.next_hops
        )
        self._objectives = _objectives(topology, objectives, slide_seconds)
        self._columns: OrderedDict[int, Columns] = OrderedDict()
        self._read: dict[str, tuple[str, int]] = {}
        self._read_before: dict[str, tuple[str, int]] = {}

    def readings(self, component: str) -> Readings:
        """Return the readings of a component's objective; empty when it has none."""
        objective = self._objectives.get(component)
        return Readings(1) if objective is None else objective.readings

    def take(self, frame: Frame) -> None:
        """Note what a frame tells of objectives and levels; one of the past tells nothing new."""
        if self._is_past(frame):
            return
        self._read[frame.source] = (frame.collector, frame.sequence)
        self._note(frame, self._of(frame.layout))
        for column in frame.ended_columns:
            self.levels.forget(frame.layout.columns[column])

    def past(self) -> Past:
        """Return what a restart would lose."""
        return Past(
            objectives={
                _series_of(component, held): list(held.readings)[-_READINGS_KEPT:]
                for component, held in self._objectives.items()
            },
            levels=self.levels.remembered(_READINGS_KEPT),
            layouts=[columns.layout for columns in self._columns.values() if columns.any],
            read=dict(self._read),
        )

    def restore(self, past: Past) -> None:
        """Go on from what an earlier run has read; frames that it took are not taken again."""
        for component, held in self._objectives.items():
            for reading in past.objectives.get(_series_of(component, held), ()):
                held.readings.append(reading)
        for key, readings in past.levels.items():
            self.levels.note(key, readings)
        self._read_before = dict(past.read)
        self._read = dict(past.read)

    def take_job(self, event: jobs_pb2.JobEvent) -> None:
        """Note that a job joined, changed or left."""
        component = f"job/{event.job_id}"
        if event.event == "left":
            self.jobs.pop(component, None)
            return
        self.jobs[component] = job_of(event)

    def _is_past(self, frame: Frame) -> bool:
        collector, sequence = self._read_before.get(frame.source, ("", 0))
        return frame.collector == collector and 0 < frame.sequence <= sequence

    def _note(self, frame: Frame, columns: Columns) -> None:
        times = frame.time_ns.tolist()
        for column, key in columns.levels:
            self.levels.note(key, _readings(frame, times, column))
        for column, objective in columns.steps:
            for reading in _readings(frame, times, column):
                objective.note(reading)
        for attainment, bounds in columns.buckets.values():
            for row, time_ns in enumerate(times):
                buckets = _buckets(frame, row, time_ns, bounds)
                if buckets is not None:
                    attainment.note(buckets)

    def _of(self, layout: Layout) -> Columns:
        columns = self._columns.get(layout.layout_id)
        if columns is None:
            columns = self._looked_up(layout)
            self._columns[layout.layout_id] = columns
            if len(self._columns) > _LAYOUTS_KEPT:
                self._columns.popitem(last=False)
        return columns

    def _looked_up(self, layout: Layout) -> Columns:
        columns = Columns(layout)
        for index, key in enumerate(layout.columns):
            objective = self._objectives.get(key.component)
            if isinstance(objective, StepSeconds) and key.metric == objective.objective.metric:
                columns.steps.append((index, objective))
            if isinstance(objective, Attainment) and key.metric in {TTFT, TPOT}:
                bound = _BOUND.search(key.attributes)
                if bound is not None:
                    _, bounds = columns.buckets.setdefault(key.component, (objective, []))
                    bounds.append((index, key.metric, float(bound[1])))
            if self._is_level(key):
                columns.levels.append((index, key))
        return columns

    def _is_level(self, key: SeriesKey) -> bool:
        if key.metric not in WATCHED and key.metric not in REMEMBERED:
            return False
        return not key.component.startswith("port/") or key.component in self._ports


def _series_of(component: str, held: Objective) -> SeriesKey:
    return SeriesKey(component, held.objective.metric)


def _objectives(
    topology: Topology, objectives: Iterable[ObjectiveConfig], slide_seconds: float
) -> dict[str, Objective]:
    services = {service.component: service for service in topology.services}
    found: dict[str, Objective] = {}
    for objective in objectives:
        if objective.metric == "train_step_seconds":
            found[objective.component] = StepSeconds(objective)
        elif objective.component in services:
            service = services[objective.component]
            found[objective.component] = Attainment(
                objective,
                ttft_limit=service.ttft_limit_seconds,
                tpot_limit=service.tpot_limit_seconds,
                slide_seconds=slide_seconds,
            )
    return found


def _readings(frame: Frame, times: list[int], column: int) -> list[Reading]:
    values = frame.values[:, column].tolist()
    return [
        Reading(time_ns, frame.received_ns, value)
        for time_ns, value in zip(times, values, strict=True)
        if not math.isnan(value)
    ]


def _buckets(
    frame: Frame, row: int, time_ns: int, bounds: list[tuple[int, str, float]]
) -> Buckets | None:
    """Return both histograms as a row has them, summed over labels; None when it has not both."""
    counts: dict[str, dict[float, float]] = {TTFT: {}, TPOT: {}}
    for column, metric, bound in bounds:
        value = float(frame.values[row, column])
        if not math.isnan(value):
            counts[metric][bound] = counts[metric].get(bound, 0.0) + value
    if not counts[TTFT] or not counts[TPOT]:
        return None
    return Buckets(time_ns, frame.received_ns, counts[TTFT], counts[TPOT])
