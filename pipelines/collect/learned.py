"""Messages of one subscription that were seen: what is known of others like them."""

from collections import Counter
from typing import Final, NamedTuple

from gnmi_pb import gnmi_pb2 as gnmi
from google.protobuf.message import DecodeError as ProtobufError

from cluster.frame import SeriesKey
from pipelines.collect.decode import KnownPath, NotificationDecoder, take_leaf
from pipelines.collect.shapes import BOOL, CONSTANT, DOUBLE, FLOAT, SIGNED, UNSIGNED, Shape, Value
from pipelines.collect.slots import Slots
from pipelines.collect.values import Leaf, leaves
from pipelines.collect.wire_walk import Field, NotPlainError, Plain, PlainUpdate, walk
from pipelines.errors import DecodeError

_NUMBERS: Final = {0x10: SIGNED, 0x18: UNSIGNED, 0x20: BOOL, 0x35: FLOAT, 0x71: DOUBLE}
_WORDS: Final = frozenset({0x0A, 0x62})  # string_val, ascii_val
_MOST_UPDATES: Final = 400_000


class Lookup(NamedTuple):
    """Where a message is looked up: its size, and the bytes from here to there."""

    size: int
    start: int
    stop: int
    words: bytes


class Known:
    """A message that was seen.

    Attributes
    ----------
    place
        Where it is looked up.
    group
        Messages of one group name the same path first; they hardly come side by side.
    slots
        The series that its values' slots stand for.
    refused
        Its leaves that are no readings, by reason.
    """

    __slots__ = ("group", "place", "refused", "shape", "slots")

    def __init__(
        self, shape: Shape, *, slots: Slots, refused: Counter[str], group: bytes, place: Lookup
    ) -> None:
        self.shape = shape
        self.slots = slots
        self.refused = refused
        self.group = group
        self.place = place


class LearnedMessages:
    """What was learned of one subscription's messages; memory is bounded.

    Attributes
    ----------
    slots
        New when there were too many: older ones still stand for what they stood for.
    epoch
        Grows when something was unlearned: what was made of it must not be used any more.
    """

    def __init__(self, decoder: NotificationDecoder) -> None:
        self.slots = Slots()
        self.epoch = 0
        self._decoder = decoder
        self._updates = 0
        # By size: where the bytes that tell messages apart stand, and messages by these bytes.
        self._known: dict[int, dict[tuple[int, int], dict[bytes, Known]]] = {}
        self._paths: dict[bytes, dict[bytes, KnownPath]] = {}
        self._places: dict[KnownPath, tuple[Lookup, ...]] = {}
        decoder.on_end = self._drop
        decoder.on_forget = self._clear

    def find(self, message: bytes) -> Known | None:
        """Return what is known of a message that looks like this one; it may still differ."""
        for (start, stop), known in self._known.get(len(message), {}).items():
            found = known.get(message[start:stop])
            if found is not None:
                return found
        return None

    def learn(self, message: bytes) -> Known | None:
        """Return what is known of this very message, now; None where it must be read by itself."""
        if self._updates > _MOST_UPDATES:
            self._clear()
        slots = self.slots
        try:
            plain = walk(message)
            known = self._understood(message, plain)
        except (NotPlainError, ProtobufError, DecodeError):
            return None
        if self.slots is not slots:
            return None  # paths were forgotten on the way
        self._updates += len(plain.updates)
        size, start, stop, words = known.place
        self._known.setdefault(size, {}).setdefault((start, stop), {})[words] = known
        for update in plain.updates:
            path = self._paths[plain.prefix][update.path]
            places = self._places.get(path, ())
            if known.place not in places:
                self._places[path] = (*places, known.place)
        return known

    def _understood(self, message: bytes, plain: Plain) -> Known:
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
        place = Lookup(len(message), start, stop, message[start:stop])
        shape = Shape(message, time=plain.time, values=values, ignored=ignored)
        return Known(shape, slots=self.slots, refused=refused, group=group, place=place)

    def _number(self, path: KnownPath, field: Field) -> Value:
        place = path.place(Leaf((), 0.0))
        if place is None:
            raise AssertionError("a number has a place")
        slot = self.slots.of(place.key)
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
            Value(field, CONSTANT, self.slots.of(key), constant=number)
            for key, number in found.items()
        ]

    def _path(self, prefix: bytes, path: bytes) -> KnownPath:
        paths = self._paths.get(prefix)
        if paths is None:
            paths = self._paths[prefix] = {}
        known = paths.get(path)
        if known is None:
            known = self._decoder.known_path(prefix, path)
            # Asking may have made the decoder forget paths, and this with it.
            self._paths.setdefault(prefix, {})[path] = known
        return known

    def _drop(self, path: KnownPath) -> None:
        """Forget messages that name a path of which series ended: they are live again when seen."""
        self.epoch += 1
        for size, start, stop, words in self._places.pop(path, ()):
            self._known.get(size, {}).get((start, stop), {}).pop(words, None)

    def _clear(self) -> None:
        self.epoch += 1
        self._updates = 0
        self.slots = Slots()
        self._known.clear()
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
