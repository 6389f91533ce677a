"""Row D3: a coherent link that fades (soft) or goes dark (hard), as its transponders tell it.

Source: the ARNO testbed. A reading every 3.5 s; `Failure` is what the scorer alone reads.
"""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality.detect_cluster_data import folder, frames_of_rows, read_csv
from cluster.frame import Frame, SeriesKey

_METRICS = {
    "BER": "net_if_pre_fec_ber_ratio",
    "OSNR": "net_optics_osnr_decibels",
    "InputPower": "net_optics_input_power_dbm",
    "OutputPower": "net_optics_output_power_dbm",
}


def files() -> list[Path]:
    return sorted(folder("optical-failure").glob("*Failure.csv.gz"))


def frames(path: Path) -> list[Frame]:
    return frames_of_rows(_rows(path))


def _rows(path: Path) -> Iterator[tuple[int, str, list[tuple[SeriesKey, float]]]]:
    for row in read_csv(path):
        device, _, port = row["ID"].partition("/")
        component = f"port/{device}:{port or '0'}"
        readings = [
            (SeriesKey(component, metric), float(row[column]))
            for column, metric in _METRICS.items()
            if row[column]
        ]
        yield int(float(row["Timestamp"])) * 1_000_000_000, f"switch/{device}", readings


def episodes(path: Path) -> list[tuple[float, float]]:
    """Return (first, last) second of each failure that was made, in time order."""
    labelled = sorted({(int(float(r["Timestamp"])), r["Failure"] == "1") for r in read_csv(path)})
    found: list[tuple[float, float]] = []
    for at, failed in labelled:
        if not failed:
            continue
        if found and at - found[-1][1] <= 10:
            found[-1] = (found[-1][0], at)
        else:
            found.append((at, at))
    return found
