"""Dead letters of the collector: a few of each kind, the rest only counted."""

import uuid
from collections.abc import Callable
from typing import Final

from pipelines import topics
from pipelines.clock import Clock
from pipelines.metrics import LETTERS_WITHHELD, REFUSED
from pipelines.wire import telemetry_pb2 as pb

_PAYLOAD_BYTES: Final = 64 * 1024
_DETAIL_CHARACTERS: Final = 1000
_MINUTE_NS: Final = 60_000_000_000
_SOURCES_REMEMBERED: Final = 10_000


class Letters:
    """Sends what cannot be decoded, at most so many a minute of one source and reason."""

    def __init__(
        self, *, send: Callable[[topics.Outgoing, int], None], clock: Clock, per_minute: int = 10
    ) -> None:
        self._send = send
        self._clock = clock
        self._per_minute = per_minute
        self._told: dict[tuple[str, str], tuple[int, int]] = {}

    def refuse(
        self,
        *,
        what: str,
        reason: str,
        detail: str,
        source: str,
        cell: str,
        payload: bytes,
        samples: int = 0,
    ) -> bool:
        """Count a refusal and send it where the rate allows; return whether it was sent.

        ``what`` is the kind of input that is counted: ``scrape_lines``, ``notifications`` ...
        """
        REFUSED.labels(what, reason).inc()
        now_ns = self._clock.now_ns()
        if not self._is_allowed((source, reason), now_ns // _MINUTE_NS):
            LETTERS_WITHHELD.labels(reason).inc()
            return False
        letter = pb.DeadLetter(
            reason=reason,
            detail=detail[:_DETAIL_CHARACTERS],
            source=source,
            at_ns=now_ns,
            payload=payload[:_PAYLOAD_BYTES],
            cell=cell,
            samples=samples,
            letter_id=uuid.uuid4().hex,
        )
        message = topics.outgoing(
            topics.DEAD_LETTERS,
            cell=cell,
            value=letter.SerializeToString(),
            source="collect",
            subject=source,
            at_ns=now_ns,
            event_id=letter.letter_id,
        )
        self._send(message, now_ns)
        return True

    def _is_allowed(self, key: tuple[str, str], minute: int) -> bool:
        last_minute, told = self._told.get(key, (minute, 0))
        if last_minute != minute:
            told = 0
        if len(self._told) > _SOURCES_REMEMBERED:
            self._told.clear()
        self._told[key] = (minute, told + 1)
        return told < self._per_minute
