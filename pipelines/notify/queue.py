"""Which webhook an endpoint is sent next, and when again: no I/O, no clock of its own."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

from detectors.records import Alert
from pipelines.notify.notices import Bundle, Message, Notice, members, newest_first

# Standard Webhooks: at once, then after these seconds, counted from the attempt before.
SCHEDULE_SECONDS: Final = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
# What the endpoint refuses (4xx, redirects) is not sent for ever.
REFUSED_ATTEMPTS: Final = 3
LONGEST_QUEUE: Final = 5000
# An endpoint that failed for so long is asked by one webhook at a time, not more often than that,
# and what waited is folded into one digest when it answers again.
OUTAGE_SECONDS: Final = 600
_PROBE_SECONDS: Final = 30
_AT_ONCE: Final = 4
_JITTER: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 86_400.0

_GONE: Final = 410
_THROTTLED: Final = frozenset({429, 502, 503, 504})
_PASSING: Final = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an attempt met.

    Attributes
    ----------
    status
        HTTP status; 0 when there was no answer.
    retry_after_seconds
        What the endpoint asks for, else None.
    """

    status: int
    detail: str = ""
    retry_after_seconds: float | None = None
    duration_seconds: float = 0.0


@dataclass(slots=True)
class Pending:
    """A message on its way to one endpoint."""

    notice: Message
    not_before_ns: int
    attempts: int = 0
    in_flight: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """A message that will not be sent, and why.

    ``superseded``, ``failed``, ``disabled``, ``silenced`` or ``inhibited``.
    """

    notice: Message
    state: str
    detail: str


@dataclass(slots=True)
class EndpointQueue:
    """Webhooks of one endpoint, in order per alert or decision.

    One of a subject is under way at a time. While an endpoint fails, what newer revisions of an
    alert make stale is given up: nobody is told "firing" after "resolved".

    Parameters
    ----------
    bundles
        The endpoint's format can tell of several alerts at once.
    """

    random: Random
    bundles: bool = True
    _subjects: dict[str, deque[Pending]] = field(default_factory=dict)
    _size: int = 0
    _throttled_until_ns: int = 0
    _failing_since_ns: int | None = None
    _told: set[str] = field(default_factory=set)
    _is_disabled: bool = False

    def __len__(self) -> int:
        return self._size

    def add(self, notice: Message, *, now_ns: int, attempts: int = 0) -> list[GivenUp]:
        """Queue a message; returns what is given up for it, maybe itself.

        ``attempts`` were made by a run before this one.
        """
        if self._is_disabled:
            return [GivenUp(notice=notice, state="disabled", detail="endpoint answered 410")]
        waiting = self._subjects.setdefault(notice.subject_id, deque())
        given_up = self._without_stale(waiting, notice)
        waiting.append(Pending(notice=notice, not_before_ns=now_ns, attempts=attempts))
        self._size += 1
        if self._size > LONGEST_QUEUE:
            given_up += self._oldest_dropped()
        return given_up

    def due(self, now_ns: int) -> list[Pending]:
        """Return what to send now and count it as under way."""
        if now_ns < self._throttled_until_ns:
            return []
        under_way = sum(p.in_flight for waiting in self._subjects.values() for p in waiting)
        heads = [waiting[0] for waiting in self._subjects.values() if waiting]
        # What a digest tells must not be overtaken by what came later.
        heads = [p for p in heads if _is_digest(p)] or heads
        ready = [p for p in heads if not p.in_flight and p.not_before_ns <= now_ns]
        ready.sort(key=lambda pending: pending.not_before_ns)
        free = _AT_ONCE - under_way
        if self._is_out(now_ns):
            ready.sort(key=lambda pending: pending.notice.at_ns, reverse=True)
            free = 1 - under_way
        chosen = ready[: max(free, 0)]
        for pending in chosen:
            pending.in_flight = True
            pending.attempts += 1
        return chosen

    def answered(
        self, pending: Pending, answer: Answer, *, now_ns: int
    ) -> tuple[str, list[GivenUp]]:
        """Take the answer in; returns the delivery's state, and what is given up with it."""
        pending.in_flight = False
        state = _state(answer.status, pending.attempts)
        if state == "delivered":
            return state, self._delivered(pending, now_ns)
        if self._failing_since_ns is None:
            self._failing_since_ns = now_ns
        if state == "retrying":
            return state, self._retried_later(pending, answer, now_ns)
        self._remove(pending)
        if state != "disabled":
            return state, []
        self._is_disabled = True
        detail = "endpoint answered 410"
        return state, [
            GivenUp(notice=notice, state="disabled", detail=detail) for notice in self.forget()
        ]

    def forget(self) -> list[Message]:
        """Empty the queue of what is not under way and return it."""
        forgotten = [p for p in self._all() if not p.in_flight]
        for pending in forgotten:
            self._remove(pending)
        return [pending.notice for pending in forgotten]

    def _all(self) -> Iterator[Pending]:
        for waiting in self._subjects.values():
            yield from waiting

    def _is_out(self, now_ns: int) -> bool:
        since_ns = self._failing_since_ns
        return since_ns is not None and now_ns - since_ns >= OUTAGE_SECONDS * 1_000_000_000

    def _delivered(self, pending: Pending, now_ns: int) -> list[GivenUp]:
        self._remove(pending)
        for notice in members(pending.notice):
            (self._told.add if notice.is_firing else self._told.discard)(notice.subject_id)
        was_out = self._is_out(now_ns)
        self._failing_since_ns = None
        return self._folded(now_ns) if was_out else []

    def _folded(self, now_ns: int) -> list[GivenUp]:
        """Replace what waited through an outage by what is true now, in one digest."""
        waited = [n for message in self.forget() for n in members(message)]
        current, superseded = newest_first(waited)
        given_up = [_superseded(n, "a newer state was told after an outage") for n in superseded]
        if self.bundles and len(current) > 1:
            self.add(Bundle(kind="digest", key=str(now_ns), notices=tuple(current)), now_ns=now_ns)
            return given_up
        for notice in current:
            if self._is_news(notice):
                self.add(notice, now_ns=now_ns)
            else:
                given_up.append(_superseded(notice, "began and ended while nobody answered"))
        return given_up

    def _is_news(self, notice: Notice) -> bool:
        """Tell whether an end is one of something that was told, or would be news by itself."""
        is_end = isinstance(notice.told, Alert) and not notice.is_firing
        return self.bundles or not is_end or notice.subject_id in self._told

    def _retried_later(self, pending: Pending, answer: Answer, now_ns: int) -> list[GivenUp]:
        wait_ns = int(self._wait_seconds(pending.attempts, answer) * 1e9)
        pending.not_before_ns = now_ns + wait_ns
        if answer.status in _THROTTLED:
            self._throttled_until_ns = max(self._throttled_until_ns, now_ns + wait_ns)
        if self._is_out(now_ns):
            probe_ns = now_ns + _PROBE_SECONDS * 1_000_000_000
            self._throttled_until_ns = max(self._throttled_until_ns, probe_ns)
        waiting = self._subjects[pending.notice.subject_id]
        newest = waiting.pop()
        given_up = self._without_stale(waiting, newest.notice)
        waiting.append(newest)
        return given_up

    def _without_stale(self, waiting: deque[Pending], newer: Message) -> list[GivenUp]:
        """Drop an alert's earlier revisions when one of them has failed before."""
        is_alert = isinstance(newer, Notice) and isinstance(newer.told, Alert)
        if not is_alert or not any(p.attempts for p in waiting if not p.in_flight):
            return []
        stale = [p for p in waiting if not p.in_flight]
        for pending in stale:
            waiting.remove(pending)
            self._size -= 1
        number = newer.number if isinstance(newer, Notice) else 0
        return [
            _superseded(p.notice, f"revision {number} came before it was delivered") for p in stale
        ]

    def _remove(self, pending: Pending) -> None:
        waiting = self._subjects[pending.notice.subject_id]
        waiting.remove(pending)
        self._size -= 1
        if not waiting:
            del self._subjects[pending.notice.subject_id]

    def _oldest_dropped(self) -> list[GivenUp]:
        waiting = [p for p in self._all() if not p.in_flight]
        oldest = min(waiting, key=lambda pending: pending.notice.at_ns)
        self._remove(oldest)
        detail = f"queue of {LONGEST_QUEUE} was full"
        return [GivenUp(notice=oldest.notice, state="failed", detail=detail)]

    def _wait_seconds(self, attempts: int, answer: Answer) -> float:
        jitter = 1.0 + self.random.uniform(0.0, _JITTER)
        planned = SCHEDULE_SECONDS[attempts - 1] * jitter
        if answer.retry_after_seconds is None:
            return planned
        return min(answer.retry_after_seconds * jitter, _LONGEST_WAIT_SECONDS)


def _is_digest(pending: Pending) -> bool:
    return isinstance(pending.notice, Bundle) and pending.notice.kind == "digest"


def _superseded(message: Message, detail: str) -> GivenUp:
    return GivenUp(notice=message, state="superseded", detail=detail)


def _state(status: int, attempts: int) -> str:
    if 200 <= status < 300:  # noqa: PLR2004 - HTTP's
        return "delivered"
    if status == _GONE:
        return "disabled"
    refused = 300 <= status < 500 and status not in _PASSING  # noqa: PLR2004 - HTTP's
    most = REFUSED_ATTEMPTS if refused else len(SCHEDULE_SECONDS) + 1
    return "failed" if attempts >= most else "retrying"
