"""Which webhook an endpoint is sent next, and when again: no I/O, no clock of its own."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

from detectors.records import Alert
from pipelines.notify.notices import Notice

# Standard Webhooks: at once, then after these seconds, counted from the attempt before.
SCHEDULE_SECONDS: Final = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
# What the endpoint refuses (4xx, redirects) is not sent for ever.
REFUSED_ATTEMPTS: Final = 3
LONGEST_QUEUE: Final = 1000
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
    """A notice on its way to one endpoint."""

    notice: Notice
    not_before_ns: int
    attempts: int = 0
    in_flight: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """A notice that will not be sent, and why: ``superseded``, ``failed`` or ``disabled``."""

    notice: Notice
    state: str
    detail: str


@dataclass(slots=True)
class EndpointQueue:
    """Webhooks of one endpoint, in order per alert or decision.

    One of a subject is under way at a time. While an endpoint fails, what newer revisions of an
    alert make stale is given up: nobody is told "firing" after "resolved".
    """

    random: Random
    _subjects: dict[str, deque[Pending]] = field(default_factory=dict)
    _throttled_until_ns: int = 0
    _is_disabled: bool = False

    def __len__(self) -> int:
        return sum(len(waiting) for waiting in self._subjects.values())

    def add(self, notice: Notice, *, now_ns: int, attempts: int = 0) -> list[GivenUp]:
        """Queue a notice; returns what is given up for it, maybe itself.

        ``attempts`` were made by a run before this one.
        """
        if self._is_disabled:
            return [GivenUp(notice=notice, state="disabled", detail="endpoint answered 410")]
        waiting = self._subjects.setdefault(notice.subject_id, deque())
        given_up = _stale(waiting, notice)
        waiting.append(Pending(notice=notice, not_before_ns=now_ns, attempts=attempts))
        if len(self) > LONGEST_QUEUE:
            given_up += self._oldest_dropped()
        return given_up

    def due(self, now_ns: int) -> list[Pending]:
        """Return what to send now and count it as under way."""
        if now_ns < self._throttled_until_ns:
            return []
        free = _AT_ONCE - sum(p.in_flight for w in self._subjects.values() for p in w)
        heads = [waiting[0] for waiting in self._subjects.values() if waiting]
        ready = [p for p in heads if not p.in_flight and p.not_before_ns <= now_ns]
        ready.sort(key=lambda pending: pending.not_before_ns)
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
        if state == "retrying":
            wait_ns = int(self._wait_seconds(pending.attempts, answer) * 1e9)
            pending.not_before_ns = now_ns + wait_ns
            if answer.status in _THROTTLED:
                self._throttled_until_ns = max(self._throttled_until_ns, now_ns + wait_ns)
            waiting = self._subjects[pending.notice.subject_id]
            newest = waiting.pop()
            given_up = _stale(waiting, newest.notice)
            waiting.append(newest)
            return state, given_up
        self._remove(pending)
        if state != "disabled":
            return state, []
        self._is_disabled = True
        detail = "endpoint answered 410"
        return state, [
            GivenUp(notice=notice, state="disabled", detail=detail) for notice in self.forget()
        ]

    def forget(self) -> list[Notice]:
        """Empty the queue of what is not under way and return it."""
        notices = [p.notice for p in self._all() if not p.in_flight]
        under_way = {
            subject: deque(p for p in waiting if p.in_flight)
            for subject, waiting in self._subjects.items()
        }
        self._subjects = {subject: waiting for subject, waiting in under_way.items() if waiting}
        return notices

    def _all(self) -> Iterator[Pending]:
        for waiting in self._subjects.values():
            yield from waiting

    def _remove(self, pending: Pending) -> None:
        waiting = self._subjects[pending.notice.subject_id]
        waiting.remove(pending)
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


def _state(status: int, attempts: int) -> str:
    if 200 <= status < 300:  # noqa: PLR2004 - HTTP's
        return "delivered"
    if status == _GONE:
        return "disabled"
    refused = 300 <= status < 500 and status not in _PASSING  # noqa: PLR2004 - HTTP's
    most = REFUSED_ATTEMPTS if refused else len(SCHEDULE_SECONDS) + 1
    return "failed" if attempts >= most else "retrying"


def _stale(waiting: deque[Pending], newer: Notice) -> list[GivenUp]:
    """Drop an alert's earlier revisions when one of them has failed before."""
    if not isinstance(newer.told, Alert) or not any(p.attempts for p in waiting if not p.in_flight):
        return []
    stale = [p for p in waiting if not p.in_flight]
    for pending in stale:
        waiting.remove(pending)
    detail = f"revision {newer.number} came before it was delivered"
    return [GivenUp(notice=p.notice, state="superseded", detail=detail) for p in stale]
