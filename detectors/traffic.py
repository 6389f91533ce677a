"""Traffic of a device that topology does not know: moved between its ports, or gone from one.

Where links are not known, a re-hash, a withdrawn route or a port that was shut shows as traffic
that is somewhere else than before. What all ports of a device share is load and says nothing.
"""

from collections import deque
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from cluster import component as names
from cluster.frame import Layout, SeriesKey
from detectors.judge import Judged, fact_id
from detectors.records import Detection, Scope
from detectors.series import Floats, Ids

MOVED = "net_device_traffic_moved_nepers"
CARRIES = "net_if_carries_traffic"
_RATES = frozenset({"net_if_in_octets_per_second", "net_if_out_octets_per_second"})
# "Before" are the values of a port that are older than the newest few, at most this many.
_KEPT = 16
_NEWEST = 3
_LEAST_BEFORE = 6
# Of what the device's busiest port carries: a port with more is in use, with less is idle.
_IN_USE = 0.01
_IDLE = 0.001
_GONE = 0.02
_HALF = 0.5
_NOTHING = 1e-5
_RANK = 3
_PULSE_ROWS = 12
# A port that began or ceased to carry traffic this often lately does so by itself: it flaps.
_FLAPS = 4
_FLAPPING_NS = 3_600_000_000_000
_PEAK_DECAY = 0.999


@dataclass(slots=True)
class _History:
    """Whether a port carries traffic, and when it last began or ceased to."""

    peak: float = 0.0
    carries: bool = False
    turned_ns: deque[int] = field(default_factory=lambda: deque(maxlen=_FLAPS))

    def note(self, at_ns: int, value: float) -> None:
        self.peak = max(value, self.peak * _PEAK_DECAY)
        carries = value > _GONE * self.peak > 0.0
        if carries != self.carries and self.peak > value * _GONE:
            self.turned_ns.append(at_ns)
        self.carries = carries

    def flaps(self, at_ns: int) -> bool:
        turned = self.turned_ns
        return len(turned) == _FLAPS and at_ns - turned[0] <= _FLAPPING_NS


@dataclass(slots=True)
class _Device:
    """Newest values of a device's rates, and what became of them in the rows before."""

    kept: dict[SeriesKey, deque[float]] = field(default_factory=dict)
    fresh: dict[SeriesKey, float] = field(default_factory=dict)
    flips: dict[str, int] = field(default_factory=dict)
    history: dict[str, _History] = field(default_factory=dict)
    rows: int = 0
    last_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A port that ceased to carry traffic, or began to: its rate before and now."""

    port: str
    onset_ns: int
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficRow:
    """One round of a device: how far its traffic moved, and which ports fell idle or came back.

    Attributes
    ----------
    moved
        How far the port ranked third left its usual share, as a logarithm; NaN = not known yet.
    flipped, settled
        Ports that began or ceased to carry traffic in this round; those whose flip is old.
    """

    device: str
    at_ns: int
    moved: float
    flipped: tuple[Flip, ...] = ()
    settled: tuple[str, ...] = ()

    @property
    def key(self) -> SeriesKey:
        return SeriesKey(self.device, MOVED)

    @property
    def values(self) -> Floats:
        return np.array([self.moved])

    def began(self, cell: str) -> list[Detection]:
        """Return what the flips tell; that a port carries nothing is a fact, not a statistic."""
        return [
            Detection(
                detection_id=fact_id(cell, flip.port, CARRIES, str(flip.onset_ns)),
                cell=cell,
                series=SeriesKey(flip.port, CARRIES),
                detector="traffic",
                scope=Scope.SELF,
                onset_ns=flip.onset_ns,
                detected_ns=self.at_ns,
                shift_sigmas=0.0,
                before=flip.before,
                after=flip.after,
            )
            for flip in self.flipped
        ]

    @property
    def ended(self) -> list[Judged]:
        return [(SeriesKey(port, CARRIES), Scope.SELF) for port in self.settled]


class Traffic:
    """Collects the rates of each unknown device's ports into a row a poll."""

    def __init__(self, known: frozenset[str], warmup_samples: int) -> None:
        self._known = known
        self._warmup = warmup_samples
        self._devices: dict[str, _Device] = {}
        self._plans: dict[int, tuple[Ids, tuple[SeriesKey, ...]]] = {}

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_plans": {}}

    def take(self, layout: Layout, at_ns: int, values: Floats) -> list[TrafficRow]:
        """Take one row of derived values in; return the device rows that it completes."""
        places, keys = self._plan(layout)
        rows = []
        for key, value in zip(keys, values[places].tolist(), strict=True):
            if value != value:  # noqa: PLR0124 - not NaN
                continue
            owner = names.owner_of(key.component)
            device = self._devices.setdefault(owner, _Device())
            if key in device.fresh:
                rows.append(_closed(owner, device, at_ns, self._warmup))
            device.fresh[key] = value
            if len(device.fresh) == len(device.kept) and device.fresh.keys() == device.kept.keys():
                rows.append(_closed(owner, device, at_ns, self._warmup))
        return rows

    def _plan(self, layout: Layout) -> tuple[Ids, tuple[SeriesKey, ...]]:
        plan = self._plans.get(layout.layout_id)
        if plan is None:
            found = [
                (i, key)
                for i, key in enumerate(layout.columns)
                if key.metric in _RATES and names.owner_of(key.component) not in self._known
            ]
            places = np.array([i for i, _ in found], dtype=np.intp)
            plan = self._plans[layout.layout_id] = (places, tuple(key for _, key in found))
        return plan


def _closed(owner: str, device: _Device, at_ns: int, warmup: int) -> TrafficRow:
    """Judge the round that is complete, then make it part of what was before."""
    before = {key: _usual(device.kept.get(key)) for key in device.fresh}
    known = {key: usual for key, usual in before.items() if usual is not None}
    busiest = max(known.values(), default=0.0)
    in_use = [key for key, usual in known.items() if usual > _IN_USE * busiest]
    _note_turns(device, at_ns)
    flipped = _flipped(device, known, busiest, in_use)
    warm = device.rows >= warmup
    flipped = tuple(p for p in flipped if warm and not device.history[p].flaps(at_ns))
    settled = _settled(device, flipped)
    flips = tuple(_flip(device, port, known) for port in flipped)
    row = TrafficRow(
        device=f"switch/{owner}",
        at_ns=at_ns,
        moved=_moved(device.fresh, known, in_use),
        flipped=flips,
        settled=settled,
    )
    for key, value in device.fresh.items():
        device.kept.setdefault(key, deque(maxlen=_KEPT)).append(value)
    device.fresh, device.last_ns = {}, at_ns
    device.rows += 1
    return row


def _note_turns(device: _Device, at_ns: int) -> None:
    by_port: dict[str, float] = {}
    for key, value in device.fresh.items():
        by_port[key.component] = max(by_port.get(key.component, 0.0), value)
    for port, value in by_port.items():
        device.history.setdefault(port, _History()).note(at_ns, value)


def _usual(kept: deque[float] | None) -> float | None:
    older = list(kept)[:-_NEWEST] if kept else []
    return median(older) if len(older) >= _LEAST_BEFORE else None


def _moved(
    fresh: dict[SeriesKey, float], known: dict[SeriesKey, float], in_use: list[SeriesKey]
) -> float:
    ratios = {key: float(np.log((fresh[key] + 1.0) / (known[key] + 1.0))) for key in in_use}
    if len(ratios) < _RANK:
        return float("nan")
    shared = median(ratios.values())
    by_port: dict[str, float] = {}
    for key, ratio in ratios.items():
        by_port[key.component] = max(by_port.get(key.component, 0.0), abs(ratio - shared))
    ranked = sorted(by_port.values(), reverse=True)
    return min(ranked[_RANK - 1], 5.0) if len(ranked) >= _RANK else float("nan")


def _flipped(
    device: _Device, known: dict[SeriesKey, float], busiest: float, in_use: list[SeriesKey]
) -> tuple[str, ...]:
    """Return ports that fell idle or came into use; none when half of the device does the same."""
    down = {k.component for k in in_use} - {
        k.component for k in in_use if not _fell(device, k, known[k])
    }
    up = {
        key.component
        for key, usual in known.items()
        if usual < _IDLE * busiest and _rose(device, key, _IN_USE * busiest)
    }
    ports = {key.component for key in known}
    flipped = {port for port in down | up if port not in device.flips}
    return tuple(sorted(flipped)) if 2 * len(flipped) < len(ports) else ()


def _fell(device: _Device, key: SeriesKey, usual: float) -> bool:
    """Tell whether a port carries nothing at all, or next to nothing after a reading that fell."""
    last = device.kept[key][-1]
    low = _GONE if last < _HALF * usual else _NOTHING
    return device.fresh[key] < low * usual


def _rose(device: _Device, key: SeriesKey, least: float) -> bool:
    """Tell whether a port that was idle carries traffic: one reading of bytes is a fact."""
    return device.fresh[key] > least


def _flip(device: _Device, port: str, known: dict[SeriesKey, float]) -> Flip:
    """Return the flip of a port by its busier direction; it began one round ago."""
    keys = [key for key in known if key.component == port]
    return Flip(
        port=port,
        onset_ns=device.last_ns,
        before=max(known[key] for key in keys),
        after=max(device.fresh[key] for key in keys),
    )


def _settled(device: _Device, flipped: tuple[str, ...]) -> tuple[str, ...]:
    device.flips = {port: rows + 1 for port, rows in device.flips.items()}
    settled = tuple(port for port, rows in device.flips.items() if rows > _PULSE_ROWS)
    for port in settled:
        del device.flips[port]
    device.flips |= dict.fromkeys(flipped, 0)
    return settled
