"""Settings of detection that need no I/O."""

from pydantic import Field, PositiveFloat, PositiveInt

from cluster.config import Config
from detectors.kinds import DetectorConfig
from detectors.page_hinkley import PageHinkleyConfig


class DetectSettings(Config):
    """Settings of detection; the thresholds of metric classes are in the catalogue.

    Attributes
    ----------
    warmup_samples
        Readings of a series that only build its baseline.
    persistence_samples
        Readings in a row that must stay shifted before a detection is told.
    resolve_seconds
        An alert is resolved when its evidence has been back to normal this long.
    join_seconds
        Detections on connected components within this time are one alert.
    silence_intervals
        A source that is silent for this many of its own intervals is a telemetry fault.
    relearn_seconds
        A lasting shift that is not bad becomes the new baseline after this time.
    relearn_bad_seconds
        A lasting shift that is bad becomes the new baseline after this time.
    false_alarms_per_day
        Alerts that chance alone may open in a cell and day, at most.
    detectors
        Change detectors that every judged series gets.
    """

    warmup_samples: int = Field(default=60, ge=10)
    persistence_samples: PositiveInt = 3
    resolve_seconds: PositiveFloat = 60.0
    join_seconds: PositiveFloat = 10.0
    silence_intervals: PositiveFloat = 5.0
    relearn_seconds: PositiveFloat = 120.0
    relearn_bad_seconds: PositiveFloat = 3600.0
    false_alarms_per_day: PositiveFloat = 1.0
    detectors: tuple[DetectorConfig, ...] = Field(default=(PageHinkleyConfig(),), min_length=1)
