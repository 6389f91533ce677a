"""One inference engine: prompts one after the other, or tokens for a batch."""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from cluster.steptimes import StepTimes
from simulator.world.histogram import LATENCY_BOUNDS, TOKEN_BOUNDS, Histogram

Role = Literal["prefill", "decode"]
# What is told of an engine and its GPUs is a mean over a second or so of ticks.
_BUSY_PACE = 0.07


@dataclass(slots=True, eq=False)
class Request:
    """A request under way; times are seconds of world time.

    Attributes
    ----------
    ready_at
        When its KV cache is where it is to be decoded.
    """

    arrived_at: float
    prompt_tokens: float
    answer_tokens: float
    prefilled_at: float = 0.0
    ready_at: float = 0.0
    decoding_at: float = 0.0
    generated_tokens: float = 0.0
    prefilled_by: "Engine | None" = None


@dataclass(slots=True, kw_only=True)
class Latencies:
    """What a server or gateway keeps of its requests' times."""

    ttft: Histogram = field(default_factory=lambda: Histogram(LATENCY_BOUNDS))
    token: Histogram = field(default_factory=lambda: Histogram(TOKEN_BOUNDS))
    e2e: Histogram = field(default_factory=lambda: Histogram(LATENCY_BOUNDS))
    queue: Histogram = field(default_factory=lambda: Histogram(LATENCY_BOUNDS))


@dataclass(slots=True, eq=False, kw_only=True)
class Engine:
    """State of an engine.

    Attributes
    ----------
    draining
        Takes no new requests.
    available_at
        World time from which it serves; later than now while it re-initialises.
    queue
        Prompts that wait for prefill.
    inflight
        Prompts computed here whose KV cache has not gone to a decode engine.
    waiting
        Requests chosen for this engine that have no place in its batch.
    """

    name: str
    host: int
    gpus: tuple[int, ...]
    role: Role
    limit: int
    largest_limit: int
    largest_tokens: int
    draining: bool = False
    available_at: float = 0.0
    free_at: float = 0.0
    queue: deque[Request] = field(default_factory=deque)
    computing: deque[Request] = field(default_factory=deque)
    inflight: set[Request] = field(default_factory=set)
    waiting: deque[Request] = field(default_factory=deque)
    running: list[Request] = field(default_factory=list)
    latencies: Latencies = field(default_factory=Latencies)
    prompt_tokens: float = 0.0
    generated_tokens: float = 0.0
    finished: int = 0
    given_up: int = 0
    tokens_per_second: float = 0.0
    busy: float = 0.0

    def takes_requests(self, role: Role, now: float) -> bool:
        return self.role == role and not self.draining and self.available_at <= now

    @property
    def idle(self) -> bool:
        return not (self.queue or self.computing or self.inflight or self.waiting or self.running)

    @property
    def used_tokens(self) -> float:
        held = sum(r.prompt_tokens for r in (*self.computing, *self.inflight))
        return held + sum(r.prompt_tokens + r.generated_tokens for r in self.running)

    @property
    def backlog_tokens(self) -> float:
        return sum(r.prompt_tokens for r in (*self.queue, *self.computing))

    @property
    def batch_load(self) -> float:
        """Return requests per place in the batch."""
        return (len(self.running) + len(self.waiting)) / self.limit

    def prefill(self, now: float, until: float, times: StepTimes, noise: float) -> list[Request]:
        """Compute prompts until then; return those that are done."""
        busy_until = min(max(self.free_at, now), until)
        busy = busy_until - now
        while self.queue and max(self.free_at, self.queue[0].arrived_at) < until:
            request = self.queue.popleft()
            start = max(self.free_at, request.arrived_at, self.available_at)
            self.free_at = start + times.prefill_seconds(request.prompt_tokens) * noise
            self.latencies.queue.observe(start - request.arrived_at)
            request.prefilled_at, request.prefilled_by = self.free_at, self
            self.computing.append(request)
            busy += min(self.free_at, until) - max(start, now)
        self.busy += _BUSY_PACE * (busy / (until - now) - self.busy)
        done = []
        while self.computing and self.computing[0].prefilled_at <= until:
            request = self.computing.popleft()
            self.prompt_tokens += request.prompt_tokens
            self.latencies.ttft.observe(request.prefilled_at - request.arrived_at)
            self.inflight.add(request)
            done.append(request)
        return done

    def admit(self, now: float, until: float) -> list[Request]:
        """Give waiting requests a place in the batch; return them."""
        admitted = []
        used = self.used_tokens
        while self.waiting and len(self.running) < self.limit:
            request = self.waiting[0]
            if request.ready_at > until or used + request.prompt_tokens > self.largest_tokens:
                break
            self.waiting.popleft()
            used += request.prompt_tokens
            request.decoding_at = max(request.ready_at, now)
            if request.prefilled_by is not None:
                request.prefilled_by.inflight.discard(request)
            self.latencies.queue.observe(request.decoding_at - request.ready_at)
            self.running.append(request)
            admitted.append(request)
        return admitted

    def decode(
        self, now: float, until: float, times: StepTimes, noise: float
    ) -> tuple[float, float, list[Request]]:
        """Generate until then; return the time of a token, how many came, and who is done."""
        batch = len(self.running)
        if not batch:
            self.busy, self.tokens_per_second = (1.0 - _BUSY_PACE) * self.busy, 0.0
            return 0.0, 0.0, []
        context = self.used_tokens / batch
        step_seconds = times.decode_seconds(batch, context) * noise
        tokens = 0.0
        for request in self.running:
            new = (until - max(now, request.decoding_at)) / step_seconds
            new = min(new, request.answer_tokens - request.generated_tokens)
            request.generated_tokens += new
            tokens += new
        done = [r for r in self.running if r.generated_tokens >= r.answer_tokens - 1e-9]
        self.running = [r for r in self.running if r.generated_tokens < r.answer_tokens - 1e-9]
        self.latencies.token.observe(step_seconds, tokens)
        self.generated_tokens += tokens
        self.tokens_per_second = tokens / (until - now)
        self.busy += _BUSY_PACE * (1.0 - self.busy)
        self.finished += len(done)
        for request in done:
            self.latencies.e2e.observe(until - request.arrived_at)
        return step_seconds, tokens, done

    def give_up(self, before: float) -> list[Request]:
        """Drop whoever arrived before then and has no token yet; return them."""
        dropped = [r for r in (*self.queue, *self.waiting) if r.arrived_at < before]
        if dropped:
            gone = set(dropped)
            self.queue = deque(r for r in self.queue if r not in gone)
            self.waiting = deque(r for r in self.waiting if r not in gone)
            self.given_up += len(dropped)
        return dropped
