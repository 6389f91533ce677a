"""D9 to D11: single series of labelled sets, one class's settings for every series of a set."""

from benchmarks.data import data_root
from benchmarks.row import Row
from detectors.classes import CLASSES
from pipelines.evaluate.recordings import read_set
from pipelines.evaluate.run import evaluate

_ROWS = (
    ("D9", "ms-cloud-monitoring", "service", "event_f1", 0.60),
    ("D10-f1", "tcpd", "levels", "segment_f1", 0.70),
    ("D10-cover", "tcpd", "levels", "segment_cover", 0.67),
    ("D11", "nab", "usage", "nab", 75.0),
)


def rows() -> list[Row]:
    found = []
    for name, dataset, kind, figure, target in _ROWS:
        figures = evaluate(read_set(dataset, data_root() / dataset), CLASSES[kind])
        found.append(
            Row(
                id=name,
                what=f"{figure} on {dataset}, class {kind}",
                value=figures[figure],
                unit="score",
                target=target,
                holds=figures[figure] >= target,
                others=figures,
            )
        )
    return found
