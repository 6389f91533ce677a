"""Settings by class of metric: one set a class, for every series of it."""

from collections.abc import Callable, Mapping
from typing import Final

from detectors.collective import Collective
from detectors.cusum import CusumConfig
from detectors.outlier import OutlierConfig
from detectors.segments import SegmentsConfig
from detectors.watch import Watch, Watcher

SERVICE = OutlierConfig(
    window_samples=200,
    tail=0.93,
    tail_sigmas=1.0,
    least_ratio=0.35,
    least_steps=1.0,
    power=0.6,
    threshold_sigmas=2.5,
    frozen_sigmas=3.5,
    frozen_samples=48,
    largest_sigmas=20.0,
)
USAGE = OutlierConfig(
    window_samples=4000,
    tail=0.997,
    tail_sigmas=2.0,
    least_ratio=0.02,
    least_steps=0.5,
    power=1.0,
    threshold_sigmas=2.5,
    frozen_samples=0,
    hold_samples=50,
)
STEADY = (CusumConfig(tolerance_sigmas=0.5, threshold_sigmas=8.1),)

CLASSES: Final[Mapping[str, Callable[[], Watcher]]] = {
    # A level that stays: temperatures, clocks, error rates, times of a steady load.
    "steady": lambda: Watch(STEADY),
    # Bursts of a job, sampled several times an iteration.
    "collective": Collective,
    # Load of users: request rates, crash counts, latencies; single readings count.
    "service": SERVICE.build,
    # Machines whose load nobody knows: only what their history has hardly ever shown counts.
    "usage": USAGE.build,
    # Levels that change for good, in series of some hundred values.
    "levels": SegmentsConfig().build,
}
