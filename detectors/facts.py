"""What a source states outright: no light, an error code. Told at its first reading.

A code that was there when a series was first read is history; only what comes later is an event.
"""

import math
from dataclasses import dataclass

import numpy as np

from cluster.frame import Layout, SeriesKey
from detectors.judge import Judged, fact_id
from detectors.records import Cause, Detection, Scope
from detectors.series import Floats, Ids

FACTS = "facts"
SIGNAL_LOST = "net_optics_signal_lost"
XID = "gpu_xid_last_code"
_OSNR = "net_optics_osnr_decibels"
_READ = frozenset({_OSNR, XID})
# NVIDIA's codes that are the GPU's own fault; others (13, 31, 43, 45 ...) are the program's.
_MEMORY_CODES = frozenset({48, 63, 64, 92, 94, 95, 140})
_GPU_CODES = frozenset({54, 61, 62, 74, 79, 119, 120, 136, 143, 154})
# The last code stays on show; after this time without another it is over.
_CODE_STANDS_NS = 600_000_000_000


def cause_of_code(code: int) -> Cause | None:
    """Return what an XID says of the GPU; None when it speaks of the program that ran on it."""
    if code in _MEMORY_CODES:
        return Cause.SLOW_GPU_MEMORY_ERRORS
    return Cause.UNEXPLAINED if code in _GPU_CODES else None


@dataclass(slots=True)
class _State:
    """What a series said last, and the fact that stands since."""

    value: float
    best: float
    since_ns: int = 0


class Facts:
    """Reads the few series that need no statistics."""

    def __init__(self, cell: str) -> None:
        self._cell = cell
        self._states: dict[SeriesKey, _State] = {}
        self._plans: dict[int, tuple[Ids, tuple[SeriesKey, ...]]] = {}

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_plans": {}}

    def take(
        self, layout: Layout, at_ns: int, values: Floats
    ) -> tuple[list[Detection], list[Judged]]:
        """Return facts that began with this row, and the series of those that are over."""
        places, keys = self._plan(layout)
        began, ended = [], []
        for key, value in zip(keys, values[places].tolist(), strict=True):
            if math.isnan(value):
                continue
            state = self._states.setdefault(key, _State(value, value))
            fault = _is_fault(key.metric, state, value)
            if fault and (not state.since_ns or state.value != value):
                state.since_ns = at_ns
                began.append(self._detection(key, at_ns, before=state.best, after=value))
            elif state.since_ns and _is_over(key.metric, state, at_ns, fault=fault):
                state.since_ns = 0
                ended.append((_told_as(key), Scope.SELF))
            state.best = max(state.best, value) if key.metric == _OSNR else state.best
            state.value = value
        return began, ended

    def _plan(self, layout: Layout) -> tuple[Ids, tuple[SeriesKey, ...]]:
        plan = self._plans.get(layout.layout_id)
        if plan is None:
            found = [(i, key) for i, key in enumerate(layout.columns) if key.metric in _READ]
            places = np.array([i for i, _ in found], dtype=np.intp)
            plan = self._plans[layout.layout_id] = (places, tuple(key for _, key in found))
        return plan

    def _detection(self, key: SeriesKey, at_ns: int, *, before: float, after: float) -> Detection:
        told = _told_as(key)
        return Detection(
            detection_id=fact_id(self._cell, *told, str(at_ns)),
            cell=self._cell,
            series=told,
            detector=FACTS,
            scope=Scope.SELF,
            onset_ns=at_ns,
            detected_ns=at_ns,
            shift_sigmas=0.0,
            before=before,
            after=after,
        )


def _is_fault(metric: str, state: _State, value: float) -> bool:
    if metric == _OSNR:
        return value <= 0.0 < state.best
    return (value != state.value or state.since_ns > 0) and cause_of_code(int(value)) is not None


def _is_over(metric: str, state: _State, at_ns: int, *, fault: bool) -> bool:
    if metric == _OSNR or not fault:
        return not fault
    return at_ns - state.since_ns >= _CODE_STANDS_NS


def _told_as(key: SeriesKey) -> SeriesKey:
    return key._replace(metric=SIGNAL_LOST) if key.metric == _OSNR else key
