"""One cell's detection, standardising and judging included, against River alone, called plainly."""

import numpy as np
from river import drift

from benchmarks.row import Row, rate
from cluster.frame import Frame, Layout, SeriesKey
from cluster.topology import Topology
from detectors.cell import CellDetector
from detectors.settings import DetectSettings

_SERIES = 1000


def rows() -> list[Row]:
    value, baseline = rate(_Cell().second), rate(_Plain().second)
    return [
        Row(
            id="D12-cell",
            what="series judged by one cell's detector; baseline: River's PageHinkley in a loop",
            value=value,
            baseline=baseline,
            target=100e6,
            holds=value >= 100e6,
            unit="series-updates/s",
        )
    ]


class _Cell:
    """A thousand GPU temperatures of one host, a reading a second, warmed up."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        keys = (SeriesKey(f"gpu/h1:GPU-{i}", "gpu_temperature_celsius") for i in range(_SERIES))
        self._layout = Layout(tuple(keys))
        self._cell = CellDetector("pod1", Topology(), DetectSettings(warmup_samples=30))
        self._at = 0
        for _ in range(40):
            self.second()

    def second(self) -> int:
        self._at += 1
        time_ns = self._at * 1_000_000_000
        self._cell.update(
            Frame(
                source="host/h1",
                cell="pod1",
                layout=self._layout,
                time_ns=np.array([time_ns]),
                values=self._random.normal(60.0, 1.0, (1, _SERIES)),
                received_ns=time_ns,
            )
        )
        return _SERIES


class _Plain:
    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        self._tests = [drift.PageHinkley() for _ in range(_SERIES)]

    def second(self) -> int:
        for test, value in zip(self._tests, self._random.normal(0.0, 1.0, _SERIES), strict=True):
            test.update(float(value))
        return _SERIES
