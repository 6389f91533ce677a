"""Row D7: one of a node's eight rails is slowed, every one in turn, on real InfiniBand traffic.

The recorded runs have no fault. In their steady phase one rail's bytes are multiplied by less than
one from a moment on that a seed chooses: an injection, said so in the row.
"""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.quality.detect_cluster_data import folder, frames_of, read_csv
from cluster.frame import Frame

RAILS = 8
_METRICS = frozenset(
    {
        "rdma_port_reported_transmit_bytes_per_second",
        "rdma_port_reported_receive_bytes_per_second",
    }
)
_WARM_SECONDS = 60.0


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
