"""Settings of detection."""

from pydantic import PositiveFloat

from detectors.settings import DetectSettings


class DetectConfig(DetectSettings):
    """Settings of detection and of how its baselines are kept.

    Attributes
    ----------
    snapshot_seconds
        How often baselines are written to Kafka and to the state directory; what was read since
        is read again after a crash.
    """

    snapshot_seconds: PositiveFloat = 30.0
