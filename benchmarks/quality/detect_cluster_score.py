"""How what was told fits what happened: every detector of rows D3 to D8 is scored by this.

A detector is anything that takes a frame and returns what it tells. Ours is the cell's detector as
it ships; River's are one Page-Hinkley and one ADWIN at their defaults on each raw series; the dummy
tells something every so many frames.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from river import drift

from cluster.frame import Frame
from detectors.cell import CellDetector
from detectors.rates import Rates
from detectors.records import AlertState, Cause

EVENT_SECONDS = 60.0


class Heard(NamedTuple):
    """Something told: unix seconds, and the component it was told of."""

    at: float
    component: str


class Event(NamedTuple):
    """Something that happened: first and last second that a word of it is right."""

    first: float
    last: float
    device: str = ""


Tells = Callable[[Frame], list[Heard]]


@dataclass(frozen=True, slots=True)
class Result:
    """Delays are of the events that were told of, in seconds; ``fitting`` alarms fit an event."""

    events: int
    delays: tuple[float, ...]
    alarms: int
    fitting: int
    named: int
    hours: float

    @property
    def recall(self) -> float:
        return len(self.delays) / self.events if self.events else 1.0

    @property
    def precision(self) -> float:
        return self.fitting / self.alarms if self.alarms else 1.0

    @property
    def false_alarms(self) -> int:
        return self.alarms - self.fitting

    @property
    def false_alarms_per_hour(self) -> float:
        return self.false_alarms / self.hours if self.hours else 0.0

    @property
    def delay(self) -> float:
        return median(self.delays) if self.delays else float("inf")


def alerts_of(made: CellDetector) -> Tells:
    """Return what tells the alerts that a detector opens; a source that is silent is none."""

    def tells(frame: Frame) -> list[Heard]:
        return [
            Heard(frame.received_ns / 1e9, alert.component)
            for alert in made.update(frame).alerts
            if alert.state is AlertState.OPENED and alert.cause is not Cause.TELEMETRY_FAULT
        ]

    return tells


def river_of() -> Tells:
    """Return River's Page-Hinkley and ADWIN at their defaults on each raw derived series."""
    rates = Rates()
    tests: dict[object, tuple[drift.PageHinkley, drift.ADWIN]] = {}

    def tells(frame: Frame) -> list[Heard]:
        derived = rates.derive(frame)
        heard = []
        for key, value in zip(derived.layout.columns, derived.values[-1].tolist(), strict=True):
            if value != value:  # noqa: PLR0124 - not NaN
                continue
            pair = tests.setdefault(key, (drift.PageHinkley(), drift.ADWIN()))
            for test in pair:
                test.update(value)
            if any(test.drift_detected for test in pair):
                heard.append(Heard(frame.received_ns / 1e9, key.component))
        return heard

    return tells


def dummy_of(every: int) -> Tells:
    """Return what tells something of the frame's source every so many frames."""
    seen = 0

    def tells(frame: Frame) -> list[Heard]:
        nonlocal seen
        seen += 1
        at = frame.received_ns / 1e9
        return [Heard(at, frame.source)] if seen % every == 0 else []

    return tells


def listen(tells: Tells, frames: Iterable[Frame], *, from_second: float = 0.0) -> list[Heard]:
    """Return all that is told after the warm-up."""
    return [h for frame in frames for h in tells(frame) if h.at >= from_second]


def fused(heard: Iterable[Heard]) -> list[list[Heard]]:
    """Return what was told as events: within 60 s of the one before, on connected components."""
    found: list[list[Heard]] = []
    for each in sorted(heard):
        if found and each.at - found[-1][-1].at <= EVENT_SECONDS:
            found[-1].append(each)
        else:
            found.append([each])
    return found


def scored(
    events: Sequence[Event],
    heard: Sequence[Heard],
    *,
    hours: float,
    alarms: Sequence[Heard] | None = None,
) -> Result:
    """Match what was told with events; ``alarms`` are counted as false instead where given.

    An alarm of several words fits an event when any word of it does.
    """
    delays = []
    named = 0
    for event in events:
        hits = [h for h in heard if event.first <= h.at <= event.last]
        if hits:
            delays.append(min(hits).at - event.first)
            named += any(event.device and event.device in h.component for h in hits)
    told = fused(heard if alarms is None else alarms)
    fitting = sum(any(e.first <= h.at <= e.last for e in events for h in each) for each in told)
    return Result(len(events), tuple(delays), len(told), fitting, named, hours)


def added(results: Iterable[Result]) -> Result:
    """Return several results as one."""
    each = list(results)
    return Result(
        events=sum(r.events for r in each),
        delays=tuple(d for r in each for d in r.delays),
        alarms=sum(r.alarms for r in each),
        fitting=sum(r.fitting for r in each),
        named=sum(r.named for r in each),
        hours=sum(r.hours for r in each),
    )
