"""The change detectors of a cell's series, each series with its own."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from detectors import hot
from detectors.base import Detector
from detectors.kinds import DetectorConfig
from detectors.series import Floats, Ids, Rows, grown


class _Sums:
    """One cumulative-sum test of every series, as arrays: 28 bytes a series."""

    def __init__(self, test: hot.Test) -> None:
        self._test = test
        self._number = np.empty(0, dtype=np.int32)
        self._mean = np.empty(0)
        self._up = np.empty(0)
        self._down = np.empty(0)

    @property
    def bytes_a_series(self) -> int:
        return self._number.itemsize + 3 * self._mean.itemsize

    def add(self, ids: Ids) -> None:
        size = int(ids.max()) + 1
        self._number = grown(self._number, size, 0)
        for name in ("_mean", "_up", "_down"):
            setattr(self, name, grown(getattr(self, name), size, 0.0))

    def begin(self, ids: Ids) -> None:
        self._number[ids] = 0
        for array in (self._mean, self._up, self._down):
            array[ids] = 0.0

    def update(self, rows: Rows, sigmas: Floats) -> NDArray[np.bool_]:
        sums = hot.Sums(
            number=rows.take(self._number),
            mean=rows.take(self._mean),
            up=rows.take(self._up),
            down=rows.take(self._down),
        )
        told = hot.detect(sigmas, sums, self._test)
        rows.put(self._number, sums.number)
        rows.put(self._mean, sums.mean)
        rows.put(self._up, sums.up)
        rows.put(self._down, sums.down)
        return told


class _Objects:
    """A detector object for every series: for kinds that are no sums."""

    def __init__(self, config: DetectorConfig) -> None:
        self._config = config
        self._detectors: dict[int, Detector] = {}

    def add(self, ids: Ids) -> None:
        """Nothing: a detector is made when its series has warmed up."""

    def begin(self, ids: Ids) -> None:
        for number in ids.tolist():
            self._detectors[number] = self._config.build()

    def update(self, rows: Rows, sigmas: Floats) -> NDArray[np.bool_]:
        told = np.zeros(len(rows), dtype=np.bool_)
        pairs = zip(rows.ids.tolist(), sigmas.tolist(), strict=True)
        for place, (number, value) in enumerate(pairs):
            # NaN is unequal to itself: no value, or no baseline yet.
            if value == value:  # noqa: PLR0124
                told[place] = self._detectors[number].update(value) is not None
        return told


class DetectorBank:
    """Feeds standardised values; a series' detectors begin when it has warmed up.

    Kinds that are cumulative sums (Page-Hinkley, CUSUM, variance) are arrays over all series, and
    tell at the same values as the detector that their config builds; the others are objects.
    """

    def __init__(self, configs: Sequence[DetectorConfig]) -> None:
        self._names = tuple(config.kind for config in configs)
        self._tests: list[_Sums | _Objects] = []
        for config in configs:
            test = config.test()
            self._tests.append(_Objects(config) if test is None else _Sums(test))

    @property
    def bytes_a_series(self) -> int:
        """What a series costs here, detectors that are objects aside."""
        return sum(each.bytes_a_series for each in self._tests if isinstance(each, _Sums))

    def add(self, ids: Ids) -> None:
        """Make rows for series that were not there yet."""
        if len(ids):
            for test in self._tests:
                test.add(ids)

    def warm(self, ids: Ids, sigmas: Floats) -> None:
        """Give series fresh detectors that have seen their warm-ups, one a row of `sigmas`."""
        if not len(ids):
            return
        rows = Rows(ids)
        for test in self._tests:
            test.begin(ids)
            for values in sigmas.T:
                test.update(rows, np.ascontiguousarray(values))

    def update(self, rows: Rows, sigmas: Floats) -> dict[int, str]:
        """Return the detector that told a shift, by the position it was told at.

        NaN stands for no value, and for a series that has not warmed up.
        """
        if np.isnan(sigmas).all():
            return {}
        told: dict[int, str] = {}
        for name, test in zip(self._names, self._tests, strict=True):
            for place in np.flatnonzero(test.update(rows, sigmas)).tolist():
                told.setdefault(place, name)
        return told
