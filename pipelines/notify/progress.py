"""How far a partition was dealt with, when its messages end in another order than they came."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Progress:
    """Offsets by partition that may be committed: nothing before them is still to be done."""

    _open: dict[tuple[str, int], dict[int, int]] = field(default_factory=dict)
    _next: dict[tuple[str, int], int] = field(default_factory=dict)
    _committed: dict[tuple[str, int], int] = field(default_factory=dict)

    def read(self, place: tuple[str, int, int], deliveries: int) -> None:
        """Take note of a message that this many deliveries come from."""
        topic, partition, offset = place
        self._next[topic, partition] = offset + 1
        if deliveries:
            self._open.setdefault((topic, partition), {})[offset] = deliveries

    def ended(self, place: tuple[str, int, int]) -> None:
        """Take note that one delivery of a message has ended; unknown places are passed over."""
        topic, partition, offset = place
        left = self._open.get((topic, partition), {})
        if offset in left:
            left[offset] -= 1
            if not left[offset]:
                del left[offset]

    def to_commit(self) -> dict[tuple[str, int], int]:
        """Return offsets that moved on since the last call."""
        moved = {}
        for partition, following in self._next.items():
            offset = min(self._open.get(partition) or {following: 0})
            if self._committed.get(partition) != offset:
                moved[partition] = self._committed[partition] = offset
        return moved

    def forget(self) -> None:
        self._open.clear()
        self._next.clear()
        self._committed.clear()
