"""gNMI notifications as readings. Pure: no I/O and no clock, so that replay decodes the same."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from gnmi_pb import gnmi_pb2 as gnmi

from cluster.frame import SeriesKey
from pipelines.collect.checked import COLLISION, REPEATED
from pipelines.collect.device_names import Place, place_of
from pipelines.collect.paths import Steps, is_below, steps_of
from pipelines.collect.source import Reading
from pipelines.collect.values import NO_VALUE, Leaf, leaves

_PATHS_KEPT: Final = 100_000
_NONE: Final[frozenset[Steps]] = frozenset()
_OWN_ONLY: Final[frozenset[Steps]] = frozenset({()})
_UP: Final = frozenset({"UP", "ENABLE", "ENABLED"})


@dataclass(slots=True, kw_only=True)
class Decoded:
    """What a notification said.

    Attributes
    ----------
    time_ns
        Device time; 0 where the device gave none.
    ended
        Series that the device deleted; they end before the readings are taken.
    refused
        Leaves that are no readings, by reason.
    coalesced
        Older values that the device left out because we read too slowly.
    """

    time_ns: int
    readings: list[Reading]
    ended: list[SeriesKey] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    coalesced: int = 0


class NotificationDecoder:
    """Decodes the notifications of one subscription at one switch.

    A path is understood when it is first seen; then its raw bytes are the key. Memory is bounded:
    of paths that are not seen any more at most so many are kept.

    Attributes
    ----------
    on_end
        Called with each path of which series ended.
    on_forget
        Called when paths were forgotten; which ones is not told.
    """

    def __init__(self, switch: str, *, paths_kept: int = _PATHS_KEPT) -> None:
        self.on_end: Callable[[KnownPath], None] = lambda _: None
        self.on_forget: Callable[[], None] = lambda: None
        self._switch = switch
        self._paths_kept = paths_kept
        self._paths: dict[bytes, KnownPath] = {}
        self._older: dict[bytes, KnownPath] = {}
        self._last_prefix: tuple[bytes, Steps] = (b"", ())

    def decode(self, notification: gnmi.Notification) -> Decoded:
        decoded = Decoded(time_ns=notification.timestamp, readings=[])
        prefix = notification.prefix.SerializeToString(deterministic=True)
        deleted = [steps_of(notification.prefix, path) for path in notification.delete]
        decoded.ended = [key for steps in deleted for key in self._end(steps)]
        if not notification.update and not deleted:
            decoded.refused["empty_notification"] += 1
        values: dict[SeriesKey, float] = {}
        for update in notification.update:
            decoded.coalesced += update.duplicates
            path = self._path(prefix, notification.prefix, update.path)
            if path.is_identity:
                decoded.refused["identity"] += 1
                continue
            for leaf in leaves(update, path.leaf_name):
                reason = take_leaf(path.place(leaf), leaf, values)
                if reason:
                    decoded.refused[reason] += 1
        decoded.readings = list(values.items())
        if notification.atomic:
            decoded.ended += self._replaced(steps_of(notification.prefix), values)
        return decoded

    def known_path(self, prefix: bytes, path: bytes) -> "KnownPath":
        """Return what the bytes of a prefix and of a path are.

        Raises
        ------
        google.protobuf.message.DecodeError
            They are no paths.
        """
        prefix_path = gnmi.Path.FromString(prefix)
        canonical = prefix_path.SerializeToString(deterministic=True)
        return self._path(canonical, prefix_path, gnmi.Path.FromString(path))

    def _path(self, prefix: bytes, prefix_path: gnmi.Path, path: gnmi.Path) -> "KnownPath":
        raw = b"%d:%b%b" % (len(prefix), prefix, path.SerializeToString(deterministic=True))
        found = self._paths.get(raw)
        if found is None:
            found = self._older.pop(raw, None)
            if found is None:
                found = KnownPath(self._switch, self._steps(prefix, prefix_path, path))
            self._paths[raw] = found
            if len(self._paths) > self._paths_kept:
                self._older, self._paths = self._paths, {}
                self.on_forget()
        return found

    def _steps(self, prefix: bytes, prefix_path: gnmi.Path, path: gnmi.Path) -> Steps:
        """Return the whole path; what is below one prefix shares its steps."""
        if self._last_prefix[0] != prefix:
            self._last_prefix = (prefix, steps_of(prefix_path))
        return self._last_prefix[1] + steps_of(path)

    def _end(self, ancestor: Steps) -> Iterator[SeriesKey]:
        for paths in (self._paths, self._older):
            for path in paths.values():
                yield from self._told(path, path.end(ancestor))

    def _replaced(self, prefix: Steps, values: Iterable[SeriesKey]) -> list[SeriesKey]:
        """Return the series below an atomic update's prefix that it does not name any more."""
        named = set(values)
        return [key for key in self._end_unnamed(prefix, named) if key not in named]

    def _end_unnamed(self, prefix: Steps, named: set[SeriesKey]) -> Iterator[SeriesKey]:
        for paths in (self._paths, self._older):
            for path in paths.values():
                yield from self._told(path, path.end(prefix, but=named))

    def _told(self, path: "KnownPath", ended: Iterator[SeriesKey]) -> Iterator[SeriesKey]:
        for key in ended:
            self.on_end(path)
            yield key


class KnownPath:
    """A path as a device sends it: where its value, or each leaf of its JSON, belongs."""

    __slots__ = ("_inner", "_live", "_own", "_steps", "_switch", "is_identity", "leaf_name")

    def __init__(self, switch: str, steps: Steps) -> None:
        self._switch = switch
        self._steps = steps
        # Most paths have a value and no JSON; there are a great many.
        self._own: Place | None = None
        self._inner: dict[Steps, Place] | None = None
        self._live: set[Steps] | frozenset[Steps] = _NONE
        self.leaf_name = steps[-1].name if steps else ""
        # ``queue[name=3]/state/name`` says again who it is.
        keyed = [step.keys for step in steps if step.keys]
        self.is_identity = bool(keyed) and self.leaf_name in dict(keyed[-1])

    def place(self, leaf: Leaf) -> Place | None:
        """Return where a leaf belongs; None where it has no value to place."""
        if leaf.refused and not leaf.value:
            return None
        below = leaf.below
        if below not in self._live:
            self._enliven(below)
        return self._place_of(below)

    def end(self, ancestor: Steps, *, but: set[SeriesKey] | None = None) -> Iterator[SeriesKey]:
        """Yield the live series at or below a path; they are not live any more."""
        for below in sorted(self._live):
            key = self._place_of(below).key
            if is_below(_joined(self._steps, below), ancestor) and key not in (but or ()):
                self._live = self._live - {below}
                yield key

    def _enliven(self, below: Steps) -> None:
        if not below and not self._live:
            self._live = _OWN_ONLY
        elif isinstance(self._live, set):
            self._live.add(below)
        else:
            self._live = {*self._live, below}

    def _place_of(self, below: Steps) -> Place:
        if not below:
            if self._own is None:
                self._own = place_of(self._switch, self._steps)
            return self._own
        if self._inner is None:
            self._inner = {}
        place = self._inner.get(below)
        if place is None:
            place = self._inner[below] = place_of(self._switch, _joined(self._steps, below))
        return place


def _joined(steps: Steps, below: Steps) -> Steps:
    """Return a leaf's whole path; a list at the top of JSON names the entries of its own path."""
    if below and not below[0].name and steps:
        last = steps[-1]
        return (*steps[:-1], last._replace(keys=last.keys + below[0].keys), *below[1:])
    return steps + below


def take_leaf(place: Place | None, leaf: Leaf, values: dict[SeriesKey, float]) -> str:
    """Put a leaf's value in its place; return why it is no reading. The last of a path holds."""
    value = leaf.value
    if place is None:
        return leaf.refused
    if isinstance(value, str):
        if not place.is_state or not value:
            return leaf.refused or NO_VALUE
        number = float(value.rpartition(":")[2].upper() in _UP)
    else:
        number = value * place.scale
    before = values.get(place.key)
    values[place.key] = number
    if before is None:
        return ""
    return REPEATED if before == number else COLLISION
