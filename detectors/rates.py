"""Turns readings as the device said them into series that can be judged.

Counters become rates, histograms become means between readings; gauges and states pass through.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cluster.catalogue import mean_name, rate_name, series_metric
from cluster.frame import Frame, Layout, SeriesKey
from cluster.metric import Kind
from detectors.series import Floats, Ids, SeriesIds, grown

_NEVER = np.iinfo(np.int64).min
_GAP_INTERVALS = 5.0
_TINY_STEP_BACK = 16.0
_WRAP_32 = 2.0**32
_LAYOUTS_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where a layout's columns go: positions in the raw layout, in the order of `layout`."""

    ids: Ids
    monotone: NDArray[np.bool_]
    narrow: NDArray[np.bool_]
    passed: Ids
    counters: Ids
    sums: Ids
    counts: Ids
    layout: Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Derived series of one frame: rows in time order, NaN where nothing can be said.

    A rate or mean carries the time of the later of its two readings.
    """

    layout: Layout
    time_ns: NDArray[np.int64]
    values: Floats


class Rates:
    """Remembers the previous reading of every series of a cell.

    No rate is told across a reset, a gap of more than five of the series' own intervals, a
    repeated or an older time stamp. `refused` counts those by reason.

    Parameters
    ----------
    narrow
        Counters that are 32 bits wide at their source: they wrap, all others were reset.
    """

    def __init__(self, narrow: frozenset[str] = frozenset()) -> None:
        self.refused: Counter[str] = Counter()
        self._narrow = narrow
        self._ids = SeriesIds()
        self._plans: dict[int, _Plan] = {}
        self._time = np.empty(0, dtype=np.int64)
        self._value = np.empty(0)
        self._interval = np.empty(0, dtype=np.int64)

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_plans": {}}

    def derive(self, frame: Frame) -> Derived:
        """Return the frame's derived series and remember its readings."""
        plan = self._plan(frame.layout)
        order = np.argsort(frame.time_ns, kind="stable")
        values = np.full((len(order), len(plan.layout.columns)), np.nan)
        for out, row in zip(values, order, strict=True):
            self._row(plan, int(frame.time_ns[row]), frame.values[row], out)
        self.end(plan.ids[list(frame.ended_columns)])
        return Derived(layout=plan.layout, time_ns=frame.time_ns[order], values=values)

    def end(self, ids: Ids) -> None:
        """Forget the readings of series that ended: the next reading is a first one."""
        self._time[ids] = _NEVER
        self._interval[ids] = 0

    def _row(self, plan: _Plan, at_ns: int, raw: Floats, out: Floats) -> None:
        ids, before_ns = plan.ids, self._time[plan.ids]
        there = ~np.isnan(raw)
        first = there & (before_ns == _NEVER)
        later = there & ~first & (at_ns > before_ns)
        stale = there & ~first & ~later
        self._count_stale(stale, before_ns, at_ns, raw != self._value[ids])
        elapsed = np.where(later, at_ns - np.where(first, at_ns, before_ns), 0)
        step, kept = self._steps(plan, raw, later)
        usual = self._interval[ids]
        gap = later & (usual > 0) & (elapsed > _GAP_INTERVALS * usual)
        self.refused["gap"] += int(np.count_nonzero(gap & plan.monotone))
        step[gap] = np.nan
        passed = np.where(first | later, raw, np.nan)
        out[:] = _told(plan, passed, step, np.where(elapsed > 0, elapsed / 1e9, np.nan))
        told = first | (later & kept)
        self._time[ids[told]] = at_ns
        self._value[ids[told]] = raw[told]
        seen = later & kept
        self._interval[ids[seen]] = elapsed[seen]

    def _count_stale(
        self,
        stale: NDArray[np.bool_],
        before_ns: NDArray[np.int64],
        at_ns: int,
        other: NDArray[np.bool_],
    ) -> None:
        if not stale.any():
            return
        repeated = stale & (before_ns == at_ns)
        self.refused["out_of_order"] += int(np.count_nonzero(stale & ~repeated))
        self.refused["repeated"] += int(np.count_nonzero(repeated & ~other))
        self.refused["contradicted"] += int(np.count_nonzero(repeated & other))

    def _steps(
        self, plan: _Plan, raw: Floats, later: NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return how far each counter moved (NaN = cannot be told), and what to remember."""
        before = self._value[plan.ids]
        step = np.where(later & plan.monotone, raw - before, np.nan)
        back = step < 0
        if not back.any():
            return step, np.ones(len(raw), dtype=bool)
        tiny = back & (-step <= _TINY_STEP_BACK) & (raw >= 0.5 * before)
        wrapped = back & ~tiny & plan.narrow & (before < _WRAP_32)
        wrapped &= step + _WRAP_32 < _WRAP_32 / 2
        step[wrapped] += _WRAP_32
        reset = back & ~tiny & ~wrapped
        self.refused["step_back"] += int(np.count_nonzero(tiny))
        self.refused["reset"] += int(np.count_nonzero(reset))
        step[tiny | reset] = np.nan
        return step, ~tiny

    def _plan(self, layout: Layout) -> _Plan:
        plan = self._plans.get(layout.layout_id)
        if plan is None:
            if len(self._plans) >= _LAYOUTS_KEPT:
                self._plans.clear()
            plan = self._plans[layout.layout_id] = _planned(layout, self._ids, self._narrow)
            size = len(self._ids)
            self._time = grown(self._time, size, _NEVER)
            self._value = grown(self._value, size, 0.0)
            self._interval = grown(self._interval, size, 0)
        return plan


def _told(plan: _Plan, passed: Floats, step: Floats, seconds: Floats) -> Floats:
    moved = np.where(step[plan.counts] > 0, step[plan.counts], np.nan)
    return np.concatenate(
        [
            passed[plan.passed],
            step[plan.counters] / seconds[plan.counters],
            step[plan.sums] / moved,
        ]
    )


def _planned(layout: Layout, ids: SeriesIds, narrow: frozenset[str]) -> _Plan:
    columns = layout.columns
    place = {key: i for i, key in enumerate(columns)}
    passed, counters, sums, counts = [], [], [], []
    for i, key in enumerate(columns):
        kind = _kind(key.metric, key, place)
        if kind is Kind.COUNTER:
            counters.append(i)
        elif kind is Kind.HISTOGRAM:
            total = place.get(key._replace(metric=key.metric.removesuffix("_count") + "_sum"))
            if key.metric.endswith("_count") and total is not None:
                sums.append(total)
                counts.append(i)
        else:
            passed.append(i)
    derived = [
        *(columns[i] for i in passed),
        *(columns[i]._replace(metric=rate_name(columns[i].metric)) for i in counters),
        *(
            columns[i]._replace(metric=mean_name(columns[i].metric.removesuffix("_count")))
            for i in counts
        ),
    ]
    monotone = np.zeros(len(columns), dtype=bool)
    monotone[[*counters, *sums, *counts]] = True
    return _Plan(
        ids=ids.of_layout(layout),
        monotone=monotone,
        narrow=np.array([key.metric in narrow for key in columns], dtype=bool),
        passed=np.array(passed, dtype=np.intp),
        counters=np.array(counters, dtype=np.intp),
        sums=np.array(sums, dtype=np.intp),
        counts=np.array(counts, dtype=np.intp),
        layout=Layout(tuple(derived)),
    )


def _kind(name: str, key: SeriesKey, place: dict[SeriesKey, int]) -> Kind:
    metric = series_metric(name)
    if metric is not None:
        return metric.kind
    if name.endswith("_bucket"):
        return Kind.HISTOGRAM
    base, _, part = name.rpartition("_")
    if part in {"sum", "count"}:
        other = "count" if part == "sum" else "sum"
        return Kind.HISTOGRAM if key._replace(metric=f"{base}_{other}") in place else Kind.GAUGE
    return Kind.COUNTER if name.endswith("_total") else Kind.GAUGE
