"""An inference service: a router before prefill engines and decode engines."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cluster.steptimes import StepTimes
from simulator.scenario import ServingScenario
from simulator.world.engine import Engine, Latencies, Request, Role
from simulator.world.names import Names

_NIC_WAIT_SECONDS = 0.004
_WINDOW_SECONDS = 10.0
_TRAFFIC_SECONDS = 1.0


class RoleRefusedError(Exception):
    """An engine cannot change its role now; the message says why."""


@dataclass
class Serving:
    """State of the service.

    Attributes
    ----------
    answer_factor
        How much longer than usual answers are.
    kv_bits_per_second
        Traffic of KV caches by (prefill host, decode host).
    transfer_bits_per_second
        What the fabric leaves to one more KV cache by (prefill host, decode host); absent: as
        fast as the engine's NICs.
    unrouted
        Requests that wait for a prefill engine to be there.
    prefilled
        Requests that wait for a decode engine to be there.
    latencies
        As its gateway keeps them; a request that was given up counts with the time it waited.
    judged
        (world time, whether within the limits) of the last requests.
    """

    names: Names
    rng: np.random.Generator
    times: StepTimes
    engines: list[Engine] = field(init=False)
    answer_factor: float = 1.0
    latencies: Latencies = field(default_factory=Latencies)
    unrouted: deque[Request] = field(default_factory=deque)
    prefilled: deque[Request] = field(default_factory=deque)
    kv_bits_per_second: dict[tuple[int, int], float] = field(default_factory=dict)
    transfer_bits_per_second: dict[tuple[int, int], float] = field(default_factory=dict)
    judged: deque[tuple[float, bool]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        scenario = self.scenario
        self.engines = []
        for n, name in enumerate(self.names.engines):
            host, gpus = self.names.engine_gpus(n)
            role: Role = "prefill" if n < scenario.prefill_engines else "decode"
            limit = scenario.max_running_requests
            self.engines.append(
                Engine(
                    name=name,
                    host=host,
                    gpus=tuple(gpus),
                    role=role,
                    limit=limit,
                    largest_limit=limit,
                    largest_tokens=scenario.max_total_tokens,
                )
            )

    @property
    def scenario(self) -> ServingScenario:
        return self.names.scenario.serving

    @property
    def attainment_ratio(self) -> float:
        """Return the share of requests within the limits over the last 10 s.

        1.0 when there was none.
        """
        if not self.judged:
            return 1.0
        return sum(good for _, good in self.judged) / len(self.judged)

    @property
    def inflight_requests(self) -> int:
        held = sum(
            len(e.queue) + len(e.computing) + len(e.waiting) + len(e.running) for e in self.engines
        )
        return held + len(self.unrouted) + len(self.prefilled)

    @property
    def queued_requests(self) -> int:
        return len(self.unrouted) + sum(len(e.queue) + len(e.waiting) for e in self.engines)

    @property
    def engine_bits_per_second(self) -> float:
        """Return the payload rate of one engine's NICs."""
        fabric = self.names.scenario.fabric
        nics = self.scenario.gpus_per_engine * fabric.nic_bits_per_second
        return nics * fabric.nic_goodput_ratio

    def by_name(self, name: str) -> Engine | None:
        return next((e for e in self.engines if e.name == name), None)

    def refusal(self, engine: Engine, role: Role) -> str:
        """Return why the router would not even drain this engine; empty when it would."""
        others = [e for e in self.engines if e.role == engine.role and e is not engine]
        if engine.role != role and not any(not e.draining for e in others):
            return f"{engine.name} is the last {engine.role} worker"
        return ""

    def switch(self, engine: Engine, role: Role, now: float) -> None:
        """Change an idle engine's role; it serves again after its re-initialisation.

        Raises
        ------
        RoleRefusedError
            It is not idle, or still re-initialises.
        """
        if engine.available_at > now:
            raise RoleRefusedError(f"{engine.name} has a role switch in progress")
        if engine.role == role:
            return
        if not engine.idle:
            raise RoleRefusedError(f"{engine.name} is not idle")
        engine.role = role
        engine.available_at = now + self.scenario.reinitialise_seconds
        engine.free_at = engine.available_at
        engine.busy = engine.tokens_per_second = 0.0

    def advance(self, now: float, seconds: float) -> None:
        """Run for a tick that starts at world time ``now``."""
        until = now + seconds
        self.unrouted.extend(self._arrivals(now, seconds))
        self._route(now)
        noise = np.exp(0.02 * self.rng.standard_normal(len(self.engines)))
        for engine, jitter in zip(self.engines, noise, strict=True):
            if engine.role == "prefill" and engine.available_at < until:
                self.prefilled.extend(engine.prefill(now, until, self.times, float(jitter)))
        traffic = self._hand_over(until)
        for engine, jitter in zip(self.engines, noise, strict=True):
            if engine.role == "decode" and engine.available_at < until:
                self._decode(engine, now, until, float(jitter))
        self._give_up(until)
        self._average_traffic(traffic, seconds)

    def _arrivals(self, now: float, seconds: float) -> list[Request]:
        scenario = self.scenario
        count = int(self.rng.poisson(scenario.requests_per_second * seconds))
        at = np.sort(self.rng.uniform(now, now + seconds, count))
        prompts = self._lengths(scenario.prompt_tokens, scenario.prompt_sigma, count)
        answers = self._lengths(scenario.answer_tokens, scenario.answer_sigma, count)
        return [
            Request(arrived_at=float(a), prompt_tokens=float(p), answer_tokens=float(n))
            for a, p, n in zip(at, prompts, answers * self.answer_factor, strict=True)
        ]

    def _lengths(self, mean: float, sigma: float, count: int) -> NDArray[np.float64]:
        drawn = self.rng.lognormal(np.log(mean) - sigma**2 / 2, sigma, count)
        return np.maximum(1.0, np.rint(drawn))

    def _route(self, now: float) -> None:
        ready = [e for e in self.engines if e.takes_requests("prefill", now)]
        while ready and self.unrouted:
            request = self.unrouted.popleft()
            _least_busy(ready).queue.append(request)

    def _hand_over(self, now: float) -> dict[tuple[int, int], float]:
        """Send computed KV caches to decode engines; return the bits by hosts."""
        ready = [e for e in self.engines if e.takes_requests("decode", now)]
        if not ready:  # they all drain or start: whichever has the role will serve again
            ready = [e for e in self.engines if e.role == "decode"]
        traffic: dict[tuple[int, int], float] = {}
        while ready and self.prefilled:
            request = self.prefilled.popleft()
            target = min(ready, key=lambda engine: engine.batch_load)
            bits = request.prompt_tokens * self.scenario.kv_bytes_per_token * 8.0
            source = target if request.prefilled_by is None else request.prefilled_by
            ends = (source.host, target.host)
            rate = self.transfer_bits_per_second.get(ends, self.engine_bits_per_second)
            request.ready_at = request.prefilled_at + _NIC_WAIT_SECONDS + bits / rate
            traffic[ends] = traffic.get(ends, 0.0) + bits
            target.waiting.append(request)
        return traffic

    def _decode(self, engine: Engine, now: float, until: float, noise: float) -> None:
        admitted = engine.admit(now, until)
        step_seconds, tokens, done = engine.decode(now, until, self.times, noise)
        for request in admitted:
            ttft_seconds = request.decoding_at + step_seconds - request.arrived_at
            engine.latencies.ttft.observe(ttft_seconds)
            self.latencies.ttft.observe(ttft_seconds)
            within = ttft_seconds <= self.scenario.ttft_limit_seconds
            self.judged.append((until, within and step_seconds <= self.scenario.tpot_limit_seconds))
        if tokens:
            self.latencies.token.observe(step_seconds, tokens)
        for request in done:
            self.latencies.e2e.observe(until - request.arrived_at)

    def _give_up(self, now: float) -> None:
        before = now - self.scenario.patience_seconds
        dropped = [request for engine in self.engines for request in engine.give_up(before)]
        for waiting in (self.unrouted, self.prefilled):
            while waiting and waiting[0].arrived_at < before:
                dropped.append(waiting.popleft())
        for request in dropped:
            if request.prefilled_by is not None:
                request.prefilled_by.inflight.discard(request)
            self.latencies.ttft.observe(now - request.arrived_at)
            self.latencies.e2e.observe(now - request.arrived_at)
            self.judged.append((now, False))
        while self.judged and self.judged[0][0] < now - _WINDOW_SECONDS:
            self.judged.popleft()

    def _average_traffic(self, traffic: dict[tuple[int, int], float], seconds: float) -> None:
        keep = float(np.exp(-seconds / _TRAFFIC_SECONDS))
        for ends in self.kv_bits_per_second.keys() | traffic.keys():
            new = traffic.get(ends, 0.0) / seconds
            old = self.kv_bits_per_second.get(ends, 0.0)
            self.kv_bits_per_second[ends] = keep * old + (1.0 - keep) * new


def _least_busy(engines: list[Engine]) -> Engine:
    """Return the engine with the least to compute; among idle ones that which has rested most."""
    return min(engines, key=lambda engine: (engine.backlog_tokens, engine.free_at))
