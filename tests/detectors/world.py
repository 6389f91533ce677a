"""A small cell that is healthy until told otherwise: seeded noise, one frame a source a second."""

import random
from dataclasses import dataclass, field

from cluster.topology import Engine, Gpu, Host, Link, NextHop, Route, Service, Switch, Topology
from detectors.cell import CellDetector
from detectors.jobs import Job, Rank
from detectors.settings import DetectSettings
from tests.detectors.frames import frame

SPINES = ("spine1", "spine2", "spine3", "spine4")
LEAVES = ("leaf1", "leaf2")
HOSTS = ("h1", "h2")
CELL = "pod1"
ENGINES = tuple(f"chat-{i}" for i in range(6))
SETTINGS = DetectSettings(warmup_samples=30)


def topology():
    uplinks = [
        Link(lower=f"{leaf}:up{i}", upper=f"{spine}:{leaf}", capacity_bits_per_second=4e11)
        for leaf in LEAVES
        for i, spine in enumerate(SPINES)
    ]
    return Topology(
        switches=tuple(
            Switch(name=name, cell=CELL, tier=tier)
            for tier, names in ((1, LEAVES), (2, SPINES))
            for name in names
        ),
        hosts=tuple(Host(name=host, cell=CELL) for host in HOSTS),
        links=tuple(uplinks),
        routes=(
            Route(
                switch="leaf1",
                prefix="10.0.0.0/8",
                next_hops=tuple(NextHop(index=str(i), interface=f"up{i}") for i in range(4)),
            ),
        ),
        gpus=tuple(Gpu(host=host, uuid=f"GPU-{i}", index=i) for host in HOSTS for i in range(4)),
        services=(
            Service(name="chat", cell=CELL, engines=tuple(Engine(name=name) for name in ENGINES)),
        ),
    )


def job():
    gpus = [f"gpu/{host}:GPU-{i}" for host in HOSTS for i in range(4)]
    return Job(
        component="job/pretrain",
        ranks=tuple(Rank(rank=i, gpu=gpu) for i, gpu in enumerate(gpus)),
    )


@dataclass
class World:
    """What is wrong is set by attributes, each the factor or level of what it names."""

    load: float = 1.0
    bad_link: float = 0.0  # share of its goodput that link/leaf1:up2 has lost
    hot_gpu: float = 0.0  # share of its clock that gpu/h1:GPU-1 has lost
    long_answers: float = 0.0
    silent: frozenset[str] = frozenset()
    frozen: frozenset[str] = frozenset()
    weights: tuple[int, ...] = (20, 20, 20, 20)
    flows: tuple[int, ...] = (2, 2, 2, 2)  # of leaf1, by uplink, as their source ports send them
    roles: tuple[str, ...] = ("prefill", "prefill", "prefill", "decode", "decode", "decode")
    seed: int = 1
    second: int = 0
    counters: dict = field(default_factory=dict)

    def __post_init__(self):
        self.random = random.Random(self.seed)

    def frames(self):
        """Return the next second's frames."""
        self.second += 1
        found = [*self._switches(), *self._hosts(), *self._engines(), self._job()]
        return [each for each in found if each.source not in self.silent]

    def _noisy(self, level, sigma=0.02):
        return level * (1.0 + self.random.gauss(0.0, sigma))

    def _count(self, key, rate):
        self.counters[key] = self.counters.get(key, 1e6) + max(rate, 0.0)
        return self.counters[key]

    def _frame(self, source, readings):
        columns = [key for key, _ in readings]
        row = [value for _, value in readings]
        return frame(columns, [(self.second, row)], source=source, cell=CELL)

    def _port(self, name, rate, corrected):
        port = f"port/{name}"
        return [
            ((port, "net_if_out_octets_total"), self._count((port, "out"), self._noisy(rate))),
            ((port, "net_if_in_octets_total"), self._count((port, "in"), self._noisy(rate))),
            (
                (port, "net_if_fec_corrected_blocks_total"),
                self._count((port, "fec"), self._noisy(corrected, 0.1)),
            ),
            ((port, "net_if_in_errors_total"), self._count((port, "err"), 0.0)),
        ]

    def _slow(self):
        return max(self.bad_link * 0.5, self.hot_gpu)

    def _switches(self):
        rate = 1e10 * self.load / (1.0 + self._slow())
        shares = [w * n for w, n in zip(self.weights, self.flows, strict=True)]
        for leaf in LEAVES:
            readings = []
            for i in range(4):
                bad = leaf == "leaf1" and i == 2
                share = 4 * shares[i] / sum(shares) if leaf == "leaf1" else 1.0
                own = rate * share * (1.0 - (self.bad_link if bad else 0.0))
                corrected = 1e6 if bad and self.bad_link else 500.0
                readings += self._port(f"{leaf}:up{i}", own, corrected)
            if leaf == "leaf1":
                readings += [
                    (("switch/leaf1", "net_route_next_hop_weight", f'index="{i}"'), float(w))
                    for i, w in enumerate(self.weights)
                ]
            yield self._frame(f"switch/{leaf}", readings)

    def _hosts(self):
        for host in HOSTS:
            readings = []
            for i in range(4):
                gpu = f"gpu/{host}:GPU-{i}"
                hot = self.hot_gpu if gpu == "gpu/h1:GPU-1" else 0.0
                power = 500.0 if host in self.frozen else self._noisy(500.0)
                readings += [
                    ((gpu, "gpu_sm_clock_hertz"), self._noisy(1.9e9, 0.005) * (1.0 - hot)),
                    ((gpu, "gpu_temperature_celsius"), self._noisy(62.0) + 60.0 * hot),
                    ((gpu, "gpu_power_watts"), power),
                    (
                        (gpu, "gpu_thermal_violation_seconds_total"),
                        self._count((gpu, "thermal"), 0.8 if hot else 0.0),
                    ),
                ]
            yield self._frame(f"host/{host}", readings)

    def _engines(self):
        for name, role in zip(ENGINES, self.roles, strict=True):
            engine, labels = f"engine/{name}", f'engine_type="{role}"'
            starved = self.long_answers if role == "decode" else 0.0
            tokens = self._count((engine, "tokens"), 1000.0)
            seconds = self._count((engine, "seconds"), self._noisy(20.0 * (1.0 + starved)))
            yield self._frame(
                engine,
                [
                    ((engine, "llm_requests_running", labels), self._noisy(30.0 * self.load, 0.1)),
                    ((engine, "llm_requests_waiting", labels), 60.0 * starved),
                    (
                        (engine, "llm_kv_cache_usage_ratio", labels),
                        min(self._noisy(0.5) + 0.45 * starved, 1.0),
                    ),
                    ((engine, "llm_tpot_seconds_count", labels), tokens),
                    ((engine, "llm_tpot_seconds_sum", labels), seconds),
                ],
            )

    def _job(self):
        slow = 1.0 + self._slow()
        readings = [
            (("job/pretrain", "train_step_seconds"), self._noisy(1.0, 0.01) * slow),
            (
                ("job/pretrain", "train_communication_seconds"),
                self._noisy(0.3, 0.01) * (1.0 + self.bad_link),
            ),
        ]
        for rank in job().ranks:
            hot = self.hot_gpu if rank.gpu == "gpu/h1:GPU-1" else 0.0
            readings.append(
                ((rank.gpu, "train_rank_compute_seconds"), self._noisy(0.7, 0.005) * (1.0 + hot))
            )
        return self._frame("job/pretrain", readings)


def detector(settings=SETTINGS):
    made = CellDetector(CELL, topology(), settings)
    made.job_event(job(), "joined")
    return made


def run(made, world, seconds):
    """Return what the detector told of the world's next seconds, in order."""
    outputs = [made.update(each) for _ in range(seconds) for each in world.frames()]
    return (
        [d for output in outputs for d in output.detections],
        [a for output in outputs for a in output.alerts],
    )
