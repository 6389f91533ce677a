"""gNMI responses of one subscription, many at once.

What has been seen in the same shape before is read by column; everything else is told to be odd,
and is decoded by itself. Both say the same of the same message.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gnmi_pb import gnmi_pb2 as gnmi
from google.protobuf.message import DecodeError as ProtobufError

from cluster.frame import SeriesKey
from pipelines.collect.decode import KnownPath, NotificationDecoder, take_leaf
from pipelines.collect.shapes import (
    BOOL,
    CONSTANT,
    DOUBLE,
    FLOAT,
    SIGNED,
    UNSIGNED,
    Plan,
    Readings,
    Shape,
    Value,
)
from pipelines.collect.slots import Slots
from pipelines.collect.values import Leaf, leaves
from pipelines.collect.wire_walk import Field, NotPlainError, Plain, PlainUpdate, walk

_NUMBERS: Final = {0x10: SIGNED, 0x18: UNSIGNED, 0x20: BOOL, 0x35: FLOAT, 0x71: DOUBLE}
_WORDS: Final = frozenset({0x0A, 0x62})  # string_val, ascii_val
# Bounds of what is remembered, in readings.
_MOST_LEARNED: Final = 400_000
_LEAST_PLANNED: Final = 2_000
_PLANS_PER_SERIES: Final = 4


class Several(NamedTuple):
    """What messages in a row said.

    Attributes
    ----------
    first, count
        Which messages.
    slots
        The series that the readings' slots stand for.
    refused
        Leaves that are no readings, by reason.
    """

    first: int
    count: int
    slots: Slots
    readings: Readings
    refused: Counter[str]


class Odd(NamedTuple):
    """A message that must be decoded by itself."""

    place: int


class _Known:
    """A message that was seen, and what is known of others like it.

    Attributes
    ----------
    place
        Where it is looked up: size, then the bytes from here to there.
    ready
        The last run of messages that began with one like it.
    """

    __slots__ = ("group", "place", "ready", "refused", "shape", "slots")

    def __init__(
        self,
        shape: Shape,
        *,
        slots: Slots,
        refused: Counter[str],
        group: bytes,
        place: "_Lookup",
    ) -> None:
        self.shape = shape
        self.slots = slots
        self.refused = refused
        self.group = group
        self.place = place
        self.ready: _Ready | None = None


class _Lookup(NamedTuple):
    """Where a message is looked up: its size, and the bytes from here to there."""

    size: int
    start: int
    stop: int
    words: bytes


class _Ready(NamedTuple):
    plan: Plan
    refused: Counter[str]
    epoch: int


class BulkDecoder:
    """Decodes the responses of one subscription."""

    def __init__(self, decoder: NotificationDecoder) -> None:
        self._slots = Slots()
        self._decoder = decoder
        self._epoch = 0
        self._learned = self._planned = 0
        # By size: where the bytes that tell messages apart stand, and messages by these bytes.
        self._known: dict[int, dict[tuple[int, int], dict[bytes, _Known]]] = {}
        self._ready: dict[tuple[_Known, ...], _Ready] = {}
        self._paths: dict[tuple[bytes, bytes], KnownPath] = {}
        self._places: dict[KnownPath, set[_Lookup]] = {}
        decoder.on_end = self._drop
        decoder.on_forget = self._clear

    def decode(self, messages: Sequence[bytes]) -> Iterator[Several | Odd]:
        """Yield what the messages say, in their order.

        An odd message must be decoded, by the decoder that this one was made with, before the next
        is asked for: it may end series.
        """
        place = 0
        while place < len(messages):
            told = self._expected(messages, place) or self._assembled(messages, place)
            if told is None:
                yield Odd(place)
                place += 1
            else:
                yield told
                place += told.count

    def _expected(self, messages: Sequence[bytes], place: int) -> Several | None:
        """Return what the messages say if they are those that followed the first of them before."""
        known = self._find(messages[place])
        if known is None or known.ready is None or known.ready.epoch != self._epoch:
            return None
        plan = known.ready.plan
        some = messages[place : place + len(plan.sizes)]
        if list(map(len, some)) != plan.sizes:
            return None
        readings = plan.read(some)
        if not isinstance(readings, Readings):
            known.ready = None
            return None
        return Several(place, len(some), known.slots, readings, known.ready.refused)

    def _assembled(self, messages: Sequence[bytes], place: int) -> Several | None:
        run, is_new = self._run(messages, place)
        while run:
            ready = self._made_ready(run, is_new=is_new)
            if not ready.plan.is_distinct:
                run = run[: max(1, len(run) // 2)]
                continue
            readings = ready.plan.read(messages[place : place + len(run)])
            if isinstance(readings, Readings):
                self._expect(run[0], ready)
                return Several(place, len(run), run[0].slots, readings, ready.refused)
            is_new = True
            run = self._corrected(run, messages[place : place + len(run)], readings)
        return None

    def _expect(self, first: _Known, ready: _Ready) -> None:
        """Expect the longest run that began so; one that fails is forgotten where it fails."""
        before = first.ready
        is_old = before is not None and before.epoch != self._epoch
        if before is None or is_old or len(before.plan.sizes) < len(ready.plan.sizes):
            first.ready = ready

    def _corrected(
        self, run: list[_Known], messages: Sequence[bytes], wrong: list[int]
    ) -> list[_Known]:
        """Return what the messages really are, up to the first that is odd."""
        for number in wrong:
            known = self._learn(messages[number])
            if known is None or known.slots is not run[0].slots:
                return run[:number]
            run[number] = known
        return run

    def _run(self, messages: Sequence[bytes], place: int) -> tuple[list[_Known], bool]:
        """Return messages in a row that name different series; whether one of them is new."""
        run: list[_Known] = []
        groups: set[bytes] = set()
        is_new = False
        for message in messages[place:]:
            known = self._find(message)
            if known is None:
                known = self._learn(message)
                is_new = True
            if known is None or known.group in groups:
                break
            if run and known.slots is not run[0].slots:
                break
            groups.add(known.group)
            run.append(known)
        return run, is_new

    def _find(self, message: bytes) -> _Known | None:
        for (start, stop), known in self._known.get(len(message), {}).items():
            found = known.get(message[start:stop])
            if found is not None:
                return found
        return None

    def _made_ready(self, run: list[_Known], *, is_new: bool) -> _Ready:
        key = tuple(run)
        ready = self._ready.get(key)
        if ready is None or ready.epoch != self._epoch:
            refused: Counter[str] = Counter()
            for known in run:
                refused.update(known.refused)
            ready = _Ready(Plan([known.shape for known in run]), refused, self._epoch)
            if not is_new:
                self._keep(key, ready)
        return ready

    def _keep(self, key: tuple[_Known, ...], ready: _Ready) -> None:
        self._planned += sum(len(known.shape.values) for known in key)
        if self._planned > _LEAST_PLANNED + _PLANS_PER_SERIES * len(self._slots):
            self._ready.clear()
            self._planned = 0
        self._ready[key] = ready

    def _learn(self, message: bytes) -> _Known | None:
        if self._learned > _MOST_LEARNED:
            self._clear()
        slots = self._slots
        try:
            plain = walk(message)
            known = self._understood(message, plain)
        except (NotPlainError, ProtobufError):
            return None
        if self._slots is not slots:
            return None  # paths were forgotten on the way
        self._learned += len(plain.updates)
        size, start, stop, words = known.place
        self._known.setdefault(size, {}).setdefault((start, stop), {})[words] = known
        for update in plain.updates:
            path = self._paths[plain.prefix, update.path]
            self._places.setdefault(path, set()).add(known.place)
        return known

    def _understood(self, message: bytes, plain: Plain) -> _Known:
        # Everything is parsed before the first series is taken for live: of a message with one
        # part that is broken nothing counts.
        paths = [self._path(plain.prefix, update.path) for update in plain.updates]
        words = [_word(message, u, p) for u, p in zip(plain.updates, paths, strict=True)]
        values: list[Value] = []
        ignored: list[Field] = []
        refused: Counter[str] = Counter()
        for update, path, word in zip(plain.updates, paths, words, strict=True):
            if path.is_identity:
                refused["identity"] += 1
                if word is None:
                    ignored.append(update.value)
            elif word is None:
                values.append(self._number(path, update.value))
            else:
                values += self._constant(path, update.value, word, refused)
        if len({value.slot for value in values}) != len(values):
            raise NotPlainError  # which of them holds is for the official messages to say
        start = plain.time.stop
        stop = plain.updates[0].value.start
        if start > stop:
            start = 0
        group = plain.prefix + b"\0" + plain.updates[0].path
        place = _Lookup(len(message), start, stop, message[start:stop])
        shape = Shape(message, time=plain.time, values=values, ignored=ignored)
        return _Known(shape, slots=self._slots, refused=refused, group=group, place=place)

    def _number(self, path: KnownPath, field: Field) -> Value:
        place = path.place(Leaf((), 0.0))
        if place is None:
            raise AssertionError("a number has a place")
        slot = self._slots.of(place.key)
        return Value(field, _NUMBERS[field.tag], slot, place.scale)

    def _constant(
        self, path: KnownPath, field: Field, word: Leaf, refused: Counter[str]
    ) -> list[Value]:
        """Take a word for what it says, as long as it is the same."""
        found: dict[SeriesKey, float] = {}
        reason = take_leaf(path.place(word), word, found)
        if reason:
            refused[reason] += 1
        return [
            Value(field, CONSTANT, self._slots.of(key), constant=number)
            for key, number in found.items()
        ]

    def _path(self, prefix: bytes, path: bytes) -> KnownPath:
        known = self._paths.get((prefix, path))
        if known is None:
            known = self._decoder.known_path(prefix, path)
            self._paths[prefix, path] = known
        return known

    def _drop(self, path: KnownPath) -> None:
        """Forget messages that name a path of which series ended: they are live again when seen."""
        self._epoch += 1
        for size, start, stop, words in self._places.pop(path, ()):
            self._known.get(size, {}).get((start, stop), {}).pop(words, None)

    def _clear(self) -> None:
        self._epoch += 1
        self._learned = self._planned = 0
        self._slots = Slots()
        self._known.clear()
        self._ready.clear()
        self._paths.clear()
        self._places.clear()


def _word(message: bytes, update: PlainUpdate, path: KnownPath) -> Leaf | None:
    """Return what a word says; None for a number."""
    if update.value.tag in _NUMBERS:
        return None
    if update.value.tag not in _WORDS:
        raise NotPlainError
    typed = gnmi.TypedValue.FromString(message[update.typed.start : update.typed.stop])
    (leaf,) = leaves(gnmi.Update(val=typed), path.leaf_name)
    if not isinstance(leaf.value, str):
        raise NotPlainError  # a number, and soon another
    return leaf
