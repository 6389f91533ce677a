"""Runs a class's watcher over labelled series, once and in time order, and scores what it told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from detectors.watch import Watcher
from pipelines.evaluate.metrics import (
    Events,
    cover,
    events,
    nab_raw,
    nab_score,
    segments_f1,
)
from pipelines.evaluate.recordings import Recording

BUDGET_SAMPLES = 10
WARMUP_SAMPLES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Samples that told a change of one series, and where it is said to have begun."""

    at: tuple[int, ...]
    begins: tuple[int, ...]


def watch(recording: Recording, watcher: Watcher) -> Told:
    """Feed a series; the watcher sees the values only."""
    told = [
        (i, i - back)
        for i, value in enumerate(recording.values)
        if (back := watcher.update(value)) is not None
    ]
    return Told(at=tuple(i for i, _ in told), begins=tuple(begin for _, begin in told))


def evaluate(
    recordings: Sequence[Recording],
    make: Callable[[], Watcher],
    *,
    warmup: int = WARMUP_SAMPLES,
    budget: int = BUDGET_SAMPLES,
) -> dict[str, float]:
    """Return the figures that the labels allow, by name."""
    told = [watch(each, make()) for each in recordings]
    pairs = list(zip(recordings, told, strict=True))
    figures: dict[str, float] = {
        "series": len(recordings),
        "samples": sum(len(each.values) for each in recordings),
        "alarms": sum(len(each.at) for each in told),
    }
    if any(each.events for each in recordings):
        figures |= _event_figures(pairs, warmup, budget) | _nab_figures(pairs)
    annotated = [(each, what) for each, what in pairs if each.annotations]
    if annotated:
        figures["segment_f1"] = _mean(
            [segments_f1(each.annotations, what.begins) for each, what in annotated]
        )
        figures["segment_cover"] = _mean(
            [cover(each.annotations, what.begins, len(each.values)) for each, what in annotated]
        )
    return figures


def _event_figures(
    pairs: Sequence[tuple[Recording, Told]], warmup: int, budget: int
) -> dict[str, float]:
    total = sum(
        (events(each.events, what.at, warmup=warmup, budget=budget) for each, what in pairs),
        Events(),
    )
    return {
        "event_f1": total.f1,
        "event_precision": total.precision,
        "event_recall": total.recall,
        "event_delay_median": float(median(total.delays)) if total.delays else float("nan"),
        "false_alarms": total.false,
    }


def _nab_figures(pairs: Sequence[tuple[Recording, Told]]) -> dict[str, float]:
    figures = {}
    for name, false, miss in (("", 0.11, 1.0), ("_low_fp", 0.22, 1.0), ("_low_fn", 0.11, 2.0)):
        raw, count = 0.0, 0
        for each, what in pairs:
            windows = [(begin, end - 1) for begin, end in each.events]
            one, number = nab_raw(windows, what.at, length=len(each.values), false=false, miss=miss)
            raw, count = raw + one, count + number
        figures[f"nab{name}"] = nab_score(raw, count, miss=miss)
    return figures


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
