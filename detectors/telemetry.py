"""Faults of the telemetry itself: a source that is silent, or says the same again and again."""

from dataclasses import dataclass

import numpy as np

from cluster import component as names
from cluster.catalogue import series_metric
from cluster.frame import Frame, SeriesKey
from detectors.evidence import Diagnosis
from detectors.judge import Judged, fact_id
from detectors.records import Cause, Detection, Scope
from detectors.series import Floats, Ids

SILENCE = "telemetry_silence_seconds"
FROZEN = "telemetry_frozen_frames"
_LEAST_FRAMES = 10
_LEAST_SILENCE_NS = 5_000_000_000
# Time counts only while frames come in: when the collector was away, no source was silent.
_LARGEST_STEP_NS = 2_000_000_000
_FROZEN_FRAMES = 15
_SMOOTHING = 0.1


@dataclass(slots=True)
class _Source:
    """What is known of one source; times are on the cell's own clock."""

    last_ns: int
    device_ns: int
    interval_ns: float = 0.0
    frames: int = 1
    same: int = 0
    same_since_ns: int = 0
    moved: bool = False


class Telemetry:
    """Judges the sources of a cell by each other: the cell has no clock but what they deliver."""

    def __init__(self, cell: str, silence_intervals: float) -> None:
        self._cell = cell
        self._intervals = silence_intervals
        self._now_ns = 0
        self._received_ns = 0
        self._sources: dict[str, _Source] = {}
        self._bodies: dict[tuple[str, int], Floats] = {}
        self._moving: dict[int, Ids] = {}

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_moving": {}}

    def forget(self, source: str) -> None:
        """Take a source out: one that ended by itself is not silent."""
        self._sources.pop(source, None)

    def update(self, frame: Frame) -> tuple[list[Detection], list[Judged]]:
        """Return faults that began with this frame, and the series of those that ended."""
        step_ns = frame.received_ns - self._received_ns if self._received_ns else 0
        self._now_ns += min(max(step_ns, 0), _LARGEST_STEP_NS)
        self._received_ns = max(self._received_ns, frame.received_ns)
        source = self._seen(frame)
        ended = [(SeriesKey(_target(frame.source), SILENCE), Scope.SELF)]
        began = self._frozen(frame, source)
        if source.same == 0:
            ended.append((SeriesKey(_target(frame.source), FROZEN), Scope.SELF))
        return [*began, *self._silent()], ended

    def _seen(self, frame: Frame) -> _Source:
        device_ns = int(frame.time_ns.max()) if len(frame.time_ns) else frame.received_ns
        source = self._sources.get(frame.source)
        if source is None:
            source = self._sources[frame.source] = _Source(self._now_ns, device_ns)
            return source
        interval_ns = self._now_ns - source.last_ns
        known = source.interval_ns
        # A source that delivers several frames at once and then waits is as slow as its waits.
        source.interval_ns = max(interval_ns, known + _SMOOTHING * (interval_ns - known))
        source.frames += 1
        source.last_ns, source.device_ns = self._now_ns, device_ns
        return source

    def _silent(self) -> list[Detection]:
        told = []
        for name, source in self._sources.items():
            limit_ns = max(self._intervals * source.interval_ns, _LEAST_SILENCE_NS)
            silent_ns = self._now_ns - source.last_ns
            if source.frames < _LEAST_FRAMES or silent_ns < limit_ns or _is_job(name):
                continue
            told.append(
                self._detection(
                    name,
                    SILENCE,
                    onset_ns=source.device_ns,
                    detected_ns=source.device_ns + silent_ns,
                    before=source.interval_ns / 1e9,
                    after=silent_ns / 1e9,
                )
            )
        return told

    def _frozen(self, frame: Frame, source: _Source) -> list[Detection]:
        places = self._places(frame)
        if not len(places) or not len(frame.values):
            return []
        body = frame.values[-1, places]
        key = (frame.source, frame.layout.layout_id)
        before = self._bodies.get(key)
        self._bodies[key] = body
        if before is None:
            return []
        if not np.array_equal(before, body, equal_nan=True):
            source.same, source.same_since_ns, source.moved = 0, source.device_ns, True
            return []
        source.same += 1
        if not source.moved or source.same < _FROZEN_FRAMES:
            return []
        return [
            self._detection(
                frame.source,
                FROZEN,
                onset_ns=source.same_since_ns,
                detected_ns=source.device_ns,
                before=0.0,
                after=source.same,
            )
        ]

    def _places(self, frame: Frame) -> Ids:
        places = self._moving.get(frame.layout.layout_id)
        if places is None:
            found = [
                i
                for i, key in enumerate(frame.layout.columns)
                if (metric := series_metric(key.metric)) is not None and metric.moves
            ]
            places = self._moving[frame.layout.layout_id] = np.array(found, dtype=np.intp)
        return places

    def _detection(
        self,
        name: str,
        metric: str,
        *,
        onset_ns: int,
        detected_ns: int,
        before: float,
        after: float,
    ) -> Detection:
        target = _target(name)
        return Detection(
            detection_id=fact_id(self._cell, target, metric, str(onset_ns)),
            cell=self._cell,
            series=SeriesKey(target, metric),
            detector="telemetry",
            scope=Scope.SELF,
            onset_ns=onset_ns,
            detected_ns=detected_ns,
            shift_sigmas=0.0,
            before=before,
            after=float(after),
        )


def diagnose_telemetry(active: list[Detection]) -> list[Diagnosis]:
    """Return telemetry faults among the active shifts: the telemetry's, never the device's."""
    return [
        Diagnosis(
            component=detection.series.component,
            cause=Cause.TELEMETRY_FAULT,
            evidence=(detection,),
            confidence=0.9,
            sure=True,
            summary=f"{names.name_of(detection.series.component)} "
            + ("delivers nothing" if detection.series.metric == SILENCE else "repeats itself"),
        )
        for detection in active
        if detection.series.metric in {SILENCE, FROZEN}
    ]


def _target(source: str) -> str:
    return names.component("target", names.name_of(source) or source)


def _is_job(source: str) -> bool:
    return names.kind_of(source) == "job"
