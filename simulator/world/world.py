"""The simulated cluster as a whole; it knows no server and no wall clock."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cluster import component
from cluster.steptimes import StepTimes
from simulator.scenario import Scenario
from simulator.world.fabric import Fabric, Flow
from simulator.world.faults import (
    Fault,
    FaultRefusedError,
    FaultRequest,
    cause_of,
    strength_of,
)
from simulator.world.gpus import Gpus
from simulator.world.names import Names
from simulator.world.serving import Serving
from simulator.world.training import Training

_SIGNAL_SECONDS = 2.0
_USUAL_LINK = "leaf2:Ethernet51"
_USUAL_GPU = "h3:5"
_SERVING_BUSY = 0.95
_LEAST_BITS_PER_SECOND = 1e3
_LEAST_ROOM_RATIO = 0.02


@dataclass
class World:
    """State of the cluster at device time ``time_ns``; equal seeds and calls give equal worlds."""

    scenario: Scenario
    seed: int
    start_ns: int
    times: StepTimes
    time_ns: int = field(init=False)
    faults: dict[str, Fault] = field(default_factory=dict)
    fault_count: int = 0

    def __post_init__(self) -> None:
        self.time_ns = self.start_ns
        self.names = Names(self.scenario)
        streams = np.random.SeedSequence(self.seed).spawn(4)
        fabric, training, serving, gpus = (np.random.default_rng(s) for s in streams)
        self.fabric = Fabric(self.names, fabric)
        self.training = Training(self.names, training)
        self.serving = Serving(self.names, serving, self.times)
        self.gpus = Gpus(self.names, gpus)
        self._share_out()

    @property
    def seconds(self) -> float:
        """World time: seconds since the start."""
        return (self.time_ns - self.start_ns) / 1e9

    def advance_to(self, device_ns: int) -> None:
        """Run whole ticks up to a device time."""
        tick_ns = int(self.scenario.tick_seconds * 1e9)
        while self.time_ns + tick_ns <= device_ns:
            self._tick(self.scenario.tick_seconds)
            self.time_ns += tick_ns

    def advance(self, seconds: float) -> None:
        """Run for this long, in whole ticks."""
        self.advance_to(self.time_ns + round(seconds * 1e9))

    def inject(self, request: FaultRequest) -> Fault:
        """Start a degradation.

        Raises
        ------
        FaultRefusedError
            There is no such target, or it would be no degradation.
        """
        strength = strength_of(request)
        if request.kind == "degraded_link":
            name, place = self._link(request.target or _USUAL_LINK)
        elif request.kind == "slow_gpu":
            name, place = self._gpu(request.target or _USUAL_GPU)
        else:
            name, place = component.pool(self.scenario.serving.service, "decode"), ()
        self.fault_count += 1
        fault = Fault(
            fault_id=f"fault-{self.fault_count}",
            kind=request.kind,
            component=name,
            cause=cause_of(request.kind),
            started_ns=self.time_ns,
            strength=strength,
            place=place,
        )
        self.faults[fault.fault_id] = fault
        return fault

    def end(self, fault_id: str) -> bool:
        """End a degradation; return whether there was one of this name."""
        return self.faults.pop(fault_id, None) is not None

    def _link(self, target: str) -> tuple[str, tuple[int, ...]]:
        switch, _, interface = target.partition(":")
        wiring = self.fabric.wiring
        port = wiring.port_number.get((switch, interface))
        pairs = zip(wiring.up.ravel(), wiring.down.ravel(), strict=True)
        for up, down in pairs:
            if port is not None and port in (wiring.sender[up], wiring.receiver[up]):
                return component.link(*wiring.port_names[wiring.sender[up]]), (int(up), int(down))
        raise FaultRefusedError(f"no link between switches ends at {target!r}")

    def _gpu(self, target: str) -> tuple[str, tuple[int, ...]]:
        host, _, index = target.partition(":")
        count = self.scenario.fabric.gpus_per_host
        if host not in self.names.hosts or not index.isdecimal() or int(index) >= count:
            raise FaultRefusedError(f"no GPU {target!r}; a GPU is host:index, h1:0")
        place = (self.names.hosts.index(host), int(index))
        return component.gpu(host, self.names.gpu_uuid(*place)), place

    def _tick(self, seconds: float) -> None:
        self._apply_faults(seconds)
        self._share_out()
        self.training.advance(seconds, started_ns=self.time_ns)
        self.serving.advance(self.seconds, seconds)
        self._load_gpus()
        self.gpus.advance(seconds)
        self.fabric.advance(seconds, mean_load=self._mean_load, peak_load=self._peak_load)

    def _apply_faults(self, seconds: float) -> None:
        """Bring each fault's effect nearer: a signal goes bad within seconds, not at once."""
        wanted = np.zeros(self.fabric.wiring.links)
        self.gpus.overheat[:] = 1.0
        factor = 1.0
        for fault in self.faults.values():
            if fault.kind == "degraded_link":
                wanted[list(fault.place)] = 1.0
                self.fabric.goodput_ratio[list(fault.place)] = fault.strength
            elif fault.kind == "slow_gpu":
                self.gpus.overheat[fault.place] = fault.strength
            else:
                factor = max(factor, fault.strength)
        self.serving.answer_factor = factor
        pace = seconds / _SIGNAL_SECONDS
        level = self.fabric.fault_level
        self.fabric.fault_level = level + np.clip(wanted - level, -pace, pace)

    def _share_out(self) -> None:
        """Give the job's rings and the service's KV caches their fair rates."""
        ring = self.training.flows()
        kv = {
            ends: rate
            for ends, rate in sorted(self.serving.kv_bits_per_second.items())
            if ends[0] != ends[1] and rate > _LEAST_BITS_PER_SECOND
        }
        flows = [*ring, *(Flow(source=a, target=b) for a, b in kv)]
        usage = self.fabric.usage(flows)
        demand = np.array([np.inf] * len(ring) + list(kv.values()))
        rates = self.fabric.rates(usage, demand)
        self.training.ring_rate = float(rates[: len(ring)].min())
        self._peak_load: NDArray[np.float64] = rates @ usage
        rates[: len(ring)] = self.training.mean_rate()
        self._mean_load: NDArray[np.float64] = rates @ usage
        left = np.maximum(
            self.fabric.capacity() - self._mean_load,
            _LEAST_ROOM_RATIO * self.fabric.wiring.line_rate,
        )
        for ends, loads in zip(kv, usage[len(ring) :], strict=True):
            used = loads > 0.0
            room = float((left[used] / loads[used]).min(initial=np.inf))
            rate = min(room, self.serving.engine_bits_per_second)
            self.serving.transfer_bits_per_second[ends] = rate

    def _load_gpus(self) -> None:
        step = self.training.step_seconds()
        compute = self.training.compute_seconds()
        gpus = self.scenario.fabric.gpus_per_host
        hosts = self.names.training_hosts
        share = np.minimum(1.0, compute / step) if np.isfinite(step) else np.zeros(len(compute))
        self.gpus.busy[hosts] = share.reshape(len(hosts), gpus)
        self.training.speed = self.gpus.speed[hosts].ravel()
        for engine in self.serving.engines:
            self.gpus.busy[engine.host, list(engine.gpus)] = _SERVING_BUSY * engine.busy
