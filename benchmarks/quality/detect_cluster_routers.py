"""Rows D4 and D5: what was done to routers of a leaf-spine lab, by their own telemetry.

D4: injected changes among application traffic, a reading every 10 s. D5: cleared BGP sessions and
pulled transceivers, every 4 to 5 s. Nothing tells the links: topology is unknown here.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality.detect_cluster_data import folder, frames_of, frames_of_rows, read_csv
from benchmarks.quality.detect_cluster_score import EVENT_SECONDS, Event
from cluster import catalogue, component
from cluster.frame import Frame, SeriesKey

WARMUP_SAMPLES = 18
_PORT = re.compile(r"(.*?GigE[\d/]+|MgmtEth[\w/]+?)(bytes-received|bytes-sent|output-drops)")
_COUNTERS = {
    "bytes-received": "net_if_in_octets_total",
    "bytes-sent": "net_if_out_octets_total",
    "output-drops": "net_if_out_discards_total",
}


def scenarios() -> list[Path]:
    return sorted(path for path in folder("cisco-mdt").iterdir() if path.is_dir())


def scenario_frames(path: Path) -> list[Frame]:
    return frames_of(path.glob("*.csv.gz"))


def injected(path: Path, first: float, last: float) -> list[Event]:
    """Return the changes that were made between these seconds, with a minute to be told of."""
    with (path.parent / "events.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["scenario"] == path.name]
    return [
        Event(at, at + EVENT_SECONDS, row["device"])
        for row in rows
        if row["is_injected_change"] == "True" and first <= (at := float(row["timestamp"])) <= last
    ]


def runs() -> list[Path]:
    return sorted(path for path in folder("cisco-bgp-portflap").glob("*") if _is_run(path))


def run_frames(path: Path) -> list[Frame]:
    return frames_of_rows(row for file in sorted(path.glob("*.csv.gz")) for row in _node_rows(file))


def incidents(path: Path) -> list[Event]:
    """Return the run's incidents; nodes that were disturbed at once are one incident."""
    with path.with_name(f"{path.name}.truth.csv").open(encoding="utf-8") as lines:
        rows = sorted(csv.DictReader(lines), key=lambda row: float(row["Start"]))
    found: list[Event] = []
    for row in rows:
        event = Event(float(row["Start"]), float(row["End"]), row["Node"])
        if found and event.first < found[-1].last:
            found[-1] = found[-1]._replace(last=max(found[-1].last, event.last))
        else:
            found.append(event)
    return found


def _is_run(path: Path) -> bool:
    return path.is_dir() and path.with_name(f"{path.name}.truth.csv").exists()


def _node_rows(file: Path) -> Iterator[tuple[int, str, list[tuple[SeriesKey, float]]]]:
    node = file.name.partition(".")[0]
    switch = f"switch/{node}"
    keys: dict[str, SeriesKey] = {}
    for row in read_csv(file):
        keys = keys or {column: key for column in row if (key := _key(node, column)) is not None}
        readings = [(key, float(row[column])) for column, key in keys.items() if row[column]]
        yield int(float(row["ts"]) * 1e9), switch, readings


def _key(node: str, column: str) -> SeriesKey | None:
    port = _PORT.fullmatch(column)
    if port is not None:
        return SeriesKey(component.port(node, port[1]), _COUNTERS[port[2]])
    known = catalogue.by_source("cisco_node").get(column)
    if known is None or column == "paths-count":
        return None
    return SeriesKey(f"switch/{node}", known.metric.name)
