"""One cell: everything that can explain a degradation meets here."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cluster.frame import Frame, Layout, SeriesKey
from cluster.topology import Topology
from detectors import context
from detectors.alerts import AlertBook
from detectors.diagnosis import diagnose
from detectors.evidence import Scene
from detectors.facts import Facts
from detectors.jobs import Job
from detectors.judge import Columns, Judge, Judged
from detectors.peers import Peers
from detectors.pools import POOL_METRICS, Pools
from detectors.rates import Rates
from detectors.records import Alert, Detection, Scope
from detectors.series import Floats
from detectors.settings import DetectSettings
from detectors.state import pack, unpack
from detectors.stragglers import Stragglers
from detectors.telemetry import Telemetry, diagnose_telemetry
from detectors.traffic import Traffic

_DIAGNOSE_EVERY_NS = 500_000_000
_LAYOUTS_KEPT = 2000
_KEPT = (
    "_rates",
    "_judge",
    "_peers",
    "_pools",
    "_traffic",
    "_facts",
    "_stragglers",
    "_knobs",
    "_telemetry",
    "_book",
    "_active",
    "_jobs",
    "_now_ns",
    "_diagnosed_ns",
    "_layouts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a frame brought."""

    detections: tuple[Detection, ...] = ()
    alerts: tuple[Alert, ...] = ()


class CellDetector:
    """Finds what has degraded in one cell, from its frames and its jobs' announcements.

    Deterministic: the same frames give the same detections and alerts with the same ids, also when
    the state was saved and restored in between.
    """

    def __init__(self, cell: str, topology: Topology, settings: DetectSettings) -> None:
        self.cell = cell
        self._topology = topology
        self._settings = settings
        self._rates = Rates()
        self._judge = Judge(cell, settings)
        self._peers = Peers(topology)
        self._pools = Pools(topology)
        self._traffic = Traffic(frozenset(topology.cells), settings.warmup_samples)
        self._facts = Facts(cell)
        self._stragglers = Stragglers(cell)
        self._knobs = context.Knobs()
        self._telemetry = Telemetry(cell, settings.silence_intervals)
        self._book = AlertBook(
            cell, join_seconds=settings.join_seconds, resolve_seconds=settings.resolve_seconds
        )
        self._active: dict[Judged, Detection] = {}
        self._jobs: dict[str, Job] = {}
        self._now_ns = 0
        self._diagnosed_ns = 0
        self._columns: dict[tuple[int, Scope], Columns] = {}
        self._layouts: OrderedDict[int, Layout] = OrderedDict()
        self._knob_places: dict[int, list[int]] = {}

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """Layouts of the frames so far: a reader that goes on from a snapshot needs them."""
        return tuple(self._layouts.values())

    @property
    def open_alerts(self) -> tuple[Alert, ...]:
        """The newest revision of every alert that stands."""
        return self._book.open_alerts

    @property
    def standing(self) -> tuple[Detection, ...]:
        """All shifts that are told and not over."""
        return tuple(self._active.values())

    def job_event(self, job: Job, event: str) -> None:
        """Take a job's placement; ``left`` ends it, its ranks' series start anew.

        What is known already changes nothing.
        """
        if event != "left" and self._jobs.get(job.component) == job:
            return
        if event == "left":
            self._jobs.pop(job.component, None)
            self._telemetry.forget(job.component)
            gone = {job.component, *job.gpus}
            self._reset(
                lambda key: key.component in gone and key.metric.startswith("train_"),
                active_too=True,
            )
        else:
            before = self._jobs.get(job.component)
            self._jobs[job.component] = job
            if before is not None and before.source_ports != job.source_ports:
                self._reset_paths()
        self._peers.set_jobs(self._jobs)
        self._stragglers.set_jobs(self._jobs)
        self._columns = {k: v for k, v in self._columns.items() if k[1] is not Scope.PEERS}

    def update(self, frame: Frame) -> Output:
        """Take a frame in; return what it told."""
        self._now_ns = max(self._now_ns, frame.received_ns)
        self._layouts[frame.layout.layout_id] = frame.layout
        self._layouts.move_to_end(frame.layout.layout_id)
        if len(self._layouts) > _LAYOUTS_KEPT:
            self._layouts.popitem(last=False)
        began, ended = self._telemetry.update(frame)
        before = set(self._active)
        new = self._note(began, ended)
        derived = self._rates.derive(frame)
        for at_ns, values in zip(derived.time_ns.tolist(), derived.values, strict=True):
            new += self._row(derived.layout, at_ns, values)
        self._end_columns(frame)
        at_ns = int(derived.time_ns[-1]) if len(derived.time_ns) else frame.received_ns
        return Output(
            detections=tuple(new),
            alerts=tuple(self._alerts(at_ns, changed=bool(new) or before != set(self._active))),
        )

    def snapshot(self) -> bytes:
        """Return the whole state, to be restored by a detector with the same parameters."""
        state = {name: getattr(self, name) for name in _KEPT}
        return pack(state, self._parameters())

    def restore(self, data: bytes) -> str:
        """Go on from a snapshot; return why it is not used, empty when it is.

        A snapshot of another version, or with other parameters, leaves the detector cold.
        """
        state, fault = unpack(data, self._parameters())
        if state is None:
            return fault
        for name in _KEPT:
            setattr(self, name, state[name])
        self._columns = {}
        return ""

    def _parameters(self) -> str:
        return (
            f"{self.cell}\n{self._settings.model_dump_json()}\n{self._topology.model_dump_json()}"
        )

    def _row(self, layout: Layout, at_ns: int, values: Floats) -> list[Detection]:
        self._take_context(layout, values)
        columns = self._columns_of(layout, layout.columns, Scope.SELF)
        new = self._note(*self._judge.update(columns, at_ns, values))
        new += self._note(*self._facts.take(layout, at_ns, values))
        new += self._note(*self._stragglers.take(layout, at_ns, values))
        plan = self._peers.plan(layout)
        if plan.keys:
            ratios = self._peers.ratios(plan, at_ns, values)
            columns = self._columns_of(layout, plan.keys, Scope.PEERS)
            new += self._note(*self._judge.update(columns, at_ns, ratios))
        for row in self._pools.take(layout, at_ns, values):
            columns = self._judge.columns(row.keys, Scope.SELF)
            new += self._note(*self._judge.update(columns, row.at_ns, row.values))
        for moved in self._traffic.take(layout, at_ns, values):
            columns = self._judge.columns((moved.key,), Scope.SELF)
            new += self._note(*self._judge.update(columns, moved.at_ns, moved.values))
            new += self._note(moved.began(self.cell), moved.ended)
        return new

    def _columns_of(self, layout: Layout, keys: Iterable[SeriesKey], scope: Scope) -> Columns:
        cached = self._columns.get((layout.layout_id, scope))
        if cached is None:
            cached = self._judge.columns(tuple(keys), scope)
            self._columns[layout.layout_id, scope] = cached
        return cached

    def _note(self, began: list[Detection], ended: list[Judged]) -> list[Detection]:
        """Keep the shifts that are not over; return those that are told for the first time."""
        for key in ended:
            self._active.pop(key, None)
        new = []
        for detection in began:
            key = (detection.series, detection.scope)
            known = self._active.get(key)
            if known is None or known.detection_id != detection.detection_id:
                self._active[key] = detection
                new.append(detection)
        return new

    def _take_context(self, layout: Layout, values: Floats) -> None:
        places = self._knob_places.get(layout.layout_id)
        if places is None:
            found = [i for i, key in enumerate(layout.columns) if key.metric in context.KNOBS]
            places = self._knob_places[layout.layout_id] = found
        turned = self._knobs.changed((layout.columns[i], float(values[i])) for i in places)
        if context.WEIGHT in turned:
            self._reset_paths()
        if context.MICRO_BATCHES in turned:
            self._reset(context.moved_by_batches, active_too=False)
        if context.CONCURRENCY in turned:
            self._reset(context.moved_by_concurrency, active_too=False)
        pools = self._pools.take_changed()
        if pools:
            self._reset(context.moved_by_role(pools), active_too=False)

    def _reset_paths(self) -> None:
        self._reset(context.moved_by_paths, active_too=True)
        self._reset(context.strained_by_paths, active_too=False)

    def _end_columns(self, frame: Frame) -> None:
        ended = {frame.layout.columns[i] for i in frame.ended_columns}
        if ended:
            places = {(key.component, key.attributes) for key in ended}
            stems = {_stem(key.metric) for key in ended}
            self._reset(
                lambda key: (
                    (key.component, key.attributes) in places and _stem(key.metric) in stems
                ),
                active_too=True,
            )

    def _reset(self, fits: context.Fits, *, active_too: bool) -> None:
        for key in self._judge.reset(fits, active_too=active_too):
            self._active.pop(key, None)

    def _alerts(self, at_ns: int, *, changed: bool) -> list[Alert]:
        waiting = not self._book.is_idle or bool(self._active)
        late = self._now_ns - self._diagnosed_ns >= _DIAGNOSE_EVERY_NS
        if not waiting or not (changed or late):
            return []
        self._diagnosed_ns = self._now_ns
        scene = Scene(
            active=self._active,
            topology=self._topology,
            jobs=self._jobs,
            peers=self._peers,
            join_ns=int(self._settings.join_seconds * 1e9),
            pool_levels=self._pool_levels(at_ns),
        )
        found = [*diagnose(scene), *diagnose_telemetry(list(self._active.values()))]
        return self._book.update(
            found,
            self._active,
            now_ns=self._now_ns,
            at_ns=at_ns,
            assurance=self._judge.assurance(self._active),
        )

    def _pool_levels(self, at_ns: int) -> dict[tuple[str, str], float]:
        wanted = [m for m in POOL_METRICS if m in {"llm_requests_running", "llm_requests_waiting"}]
        levels = {
            (pool, metric): self._pools.level(pool, metric, at_ns)
            for pool in self._pools.names()
            for metric in wanted
        }
        return {key: level for key, level in levels.items() if not np.isnan(level)}


def _stem(metric: str) -> str:
    for suffix in ("_per_second", "_total", "_mean", "_count", "_sum"):
        metric = metric.removesuffix(suffix)
    return metric
