"""Settings of detection."""

from pydantic import Field, PositiveFloat, PositiveInt

from cluster.config import Config


class DetectConfig(Config):
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
    snapshot_seconds
        How often baselines are written to Kafka.
    """

    warmup_samples: int = Field(default=60, ge=10)
    persistence_samples: PositiveInt = 3
    resolve_seconds: PositiveFloat = 60.0
    join_seconds: PositiveFloat = 10.0
    silence_intervals: PositiveFloat = 5.0
    snapshot_seconds: PositiveFloat = 30.0
