"""The change detectors of a cell's series, each series with its own."""

from collections.abc import Iterable, Sequence

from detectors.base import Detector
from detectors.kinds import DetectorConfig
from detectors.series import Floats, Ids


class DetectorBank:
    """Feeds standardised values to River; a series' detectors are built when it has warmed up."""

    def __init__(self, configs: Sequence[DetectorConfig]) -> None:
        self._configs = tuple(configs)
        self._names = tuple(config.kind for config in configs)
        self._detectors: dict[int, tuple[Detector, ...]] = {}

    def warm(self, number: int, sigmas: Iterable[float]) -> None:
        """Give a series fresh detectors that have seen its warm-up."""
        detectors = tuple(config.build() for config in self._configs)
        for value in sigmas:
            for detector in detectors:
                detector.update(value)
        self._detectors[number] = detectors

    def drop(self, ids: Ids) -> None:
        """Forget the detectors of these series."""
        for number in ids.tolist():
            self._detectors.pop(number, None)

    def update(self, ids: Ids, sigmas: Floats) -> dict[int, str]:
        """Return the detector that told a shift, by the position it was told at."""
        told: dict[int, str] = {}
        detectors_of = self._detectors
        for place, (number, value) in enumerate(zip(ids.tolist(), sigmas.tolist(), strict=True)):
            # NaN is unequal to itself: no value, or no baseline yet.
            if value != value:  # noqa: PLR0124
                continue
            for name, detector in zip(self._names, detectors_of.get(number, ()), strict=False):
                if detector.update(value) is not None:
                    told.setdefault(place, name)
        return told
