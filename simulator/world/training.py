"""A training job: compute, then a ring per rail; the slowest rank and the slowest ring decide."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simulator.scenario import TrainingScenario
from simulator.world.fabric import Flow
from simulator.world.names import Names
from simulator.world.steering import ANY_PORT, PORTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A finished step; times in seconds, ``ended_ns`` device time."""

    number: int
    ended_ns: int
    step_seconds: float
    communication_seconds: float
    rank_compute_seconds: tuple[float, ...]
    micro_batches: tuple[int, ...]


@dataclass
class Training:
    """State of the job; rank r runs on GPU ``r % gpus`` of the ``r // gpus``-th training host.

    Attributes
    ----------
    micro_batches
        By rank, of the step under way.
    wanted
        By rank, from the next step on.
    source_ports
        What each rank's connection sends from; 0 = whatever the host picks.
    ring_rate
        Bits per second of the slowest ring flow.
    finished
        Steps nobody has taken yet.
    """

    names: Names
    rng: np.random.Generator
    micro_batches: NDArray[np.int64] = field(init=False)
    wanted: NDArray[np.int64] = field(init=False)
    source_ports: NDArray[np.int64] = field(init=False)
    speed: NDArray[np.float64] = field(init=False)
    ring_rate: float = 0.0
    number: int = 0
    progress: float = 0.0
    elapsed_seconds: float = 0.0
    last: Step | None = None
    finished: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.micro_batches = np.full(self.ranks, self.scenario.micro_batches, dtype=np.int64)
        self.wanted = self.micro_batches.copy()
        self.source_ports = np.zeros(self.ranks, dtype=np.int64)
        self.speed = np.ones(self.ranks)
        self._draw_noise()

    @property
    def scenario(self) -> TrainingScenario:
        return self.names.scenario.training

    @property
    def ranks(self) -> int:
        return len(self.names.training_hosts) * self.names.scenario.fabric.gpus_per_host

    def place_of(self, rank: int) -> tuple[int, int]:
        """Return host and GPU index of a rank."""
        host, gpu = divmod(rank, self.names.scenario.fabric.gpus_per_host)
        return self.names.training_hosts[host], gpu

    def flows(self) -> list[Flow]:
        """Return the ring's flows, one a rank, to the same rail of the next host."""
        hosts, nics = self.names.training_hosts, self.names.scenario.fabric.gpus_per_host
        return [
            Flow(
                source=host,
                target=hosts[(n + 1) % len(hosts)],
                nic=nic,
                source_port=int(self.source_ports[n * nics + nic]),
            )
            for n, host in enumerate(hosts)
            for nic in range(nics)
        ]

    def assign(self, values: dict[int, int]) -> str:
        """Give ranks other shares from the next step on; return why not, empty when done."""
        wanted = self.wanted.copy()
        for rank, value in values.items():
            if not 0 <= rank < self.ranks:
                return f"no rank {rank}, there are {self.ranks}"
            if value < 1:
                return f"rank {rank}: {value} micro-batches, at least 1"
            wanted[rank] = value
        if wanted.sum() != self.wanted.sum():
            return f"the job's total would become {wanted.sum()}, not {self.wanted.sum()}"
        self.wanted = wanted
        return ""

    def connect(self, ports: dict[int, int]) -> str:
        """Let ranks connect from other source ports, 0 = any; return why not, empty when done."""
        for rank, port in ports.items():
            if not 0 <= rank < self.ranks:
                return f"no rank {rank}, there are {self.ranks}"
            if port != ANY_PORT and port not in PORTS:
                return (
                    f"rank {rank}: source port {port} is not of {PORTS.start} to {PORTS.stop - 1}"
                )
        for rank, port in ports.items():
            self.source_ports[rank] = port
        return ""

    def compute_seconds(self) -> NDArray[np.float64]:
        """Return each rank's own work in the step under way."""
        each = self.scenario.micro_batch_seconds
        return self.micro_batches * each * self._compute_noise / self.speed

    def communication_seconds(self) -> float:
        """Return the exposed communication of the step under way.

        inf while the fabric carries nothing.
        """
        if self.ring_rate <= 0.0:
            return float("inf")
        return self.scenario.ring_bytes * 8.0 / self.ring_rate * self._ring_noise

    def step_seconds(self) -> float:
        return float(self.compute_seconds().max()) + self.communication_seconds()

    def mean_rate(self) -> float:
        """Return what each ring flow sends over a whole step, bits per second."""
        seconds = self.step_seconds()
        return self.scenario.ring_bytes * 8.0 / seconds if np.isfinite(seconds) else 0.0

    def advance(self, seconds: float, *, started_ns: int) -> None:
        """Run for a tick.

        A step's traffic is spread over it, since every micro-batch exchanges what it has computed.
        """
        left = seconds
        while True:
            length = self.step_seconds()
            needed = (1.0 - self.progress) * length
            if not needed <= left:
                self.progress += left / length
                self.elapsed_seconds += left
                return
            left -= needed
            self.elapsed_seconds += needed
            self._finish(started_ns + int((seconds - left) * 1e9))

    def _finish(self, ended_ns: int) -> None:
        self.number += 1
        self.last = Step(
            number=self.number,
            ended_ns=ended_ns,
            step_seconds=self.elapsed_seconds,
            communication_seconds=self.communication_seconds(),
            rank_compute_seconds=tuple(float(s) for s in self.compute_seconds()),
            micro_batches=tuple(int(n) for n in self.micro_batches),
        )
        self.finished.append(self.last)
        self.progress, self.elapsed_seconds = 0.0, 0.0
        self.micro_batches = self.wanted.copy()
        self._draw_noise()

    def _draw_noise(self) -> None:
        sigma = self.scenario.noise_ratio
        self._compute_noise = 1.0 + sigma / 2 * self.rng.standard_normal(self.ranks)
        self._ring_noise = float(1.0 + sigma * self.rng.standard_normal())
