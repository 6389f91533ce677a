"""When everything that was sent has been judged and recorded, by the offsets of its readers."""

import time
from collections.abc import Iterable

from kafka import KafkaConsumer, TopicPartition

from pipelines import topics
from pipelines.config.load import Loaded

_ANSWER_MS = 10_000
# Longer than a worker takes between two commits, and than another takes over when one ends.
_LEAST_PATIENCE_SECONDS = 60.0
_RECORDED = (topics.FRAMES, topics.DETECTIONS, topics.ALERTS, topics.DEAD_LETTERS)


class Settling:
    """Follows detect up to the last frame, then record up to the last thing that was told.

    Ask `done` again and again. `given_up` says who has made no progress for too long.
    """

    def __init__(self, loaded: Loaded) -> None:
        self._config = loaded.config.broker
        name = loaded.config.deployment.name
        self._readers = [
            _Reader(self._config.bootstrap, f"{name}-detect", self._partitions((topics.FRAMES,))),
            _Reader(self._config.bootstrap, f"{name}-record", self._partitions(_RECORDED)),
        ]
        self._patience_seconds = max(
            _LEAST_PATIENCE_SECONDS, 3 * loaded.config.detect.snapshot_seconds
        )
        self._moved_at = time.monotonic()
        self.given_up = ""

    def done(self) -> bool:
        """Return True when there is nothing left to wait for, or no hope."""
        while self._readers:
            reader = self._readers[0]
            if reader.advance():
                self._moved_at = time.monotonic()
            if reader.behind:
                break
            # Whatever it told stands in Kafka before its offset does: the next one's end is final.
            self._readers.pop(0).close()
        if self._readers and time.monotonic() - self._moved_at > self._patience_seconds:
            self.given_up = (
                f"{self._readers[0].group} has {self._readers[0].behind} messages to go and has "
                f"not moved for {self._patience_seconds:.0f} s"
            )
        return not self._readers or bool(self.given_up)

    @property
    def waiting_for(self) -> str:
        if not self._readers:
            return "nothing"
        return f"{self._readers[0].group}: {self._readers[0].behind} messages to go"

    def close(self) -> None:
        for reader in self._readers:
            reader.close()

    def _partitions(self, names: Iterable[str]) -> list[TopicPartition]:
        return [
            TopicPartition(name, number)
            for name in names
            for number in range(self._config.partitions)
        ]


class _Reader:
    """How far one consumer group is behind the end that was there when it was first asked."""

    def __init__(self, bootstrap: str, group: str, partitions: list[TopicPartition]) -> None:
        self.group = group
        self.behind = 0
        self._partitions = partitions
        self._ends: dict[TopicPartition, int] = {}
        self._kafka = KafkaConsumer(
            bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False
        )

    def advance(self) -> bool:
        """Ask again; return whether the group is nearer to the end than before."""
        first = not self._ends
        if first:
            self._ends = self._kafka.end_offsets(self._partitions)
        behind = sum(
            max(0, end - (self._kafka.committed(partition, timeout_ms=_ANSWER_MS) or 0))
            for partition, end in self._ends.items()
        )
        moved = first or behind < self.behind
        self.behind = behind
        return moved

    def close(self) -> None:
        self._kafka.close(autocommit=False)
