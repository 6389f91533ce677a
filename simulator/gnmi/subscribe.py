"""Subscriptions: which leaves, when, and what is left out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gnmi_pb import gnmi_pb2

from simulator.gnmi.errors import invalid, unimplemented
from simulator.gnmi.paths import Elems, covers, from_message, to_text
from simulator.gnmi.tree import Leaf, LeafValue

SAMPLE, ON_CHANGE, TARGET_DEFINED = (
    gnmi_pb2.SAMPLE,
    gnmi_pb2.ON_CHANGE,
    gnmi_pb2.TARGET_DEFINED,
)
_TARGET_DEFINED_NS = 10 * 10**9
_ORIGINS = ("", "openconfig")

Reading = tuple[Leaf, LeafValue]


def selected(pattern: Elems, leaves: Sequence[Leaf]) -> list[Leaf]:
    """Return the leaves a pattern covers; none where the schema knows it but no instance fits.

    Raises
    ------
    GnmiError
        UNIMPLEMENTED: no leaf of this schema lies there.
    """
    found = [leaf for leaf in leaves if covers(pattern, leaf.path)]
    if not found and not any(covers(pattern, leaf.path, names_only=True) for leaf in leaves):
        raise unimplemented(f"no such path: {to_text(pattern)}")
    return found


def check_origin(*paths: gnmi_pb2.Path) -> None:
    for path in paths:
        if path.origin not in _ORIGINS:
            raise unimplemented(f"origin is {path.origin!r}, not 'openconfig'")


@dataclass(slots=True, kw_only=True)
class Timed:
    """Leaves of a STREAM subscription with one rhythm.

    Attributes
    ----------
    interval_ns
        Of a sample; for ON_CHANGE how often it is looked for changes.
    heartbeat_ns
        After which an unchanged leaf is sent again; 0 never.
    every_time
        Sends what has not changed, too.
    """

    leaves: list[Leaf]
    interval_ns: int
    heartbeat_ns: int
    every_time: bool
    due_ns: int = 0
    beat_ns: int = 0
    last: dict[Elems, LeafValue] = field(default_factory=dict)

    def start(self, now_ns: int) -> list[Reading]:
        """Return the initial values."""
        self.due_ns = now_ns + self.interval_ns
        self.beat_ns = now_ns + self.heartbeat_ns
        readings = [(leaf, leaf.read()) for leaf in self.leaves]
        self.last = {leaf.path: value for leaf, value in readings}
        return present(readings)

    def take(self, now_ns: int) -> list[Reading]:
        """Return what is to be sent now; empty before it is due."""
        if now_ns < self.due_ns:
            return []
        missed = (now_ns - self.due_ns) // self.interval_ns
        self.due_ns += (missed + 1) * self.interval_ns
        readings = [(leaf, leaf.read()) for leaf in self.leaves]
        beat = self.heartbeat_ns > 0 and now_ns >= self.beat_ns
        if beat:
            self.beat_ns += self.heartbeat_ns
        if self.every_time:
            return present(readings)
        changed = [(leaf, value) for leaf, value in readings if value != self.last.get(leaf.path)]
        self.last |= {leaf.path: value for leaf, value in changed}
        return present(readings) if beat else changed


def present(readings: Sequence[Reading]) -> list[Reading]:
    return [(leaf, value) for leaf, value in readings if value is not None]


def timed(
    request: gnmi_pb2.SubscriptionList, leaves: Sequence[Leaf], *, tick_ns: int
) -> list[Timed]:
    """Return a STREAM's subscriptions, TARGET_DEFINED split into what is sampled and what not.

    Raises
    ------
    GnmiError
        INVALID_ARGUMENT: an interval that cannot be kept. UNIMPLEMENTED: see `selected`.
    """
    streams = []
    for subscription in request.subscription:
        check_origin(request.prefix, subscription.path)
        pattern = from_message(request.prefix, subscription.path)
        streams += _rhythms(subscription, selected(pattern, leaves), tick_ns)
    if not streams:
        raise invalid("the list has no subscription")
    return streams


def _rhythms(subscription: gnmi_pb2.Subscription, leaves: list[Leaf], tick_ns: int) -> list[Timed]:
    heartbeat_ns = int(subscription.heartbeat_interval)
    if subscription.mode == SAMPLE:
        interval_ns = int(subscription.sample_interval) or tick_ns
        if interval_ns < tick_ns:
            raise invalid(f"sample_interval is {interval_ns} ns, at least {tick_ns}")
        return [
            Timed(
                leaves=leaves,
                interval_ns=interval_ns,
                heartbeat_ns=heartbeat_ns,
                every_time=not subscription.suppress_redundant,
            )
        ]
    if subscription.mode == TARGET_DEFINED and subscription.sample_interval:
        raise invalid("TARGET_DEFINED takes no sample_interval")
    counting = [leaf for leaf in leaves if leaf.counts and subscription.mode == TARGET_DEFINED]
    changing = [leaf for leaf in leaves if not leaf.counts or subscription.mode == ON_CHANGE]
    return [
        Timed(leaves=changing, interval_ns=tick_ns, heartbeat_ns=heartbeat_ns, every_time=False),
        Timed(
            leaves=counting,
            interval_ns=_TARGET_DEFINED_NS,
            heartbeat_ns=heartbeat_ns,
            every_time=True,
        ),
    ]
