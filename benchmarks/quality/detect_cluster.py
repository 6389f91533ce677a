"""Rows D3 to D8: the cell's detector as it ships, on recorded clusters.

One pass in time order; the parameters are the catalogue's, by class of metric, and the settings'
defaults but for the warm-up, which is told with each row. Labels are opened by the scorer only.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.quality import detect_cluster_optics as optics
from benchmarks.quality import detect_cluster_quiet as quiet
from benchmarks.quality import detect_cluster_rails as rails
from benchmarks.quality import detect_cluster_routers as routers
from benchmarks.quality import detect_cluster_stragglers as stragglers
from benchmarks.quality.detect_cluster_data import CELL, hours
from benchmarks.quality.detect_cluster_score import (
    Event,
    Heard,
    Result,
    Tells,
    added,
    alerts_of,
    dummy_of,
    listen,
    river_of,
    scored,
)
from benchmarks.row import Row
from cluster.frame import Frame
from cluster.topology import Topology
from detectors.cell import CellDetector
from detectors.facts import SIGNAL_LOST
from detectors.settings import DetectSettings

_DUMMY_EVERY = 500
_GRACE_SECONDS = 10.0


def rows() -> list[Row]:
    return [*d3(), *d4(), *d5(), *d6(), *d7(), *quiet.rows()]


def _detector(warmup_samples: int = 60) -> CellDetector:
    # Topology is unknown in the recordings, so nothing waits for a component to be joined with.
    settings = DetectSettings(warmup_samples=warmup_samples, join_seconds=1.0)
    return CellDetector(CELL, Topology(), settings)


def d3() -> list[Row]:
    found = []
    for path in optics.files():
        hard = "Hard" in path.name
        frames = optics.frames(path)
        events = [Event(a, b + _GRACE_SECONDS) for a, b in optics.episodes(path)]
        ours = _optics_result(frames, events, hard=hard)
        name = "hard" if hard else "soft"
        what = f"optical link, {name}: recall of detections; false = alerts apart from an episode"
        met = (
            ours.recall >= 0.9 and ours.false_alarms_per_hour < 1.0
            if hard
            else ours.recall >= 1.0 and ours.false_alarms == 0
        )
        found += _result_rows(f"D3-{name}", what, ours, _others(frames, events), holds=met)
    return found


def _optics_result(frames: Sequence[Frame], events: list[Event], *, hard: bool) -> Result:
    made = _detector()
    heard: list[Heard] = []
    alarms: list[Heard] = []
    tells = alerts_of(made)
    for frame in frames:
        before = {d.detection_id for d in made.standing}
        alarms += tells(frame)
        heard += [
            Heard(d.detected_ns / 1e9, d.series.component)
            for d in made.standing
            if d.detection_id not in before and (d.series.metric == SIGNAL_LOST or not hard)
        ]
    return scored(events, heard, hours=hours(list(frames)), alarms=alarms)


def d4() -> list[Row]:
    results = _each(routers.scenarios(), routers.scenario_frames, routers.injected)
    ours, plain, dummy = (added(each) for each in results)
    what = "router changes in application traffic, warm-up 18 readings of 10 s: recall of alerts"
    met = ours.recall >= 0.9 and ours.false_alarms == 0 and ours.delay <= 20.0
    return _result_rows("D4", what, ours, (plain, dummy), holds=met)


def d5() -> list[Row]:
    results = _each(routers.runs(), routers.run_frames, lambda path, *_: routers.incidents(path))
    ours, plain, dummy = (added(each) for each in results)
    what = "BGP cleared, transceivers pulled, warm-up 18 readings of 5 s: recall of alerts"
    met = ours.recall >= 1.0 and ours.precision >= 1.0 and ours.delay <= 9.9
    return _result_rows("D5", what, ours, (plain, dummy), holds=met)


def _each(
    paths: list[Path],
    frames_of: Callable[[Path], list[Frame]],
    events_of: Callable[[Path, float, float], list[Event]],
) -> tuple[list[Result], list[Result], list[Result]]:
    ours, plain, dummy = [], [], []
    for path in paths:
        frames = frames_of(path)
        first, last = frames[0].received_ns / 1e9, frames[-1].received_ns / 1e9
        interval = 10.0 if frames_of is routers.scenario_frames else 5.0
        warm = first + interval * routers.WARMUP_SAMPLES
        events = [e for e in events_of(path, warm, last) if e.first >= warm]
        makers: list[tuple[list[Result], Tells]] = [
            (ours, alerts_of(_detector(routers.WARMUP_SAMPLES))),
            (plain, river_of()),
            (dummy, dummy_of(_DUMMY_EVERY)),
        ]
        for results, tells in makers:
            heard = listen(tells, frames, from_second=warm)
            results.append(scored(events, heard, hours=(last - warm) / 3600.0))
    return ours, plain, dummy


def d6() -> list[Row]:
    found = []
    for path in stragglers.files():
        work = stragglers.read(path)
        job = stragglers.job_of(path, work)
        accused = _accused(job, stragglers.frames(job, work))
        truth = stragglers.culprit(path)
        wrong = sum(name != truth for _, name in accused)
        first = min((step for step, name in accused if name == truth), default=0)
        name = path.stem.removeprefix("trace-")
        found.append(
            Row(
                id=f"D6-{name}",
                what=f"job trace: wrong workers accused; the slow one is {truth or 'nobody'}",
                value=wrong,
                unit="workers",
                target=0.0,
                holds=wrong == 0 and (first in {1, 2} if truth else True),
                others={"steps_to_right_worker": first, "accused": len(accused)},
            )
        )
        if not truth:
            found.append(_injected_worker(name, job, work))
    return found


def _accused(job: stragglers.Job, frames: list[Frame]) -> list[tuple[int, str]]:
    """Return (step, GPU) of each alert on a GPU."""
    made = _detector()
    made.job_event(job, "joined")
    told = [(n, h) for n, f in enumerate(frames, start=1) for h in alerts_of(made)(f)]
    return [(n, h.component) for n, h in told if h.component.startswith("gpu/")]


def _injected_worker(name: str, job: stragglers.Job, work: object) -> Row:
    """Slow workers in turn by 5 % from the seventh step on: found within two steps?"""
    right = wrong = tried = 0
    for gpu in job.gpus[:: max(1, len(job.gpus) // 16)]:
        frames = stragglers.frames(job, work, slowed=gpu, by=0.05, after=6)[:14]  # type: ignore[arg-type]
        accused = _accused(job, frames)
        tried += 1
        right += any(g == gpu and 7 <= step <= 8 for step, g in accused)
        wrong += sum(g != gpu for _, g in accused)
    return Row(
        id=f"D6-{name}-injected",
        what="a worker slowed by 5 % (injected), each in turn: named within two steps",
        value=right / tried,
        unit="ratio",
        target=0.99,
        holds=right / tried >= 0.99 and wrong == 0,
        others={"workers": tried, "wrong": wrong},
    )


def d7() -> list[Row]:
    results = {share: rails.measure(_detector, share) for share in (0.95, 0.98)}
    found = []
    for share, (delays, tried, wrong) in results.items():
        limit = 2.5 if share == 0.95 else 1.0
        most = max(delays, default=float("inf"))
        lost = round((1 - share) * 100)
        found.append(
            Row(
                id=f"D7-{lost}",
                what=f"a rail slowed by {lost} % (injected), each in turn: found",
                value=len(delays) / tried,
                unit="ratio",
                target=1.0,
                holds=len(delays) == tried and wrong == 0 and most <= limit,
                others={
                    "rails": tried,
                    "wrong": wrong,
                    "median_delay_seconds": sorted(delays)[len(delays) // 2] if delays else -1.0,
                    "most_delay_seconds": most,
                },
            )
        )
    return [*found, rails.quiet_row(_detector)]


def _others(frames: list[Frame], events: list[Event]) -> tuple[Result, Result]:
    lasts = hours(frames)
    return (
        scored(events, listen(river_of(), frames), hours=lasts),
        scored(events, listen(dummy_of(_DUMMY_EVERY), frames), hours=lasts),
    )


def _result_rows(
    name: str, what: str, ours: Result, others: tuple[Result, Result], *, holds: bool
) -> list[Row]:
    plain, dummy = others
    return [
        Row(
            id=name,
            what=what,
            value=ours.recall,
            unit="ratio",
            baseline=plain.recall,
            target=1.0,
            holds=holds,
            others={
                "events": ours.events,
                "precision": ours.precision,
                "false_alarms": ours.false_alarms,
                "false_alarms_per_hour": ours.false_alarms_per_hour,
                "delay_seconds": ours.delay,
                "within_20_s": sum(d <= 20.0 for d in ours.delays) / max(ours.events, 1),
                "device_named": ours.named / max(ours.events, 1),
                "hours": ours.hours,
                "river_precision": plain.precision,
                "river_false_per_hour": plain.false_alarms_per_hour,
                "dummy_recall": dummy.recall,
                "dummy_precision": dummy.precision,
                "dummy_false_per_hour": dummy.false_alarms_per_hour,
            },
        )
    ]
