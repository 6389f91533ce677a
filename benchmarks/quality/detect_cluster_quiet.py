"""Row D8: a cluster of 504 GPUs while nothing is wrong, made of real quiet telemetry.

63 nodes each replay the steady phase of one of the recorded nodes (GPUs, rails), at a phase of
their own, forth and back so that nothing jumps where it ends: a reading a second, one cell.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.quality.detect_cluster_data import CELL, folder, frames_of, read_csv
from benchmarks.quality.detect_cluster_score import alerts_of
from benchmarks.row import Row
from cluster.frame import Frame, Layout, SeriesKey
from cluster.topology import Host, Topology
from detectors.cell import CellDetector
from detectors.settings import DetectSettings

_NODES = 63
_GPUS = 8
_SECONDS = 900
_WARM_SECONDS = 120
_SECOND_NS = 1_000_000_000


def rows() -> list[Row]:
    recorded = [tape for path in _files() if len(tape := _tape(path)) > 60]
    hosts = tuple(Host(name=f"n{i}", cell=CELL) for i in range(_NODES))
    made = CellDetector(CELL, Topology(hosts=hosts), DetectSettings())
    tells = alerts_of(made)
    told = sum(
        len(tells(frame)) for second in range(_SECONDS) for frame in _frames(recorded, second)
    )
    days = (_SECONDS - _WARM_SECONDS) / 86_400.0
    limit = DetectSettings().false_alarms_per_day
    return [
        Row(
            id="D8",
            what="false alerts a day on 504 GPUs, real quiet nodes replayed; bound is stated",
            value=told / days,
            unit="per day",
            bound=limit,
            target=1.0,
            holds=told == 0,
            others={"told": told, "gpu_days": _NODES * _GPUS * days, "tapes": len(recorded)},
        )
    ]


def _files() -> list[Path]:
    return [
        path
        for path in sorted(folder("h100-dcgm-ib").glob("*.csv.gz"))
        if path.name.endswith(("_ib.csv.gz", "_telemetry.csv.gz"))
    ]


def _tape(path: Path) -> list[Frame]:
    """Return a file's steady phase as one frame a second: the means of its readings."""
    times = [float(row["timestamp"]) for row in read_csv(path) if row["phase"] == "steady"]
    if not times:
        return []
    first_ns, last_ns = int(min(times) * 1e9), int(max(times) * 1e9)
    seconds: dict[int, list[Frame]] = {}
    for frame in frames_of([path]):
        if first_ns <= frame.received_ns <= last_ns:
            seconds.setdefault((frame.received_ns - first_ns) // _SECOND_NS, []).append(frame)
    whole = max(len(frame.layout.columns) for each in seconds.values() for frame in each)
    return [
        replace(kept[-1], values=np.mean([frame.values for frame in kept], axis=0))
        for _, each in sorted(seconds.items())
        if (kept := [frame for frame in each if len(frame.layout.columns) == whole])
    ]


def _frames(tapes: list[list[Frame]], second: int) -> Iterator[Frame]:
    for node in range(_NODES):
        tape = tapes[node % len(tapes)]
        phase = random.Random(node).randrange(len(tape))
        place = (second + phase) % (2 * len(tape))
        frame = tape[min(place, 2 * len(tape) - 1 - place)]
        at_ns = (second + 1) * _SECOND_NS
        yield replace(
            frame,
            source=f"host/n{node}",
            layout=_renamed(frame.layout, node),
            time_ns=np.array([at_ns]),
            received_ns=at_ns + node,
        )


_LAYOUTS: dict[tuple[int, int], Layout] = {}


def _renamed(layout: Layout, node: int) -> Layout:
    known = _LAYOUTS.get((layout.layout_id, node))
    if known is None:
        columns = tuple(_renamed_key(key, node) for key in layout.columns)
        known = _LAYOUTS[layout.layout_id, node] = Layout(columns)
    return known


def _renamed_key(key: SeriesKey, node: int) -> SeriesKey:
    kind, _, name = key.component.partition("/")
    _, colon, part = name.partition(":")
    return key._replace(component=f"{kind}/n{node}{colon}{part}")
