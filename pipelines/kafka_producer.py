"""Messages to Kafka: a bounded queue, a thread, and a count of everything that did not arrive."""

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog
from kafka import KafkaProducer
from kafka import errors as kafka_errors

from pipelines.metrics import DROPPED, FRAMES_SENT, MESSAGES_SENT, QUEUED, SAMPLES_SENT
from pipelines.reach import listens
from pipelines.topics import FRAMES, Outgoing

log = structlog.get_logger()

# What Kafka's client holds at most; the rest waits in our queue, where the oldest can be dropped.
_MOST_IN_FLIGHT: Final = 1000
_MOST_IN_FLIGHT_BYTES: Final = 32 * 1024 * 1024
_LARGEST_MESSAGE_BYTES: Final = 16 * 1024 * 1024
_TELL_EVERY_SECONDS: Final = 10.0

# The broker refused the batch before it wrote it, and this producer cannot go on: after a restart
# without its memory, for example. A new producer may send it again.
_PRODUCER_IS_UNKNOWN: Final = (
    kafka_errors.UnknownProducerIdError,
    kafka_errors.OutOfOrderSequenceNumberError,
    kafka_errors.InvalidProducerEpochError,
    kafka_errors.InvalidProducerIdMappingError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Queued:
    message: Outgoing
    at_ms: int
    samples: int
    source_kind: str


class Producer:
    """Sends to Kafka without ever holding up who sends; thread-safe.

    While Kafka is away messages wait; when too many do, the oldest frames go first, then the
    oldest of the others. `DROPPED` counts what was lost, by topic and reason.

    Parameters
    ----------
    queue_messages
        Most messages that wait.
    on_lost
        Called with a topic, from any thread, when a message of it was lost.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        queue_messages: int = 20_000,
        on_lost: Callable[[str], None] | None = None,
    ) -> None:
        self.sent: Counter[str] = Counter()
        self.lost: Counter[tuple[str, str]] = Counter()
        self.connected = threading.Event()
        self._bootstrap = bootstrap
        self._queue_messages = queue_messages
        self._on_lost = on_lost
        self._frames: deque[_Queued] = deque()
        self._facts: deque[_Queued] = deque()
        self._in_flight = 0
        self._in_flight_bytes = 0
        self._rebuild = False
        self._stop_at: float | None = None
        self._told_at = -_TELL_EVERY_SECONDS
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="kafka-producer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(
        self, message: Outgoing, received_ns: int, *, samples: int = 0, source_kind: str = ""
    ) -> None:
        """Queue a message; returns at once. ``received_ns`` becomes Kafka's time stamp."""
        queued = _Queued(
            message=message,
            at_ms=received_ns // 1_000_000,
            samples=samples,
            source_kind=source_kind,
        )
        oldest = None
        with self._changed:
            (self._frames if message.topic == FRAMES else self._facts).append(queued)
            if self.waiting > self._queue_messages:
                oldest = (self._frames or self._facts).popleft()
            self._changed.notify_all()
        if oldest is not None:
            self._lost(oldest, "queue_full")

    @property
    def waiting(self) -> int:
        return len(self._frames) + len(self._facts)

    def room(self) -> None:
        """Block until half of the queue is free: what must not be dropped is sent so."""
        with self._changed:
            self._changed.wait_for(lambda: self.waiting <= self._queue_messages // 2)

    async def stop(self, *, timeout_seconds: float = 10.0) -> int:
        """Send what waits, within the time limit; return how many messages were not delivered."""
        return await asyncio.to_thread(self._stop, timeout_seconds)

    def _stop(self, timeout_seconds: float) -> int:
        with self._changed:
            self._stop_at = time.monotonic() + timeout_seconds
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join(timeout_seconds + 10.0)
        unsent = self.waiting + self._in_flight
        for queued in (*self._frames, *self._facts):
            self._count_lost(queued, "stopped")
        tell = log.error if unsent or self.lost else log.info
        tell("producer stopped", unsent=unsent, sent=self.sent.total(), lost=self.lost.total())
        return unsent

    def _run(self) -> None:
        while not self._is_over():
            kafka = self._connect()
            if kafka is None:
                continue
            self.connected.set()
            try:
                self._pump(kafka)
            finally:
                self.connected.clear()
                _close(kafka)

    def _connect(self) -> KafkaProducer | None:
        if not listens(self._bootstrap):
            self._not_reached(f"nobody listens at {self._bootstrap}")
            return None
        try:
            return KafkaProducer(
                bootstrap_servers=self._bootstrap.split(","),
                client_id="trimtab",
                acks="all",
                enable_idempotence=True,
                compression_type="lz4",
                batch_size=512 * 1024,
                linger_ms=5,
                # A topic made by the way would have the broker's partitions, not the configured.
                allow_auto_create_topics=False,
                max_block_ms=5_000,
                max_request_size=_LARGEST_MESSAGE_BYTES,
                # How long we hold on to a message while Kafka is away is our queue's matter.
                delivery_timeout_ms=3_600_000,
                bootstrap_timeout_ms=5_000,
                reconnect_backoff_max_ms=2_000,
                metrics_enabled=False,
            )
        except (kafka_errors.KafkaError, OSError) as error:
            self._not_reached(_told(error))
            return None

    def _not_reached(self, error: str) -> None:
        self._tell("broker not reached, tried again", error=error)
        with self._changed:
            self._changed.wait_for(self._is_stopping, timeout=1.0)

    def _pump(self, kafka: KafkaProducer) -> None:
        """Send until the time to stop, or until this producer can send no more."""
        while (queued := self._next()) is not None:
            message = queued.message
            try:
                future = kafka.send(
                    message.topic,
                    key=message.key,
                    value=message.value,
                    headers=list(message.headers),
                    timestamp_ms=queued.at_ms,
                )
            except kafka_errors.KafkaTimeoutError as error:
                # Never handed over: the topic or the broker is not there yet.
                self._tell(
                    "message not taken, tried again", topic=message.topic, error=_told(error)
                )
                self._settle(queued, again=True)
                continue
            except (kafka_errors.KafkaError, ValueError) as error:
                self._failed(queued, error)
                continue
            future.add_callback(partial(self._delivered, queued))
            future.add_errback(partial(self._failed, queued))

    def _next(self) -> _Queued | None:
        """Wait for a message and for room in Kafka's client; None: over, or start anew."""
        with self._changed:
            while not self._is_over() and not self._rebuild:
                if self.waiting and self._has_room():
                    queued = (self._facts or self._frames).popleft()
                    self._in_flight += 1
                    self._in_flight_bytes += len(queued.message.value)
                    QUEUED.set(self.waiting)
                    return queued
                self._changed.wait(0.5)
            self._rebuild = False
            return None

    def _has_room(self) -> bool:
        return self._in_flight < _MOST_IN_FLIGHT and self._in_flight_bytes < _MOST_IN_FLIGHT_BYTES

    def _is_stopping(self) -> bool:
        return self._stop_at is not None

    def _is_over(self) -> bool:
        if self._stop_at is None:
            return False
        return time.monotonic() >= self._stop_at or self.waiting + self._in_flight == 0

    def _settle(self, queued: _Queued, *, again: bool = False) -> None:
        with self._changed:
            self._in_flight -= 1
            self._in_flight_bytes -= len(queued.message.value)
            if again:
                is_frame = queued.message.topic == FRAMES
                (self._frames if is_frame else self._facts).appendleft(queued)
            self._changed.notify_all()

    def _delivered(self, queued: _Queued, _: Any) -> None:
        topic = queued.message.topic
        with self._changed:
            self.sent[topic] += 1
        MESSAGES_SENT.labels(topic).inc()
        if topic == FRAMES:
            FRAMES_SENT.labels(queued.source_kind).inc()
            SAMPLES_SENT.labels(queued.source_kind).inc(queued.samples)
        self._settle(queued)

    def _failed(self, queued: _Queued, error: Exception) -> None:
        if isinstance(error, _PRODUCER_IS_UNKNOWN):
            self._tell("producer unknown to the broker, made anew", error=_told(error))
            self._rebuild = True
            self._settle(queued, again=True)
            return
        self._lost(queued, type(error).__name__)
        self._settle(queued)
        self._tell("message not delivered", topic=queued.message.topic, error=_told(error))

    def _lost(self, queued: _Queued, reason: str) -> None:
        self._count_lost(queued, reason)
        if self._on_lost is not None:
            self._on_lost(queued.message.topic)

    def _count_lost(self, queued: _Queued, reason: str) -> None:
        topic = queued.message.topic
        with self._changed:
            self.lost[topic, reason] += 1
        DROPPED.labels(topic, reason).inc()
        if queued.samples:
            DROPPED.labels("samples", reason).inc(queued.samples)

    def _tell(self, event: str, **facts: object) -> None:
        """Log, but not each of a thousand failures."""
        now = time.monotonic()
        if now - self._told_at >= _TELL_EVERY_SECONDS:
            self._told_at = now
            log.warning(event, waiting=self.waiting, lost=self.lost.total(), **facts)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _close(kafka: KafkaProducer) -> None:
    """Close the client, also when Kafka is away: by itself it would wait for the hour above."""
    try:
        kafka.close(timeout=1.0)
    except kafka_errors.KafkaTimeoutError:
        kafka._sender.force_close()  # noqa: SLF001 - close() raises before it comes to this
        kafka._sender.join(5.0)  # noqa: SLF001
        kafka.close(timeout=1.0)
