"""Writes one claimed range of a topic's partition: everything in it, once, whatever happens."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

import structlog

from cluster.frame import Frame, Layout
from pipelines import topics
from pipelines.agents.record_facts import Row, fact_rows
from pipelines.agents.record_samples import (
    FRAME_COLUMNS,
    Recorded,
    bad_time_samples,
    frame_row,
    samples_block,
)
from pipelines.clock import Clock
from pipelines.errors import DecodeError
from pipelines.messages.frames import FrameDecoder
from pipelines.metrics import FRAMES_READ, REFUSED
from pipelines.storage.store import Claim, Store
from pipelines.storage.tables import DEAD_LETTERS, FACT_TABLES
from pipelines.wire import telemetry_pb2 as pb

log = structlog.get_logger(__name__)

_PAYLOAD_KEPT_BYTES = 64 * 1024


class Message(Protocol):
    """The part of a kafka-python record that writing needs."""

    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...


class RangeWriter:
    """Turns the messages of a claim into rows and stores them.

    Writing a claim again stores nothing twice. What cannot be read becomes a dead letter with its
    offset and reason, before the rest is stored: a second attempt may read more than the first,
    never less.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._decoder = FrameDecoder()
        self._stored_layouts: set[int] = set()

    def write(self, claim: Claim, messages: Sequence[Message]) -> None:
        """Store all that the messages of a claim tell.

        Raises
        ------
        clickhouse_connect.driver.exceptions.Error
            The database is away or refuses; write the same claim again.
        """
        if claim.topic == topics.FRAMES:
            self._write_frames(claim, messages)
        else:
            self._write_facts(claim, messages)

    def _write_frames(self, claim: Claim, messages: Sequence[Message]) -> None:
        frames: list[Recorded] = []
        letters: list[Row] = []
        for message in messages:
            try:
                frame = self._decode(message.value or b"")
            except DecodeError as error:
                letters.append(self._letter(claim, message, error))
                continue
            frames.append(Recorded(frame=frame, partition=claim.partition, offset=message.offset))
            if bad := bad_time_samples(frame):
                refusal = DecodeError("bad_time", f"{bad} readings not of 1970 to 2106")
                letters.append(self._letter(claim, message, refusal, samples=bad))
        self._store.insert_facts(DEAD_LETTERS, letters, token=claim.token)
        self._keep_layouts(claim, frames)
        block, samples = samples_block(frames, stored=claim.stored)
        if samples:
            self._store.insert_block("samples", block, rows=samples, token=claim.token)
        ledger = [frame_row(f, topic=claim.topic, stored=claim.stored) for f in frames]
        self._store.insert_rows("frames", FRAME_COLUMNS, ledger, token=claim.token)
        FRAMES_READ.labels("record").inc(len(frames))

    def _decode(self, value: bytes) -> Frame:
        try:
            return self._decoder.decode(value)
        except DecodeError as error:
            if error.reason != "unknown_layout":
                raise
            layout = self._store.layout(pb.Frame.FromString(value).layout_id)
            if layout is None:
                raise
            self._stored_layouts.add(layout.layout_id)
            self._decoder.remember(layout)
            return self._decoder.decode(value)

    def _keep_layouts(self, claim: Claim, frames: list[Recorded]) -> None:
        new: dict[int, Layout] = {}
        for recorded in frames:
            layout = recorded.frame.layout
            if layout.layout_id not in self._stored_layouts:
                new[layout.layout_id] = layout
        self._store.insert_layouts(new.values(), token=f"{claim.token}/{_digest(*map(str, new))}")
        self._stored_layouts.update(new)

    def _write_facts(self, claim: Claim, messages: Sequence[Message]) -> None:
        rows: dict[str, list[Row]] = defaultdict(list)
        for message in messages:
            try:
                told = fact_rows(claim.topic, message.value or b"", claim.stored)
            except DecodeError as error:
                rows[DEAD_LETTERS.name].append(self._letter(claim, message, error))
                continue
            for table, row in told:
                rows[table.name].append(row)
        for table in FACT_TABLES:
            if rows[table.name]:
                self._store.insert_facts(table, rows[table.name], token=claim.token)

    def _letter(
        self, claim: Claim, message: Message, error: DecodeError, *, samples: int = 0
    ) -> Row:
        REFUSED.labels(claim.topic, error.reason).inc()
        log.warning(
            "message refused",
            topic=claim.topic,
            partition=claim.partition,
            offset=message.offset,
            reason=error.reason,
            detail=str(error)[:200],
        )
        place = (claim.epoch, claim.topic, str(claim.partition), str(message.offset), error.reason)
        key = message.key or b""
        value = message.value or b""
        return (
            *(_digest(*place), error.reason, str(error), claim.topic),
            *(key.decode(errors="replace"), claim.topic, claim.partition, message.offset),
            *(self._clock.now_ns(), samples, value[:_PAYLOAD_KEPT_BYTES], claim.stored),
        )


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
