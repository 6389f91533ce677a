"""GPUs: what they are busy with sets power, heat and clock."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simulator.world.names import Names

CLOCK_MEGAHERTZ = 1980.0
MEMORY_CLOCK_MEGAHERTZ = 3201.0
MEMORY_MEBIBYTES = 143771.0
_IDLE_WATTS = 95.0
_BUSY_WATTS = 560.0
_AMBIENT_CELSIUS = 33.0
_CELSIUS_PER_WATT = 0.05
_SETTLE_SECONDS = 8.0
_OVERHEAT_SECONDS = 2.0
_OVERHEAT_CELSIUS = 91.0
_SLOWDOWN_CELSIUS = 76.0
_SLOWDOWN_SPAN = 10.0
_THROTTLED = 0.98


@dataclass
class Gpus:
    """State of all GPUs, arrays of shape (hosts, GPUs per host).

    Attributes
    ----------
    busy
        Share of time with work, 0.0 to 1.0.
    overheat
        Below 1.0 the cooling has failed: the clock's share that is left once it is hot.
    speed
        Clock against the full clock.
    """

    names: Names
    rng: np.random.Generator
    busy: NDArray[np.float64] = field(init=False)
    overheat: NDArray[np.float64] = field(init=False)
    speed: NDArray[np.float64] = field(init=False)
    celsius: NDArray[np.float64] = field(init=False)
    watts: NDArray[np.float64] = field(init=False)
    joules: NDArray[np.float64] = field(init=False)
    throttled_ns: NDArray[np.float64] = field(init=False)
    used_mebibytes: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        shape = (len(self.names.hosts), self.names.scenario.fabric.gpus_per_host)
        self.busy = np.full(shape, 0.5)
        self.overheat = np.ones(shape)
        self.speed = np.ones(shape)
        self.celsius = 60.0 + self.rng.normal(0.0, 1.0, shape)
        self._spread = self.rng.normal(0.0, 1.5, shape)
        self.watts = np.full(shape, 300.0)
        self.joules = self.rng.uniform(1e9, 2e9, shape)
        self.throttled_ns = np.zeros(shape)
        self.used_mebibytes = 0.85 * MEMORY_MEBIBYTES * (1 + self.rng.normal(0.0, 0.005, shape))

    def advance(self, seconds: float) -> None:
        """Run for a tick on the `busy` that was set."""
        noise = self.rng.normal(0.0, 0.01, self.busy.shape)
        self.watts = (_IDLE_WATTS + _BUSY_WATTS * self.busy * self.speed**1.5) * (1.0 + noise)
        self.joules += self.watts * seconds
        hot = self.overheat < 1.0
        usual = _AMBIENT_CELSIUS + _CELSIUS_PER_WATT * self.watts + self._spread
        target = np.where(hot, _OVERHEAT_CELSIUS, usual)
        pace = np.where(hot, _OVERHEAT_SECONDS, _SETTLE_SECONDS)
        self.celsius += (target - self.celsius) * np.minimum(1.0, seconds / pace)
        heat = np.clip((self.celsius - _SLOWDOWN_CELSIUS) / _SLOWDOWN_SPAN, 0.0, 1.0)
        self.speed = 1.0 - (1.0 - self.overheat) * heat
        self.throttled_ns += (self.speed < _THROTTLED) * seconds * 1e9
