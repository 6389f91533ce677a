"""The fabric: weights decide where traffic goes, max-min fairness how fast, ports count it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cluster.fairness import max_min_rates
from simulator.world.names import Names
from simulator.world.steering import ANY_PORT, Steering, hashed
from simulator.world.wiring import Wiring, wire

_PACKET_BYTES = 4096.0
_QUEUE_FULL_BYTES = 12e6
_QUEUE_EMPTY_BYTES = 60e3
_SATURATED = 0.97
_MARKED_WHEN_FULL = 0.2
_MARKED_WHEN_EMPTY = 2e-6
_FEC_BLOCK_BITS = 5440
_FAULT_DECADES = 3.0
_UNCORRECTABLE_PER_SECOND = 40.0
_COUNTERS = (
    "in_octets",
    "out_octets",
    "in_errors",
    "fec_corrected",
    "fec_uncorrectable",
    "queue_dropped",
    "ecn_marked",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Traffic from one host to another; ``nic`` None spreads it over all NICs."""

    source: int
    target: int
    nic: int | None = None
    source_port: int = ANY_PORT


@dataclass
class Fabric:
    """State of the fabric.

    Attributes
    ----------
    weights
        By (leaf, leaf of the prefix, spine); None where the configuration has none, which counts
        as 1.
    enabled
        By port, as configured.
    fault_level
        By directed link, 0.0 healthy to 1.0: how far its signal has gone bad.
    goodput_ratio
        By directed link: what of the line rate carries payload at `fault_level` 1.0.
    counters
        By name of `_COUNTERS`, each by port.
    revision
        Grows with every change of configuration.
    """

    names: Names
    rng: np.random.Generator
    wiring: Wiring = field(init=False)
    steering: Steering = field(init=False)
    weights: dict[tuple[int, int, int], int | None] = field(init=False)
    enabled: NDArray[np.bool_] = field(init=False)
    fault_level: NDArray[np.float64] = field(init=False)
    goodput_ratio: NDArray[np.float64] = field(init=False)
    counters: dict[str, NDArray[np.float64]] = field(init=False)
    queue_bytes: NDArray[np.float64] = field(init=False)
    bit_error_ratio: NDArray[np.float64] = field(init=False)
    last_change_ns: NDArray[np.int64] = field(init=False)
    revision: int = 0

    def __post_init__(self) -> None:
        scenario = self.names.scenario.fabric
        self.wiring = wire(self.names)
        self.steering = Steering(self.names)
        leaves, spines = range(scenario.leaves), range(scenario.spines)
        full = scenario.full_weight
        self.weights = {(n, m, s): full for n in leaves for m in leaves if n != m for s in spines}
        ports, links = len(self.wiring.port_names), self.wiring.links
        self.enabled = np.ones(ports, dtype=np.bool_)
        self.fault_level = np.zeros(links)
        self.goodput_ratio = np.ones(links)
        self.counters = {name: np.zeros(ports) for name in _COUNTERS}
        self.queue_bytes = np.zeros(ports)
        self._usual_ratio = scenario.bit_error_ratio * 10 ** self.rng.uniform(-0.7, 0.3, ports)
        self.bit_error_ratio = self._usual_ratio.copy()
        self.last_change_ns = np.zeros(ports, dtype=np.int64)

    def link_up(self) -> NDArray[np.bool_]:
        """Return by directed link whether both its ends are enabled."""
        ends = np.append(self.enabled, True)  # the last stands for a NIC
        up: NDArray[np.bool_] = ends[self.wiring.sender] & ends[self.wiring.receiver]
        return up

    def port_up(self) -> NDArray[np.bool_]:
        up = np.ones(len(self.enabled), dtype=np.bool_)
        link_up = self.link_up()
        for ends in (self.wiring.sender, self.wiring.receiver):
            real = ends >= 0
            up[ends[real]] &= link_up[real]
        return up

    def capacity(self) -> NDArray[np.float64]:
        """Return the payload rate of each directed link, bits per second."""
        worn = 1.0 - self.fault_level * (1.0 - self.goodput_ratio)
        capacity = self.wiring.line_rate * worn * self.link_up()
        hosts = np.concatenate((self.wiring.host_up.ravel(), self.wiring.host_down.ravel()))
        capacity[hosts] *= self.names.scenario.fabric.nic_goodput_ratio
        return capacity

    def shares(self, source_leaf: int, target_leaf: int) -> NDArray[np.float64]:
        """Return by spine the share of a prefix's traffic; next hops that are down have none."""
        up = self.link_up()
        usable = up[self.wiring.up[source_leaf]] & up[self.wiring.down[target_leaf]]
        spines = range(self.names.scenario.fabric.spines)
        configured = [self.weights[source_leaf, target_leaf, s] for s in spines]
        weights = np.array([1 if weight is None else weight for weight in configured]) * usable
        shares: NDArray[np.float64] = weights / max(1, int(weights.sum()))
        return shares

    def usage(self, flows: Sequence[Flow]) -> NDArray[np.float64]:
        """Return the load of each flow's unit rate on each directed link.

        A flow whose prefix has no next hop loads nothing.
        """
        usage = np.zeros((len(flows), self.wiring.links))
        shares: dict[tuple[int, int], NDArray[np.float64]] = {}
        for row, flow in enumerate(flows):
            ends = (self.names.leaf_of(flow.source), self.names.leaf_of(flow.target))
            if ends not in shares:
                shares[ends] = self.shares(*ends) if ends[0] != ends[1] else np.ones(0)
            if ends[0] != ends[1]:
                if not shares[ends].any():
                    continue
                way = self._way(flow, ends, shares[ends])
                usage[row, self.wiring.up[ends[0]]] = way
                usage[row, self.wiring.down[ends[1]]] = way
            nics = slice(None) if flow.nic is None else slice(flow.nic, flow.nic + 1)
            for links in (self.wiring.host_up[flow.source], self.wiring.host_down[flow.target]):
                usage[row, links[nics]] = 1.0 / len(links[nics])
        return usage

    def _way(
        self, flow: Flow, ends: tuple[int, int], shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return a flow's share by spine; a rule whose path is down is passed over."""
        spine = self.steering.pinned(ends[0], flow.source_port)
        if spine is None or not self._is_usable(ends, spine):
            if self.names.scenario.fabric.balance == "spray" or flow.nic is None:
                return shares
            spine = hashed((flow.source, flow.target, flow.nic), shares)
        way = np.zeros(len(shares))
        way[spine] = 1.0
        return way

    def _is_usable(self, ends: tuple[int, int], spine: int) -> bool:
        up = self.link_up()
        return bool(up[self.wiring.up[ends[0], spine]] and up[self.wiring.down[ends[1], spine]])

    def rates(self, usage: NDArray[np.float64], demand: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rate of each flow, bits per second."""
        reachable = usage.any(axis=1)
        return max_min_rates(usage, self.capacity(), np.where(reachable, demand, 0.0))

    def advance(
        self, seconds: float, *, mean_load: NDArray[np.float64], peak_load: NDArray[np.float64]
    ) -> None:
        """Count a tick's traffic.

        Parameters
        ----------
        mean_load
            Bits per second by directed link, over the tick.
        peak_load
            While the job communicates; what queues see.
        """
        noise = 1.0 + 0.005 * self.rng.standard_normal(self.wiring.links)
        octets = np.maximum(mean_load * noise * seconds / 8.0, 0.0)
        self._count("in_octets", self.wiring.receiver, octets)
        self._count("out_octets", self.wiring.sender, octets)
        self._queue(seconds, octets, peak_load)
        self._signal(seconds)

    def _count(self, name: str, ports: NDArray[np.int64], amounts: NDArray[np.float64]) -> None:
        real = ports >= 0
        self.counters[name][ports[real]] += amounts[real]

    def _queue(
        self, seconds: float, octets: NDArray[np.float64], peak_load: NDArray[np.float64]
    ) -> None:
        # What the line takes, not what a NIC's overhead leaves of it.
        worn = 1.0 - self.fault_level * (1.0 - self.goodput_ratio)
        load = peak_load / (self.wiring.line_rate * worn)
        full = load >= _SATURATED
        packets = octets / _PACKET_BYTES
        marked = packets * np.where(full, _MARKED_WHEN_FULL, _MARKED_WHEN_EMPTY * load)
        self._count("ecn_marked", self.wiring.sender, self.rng.poisson(marked).astype(np.float64))
        dropped = np.where(full, 2.0 * seconds, 0.0)
        self._count(
            "queue_dropped", self.wiring.sender, self.rng.poisson(dropped).astype(np.float64)
        )
        noise = np.exp(0.1 * self.rng.standard_normal(self.wiring.links))
        length = np.where(full, _QUEUE_FULL_BYTES, _QUEUE_EMPTY_BYTES * load) * noise
        real = self.wiring.sender >= 0
        self.queue_bytes[self.wiring.sender[real]] = length[real]

    def _signal(self, seconds: float) -> None:
        level, rate = np.zeros(len(self.enabled)), np.zeros(len(self.enabled))
        real = self.wiring.receiver >= 0
        level[self.wiring.receiver[real]] = self.fault_level[real]
        rate[self.wiring.receiver[real]] = self.wiring.line_rate[real]
        noise = np.exp(0.08 * self.rng.standard_normal(len(level)))
        self.bit_error_ratio = self._usual_ratio * noise * 10.0 ** (_FAULT_DECADES * level)
        blocks = rate / _FEC_BLOCK_BITS * seconds
        corrected = blocks * -np.expm1(-_FEC_BLOCK_BITS * self.bit_error_ratio)
        lost = self.rng.poisson(_UNCORRECTABLE_PER_SECOND * level**2 * seconds).astype(np.float64)
        self.counters["fec_corrected"] += self.rng.poisson(corrected)
        self.counters["fec_uncorrectable"] += lost
        self.counters["in_errors"] += lost
