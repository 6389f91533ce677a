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
    retell_seconds
        How often an open alert is told again on its topic. Keep it below a third of
        ``act.stale_seconds``: an alert that is not heard of for that long leads to no action.
    """

    snapshot_seconds: PositiveFloat = 30.0
    retell_seconds: PositiveFloat = 10.0
