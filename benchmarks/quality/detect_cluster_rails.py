"""Row D7: one of a node's eight rails is slowed, every one in turn, on real InfiniBand traffic.

The recorded runs have no fault. In their steady phase one rail's bytes are multiplied by less than
one from a moment on that a seed chooses: an injection, said so in the row.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.quality.detect_cluster_data import folder, frames_of, hours, read_csv
from benchmarks.row import Row
from cluster.frame import Frame
from detectors.cell import CellDetector
from detectors.records import Detection, Scope

RAILS = 8
_METRICS = frozenset(
    {
        "rdma_port_reported_transmit_bytes_per_second",
        "rdma_port_reported_receive_bytes_per_second",
    }
)
_WARM_SECONDS = 60.0
_BEFORE_NS = 45_000_000_000
_AFTER_NS = 10_000_000_000


def files() -> list[Path]:
    """Return the nodes' files whose eight rails all carry traffic: others have no peers."""
    return [path for path in sorted(folder("h100-dcgm-ib").glob("*_ib.csv.gz")) if _all_busy(path)]


def steady_frames(path: Path) -> list[Frame]:
    """Return the steady phase as frames."""
    times = [float(row["timestamp"]) for row in read_csv(path) if row["phase"] == "steady"]
    first_ns, last_ns = int(min(times) * 1e9), int(max(times) * 1e9)
    return [each for each in frames_of([path]) if first_ns <= each.received_ns <= last_ns]


def onset_ns(path: Path, frames: list[Frame], rail: int, seed: int) -> int:
    """Return when the rail is slowed: after the warm-up, well before the end."""
    chosen = random.Random(f"{path.name}/{rail}/{seed}")
    lasts = (frames[-1].received_ns - frames[0].received_ns) / 1e9
    after = chosen.uniform(_WARM_SECONDS, lasts - _WARM_SECONDS / 2)
    return frames[0].received_ns + int(after * 1e9)


def slowed(frame: Frame, rail: int, share: float) -> Frame:
    """Return the frame with one rail's bytes reduced to a share."""
    nic = f":ib{rail}"
    factors = [
        share if key.metric in _METRICS and key.component.endswith(nic) else 1.0
        for key in frame.layout.columns
    ]
    return replace(frame, values=frame.values * np.array(factors))


def _all_busy(path: Path) -> bool:
    rows = [row for row in read_csv(path) if row["phase"] == "steady"]
    means = [np.mean([float(row[f"ib{i}_tx_bytes_s"]) for row in rows]) for i in range(RAILS)]
    return min(means) > 0.5 * max(means)


def measure(made: Callable[[], CellDetector], share: float) -> tuple[list[float], int, int]:
    """Return delays of the rails that were found, how many were slowed, and wrong ones told."""
    delays, tried, wrong = [], 0, 0
    for path in files():
        frames = steady_frames(path)
        for rail in range(RAILS):
            at_ns = onset_ns(path, frames, rail, seed=1)
            near = [
                slowed(each, rail, share) if each.received_ns >= at_ns else each
                for each in frames
                if at_ns - _BEFORE_NS < each.received_ns < at_ns + _AFTER_NS
            ]
            tried += 1
            told = [d for d in _left_peers(made(), near) if d.detected_ns >= at_ns]
            right = [d for d in told if d.series.component.endswith(f":ib{rail}")]
            wrong += len(told) - len(right)
            if right:
                delays.append((min(d.detected_ns for d in right) - at_ns) / 1e9)
    return delays, tried, wrong


def quiet_row(made: Callable[[], CellDetector]) -> Row:
    told = series_hours = 0.0
    for path in files():
        frames = steady_frames(path)
        told += len(_left_peers(made(), frames))
        series_hours += 2 * RAILS * hours(frames)
    return Row(
        id="D7-quiet",
        what="rails told while none was slowed, steady phases",
        value=1000.0 * told / series_hours,
        unit="per 1,000 series-hours",
        target=1.0,
        holds=told == 0,
        others={"series_hours": series_hours, "told": told},
    )


def _left_peers(made: CellDetector, frames: list[Frame]) -> list[Detection]:
    return [
        d
        for frame in frames
        for d in made.update(frame).detections
        if d.scope is Scope.PEERS and d.shift_sigmas < 0
    ]
