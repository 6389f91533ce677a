"""How well detections or alerts fit what is known to have happened."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from cluster import component as names
from detectors.records import Alert, AlertState, Detection

_EARLY_SECONDS = 10.0
_WITHIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Something that was done to a cluster, to be detected.

    ``device`` is empty where it was not one device.
    """

    at_ns: int
    event: str
    device: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a detector told: where, and device times of onset and telling."""

    component: str
    onset_ns: int
    detected_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An event, and the first thing told of it; ``delay_seconds`` is None when nothing was."""

    event: Labelled
    delay_seconds: float | None
    on_device: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Recall over events, precision over what was told.

    Attributes
    ----------
    told, fitting
        How much was told, and how much of it fits an event.
    """

    found: tuple[Found, ...]
    told: int
    fitting: int

    @property
    def recall(self) -> float | None:
        """Share of events that were told of; None without events."""
        hits = sum(each.delay_seconds is not None for each in self.found)
        return hits / len(self.found) if self.found else None

    @property
    def precision(self) -> float | None:
        """Share of what was told that fits an event; None when nothing was told."""
        return self.fitting / self.told if self.told else None

    @property
    def median_delay_seconds(self) -> float | None:
        delays = [each.delay_seconds for each in self.found if each.delay_seconds is not None]
        return median(delays) if delays else None


def read_events(lines: Iterable[str], scenario: str) -> list[Labelled]:
    """Return the injected changes of one scenario from rows of ``events.csv``."""
    return [
        Labelled(
            at_ns=round(float(row["timestamp"]) * 1e9), event=row["event"], device=row["device"]
        )
        for row in csv.DictReader(lines)
        if row["scenario"] == scenario and row["is_injected_change"] == "True"
    ]


def told_by_alerts(alerts: Iterable[Alert]) -> list[Told]:
    """Return what was opened; revisions and resolutions tell nothing new."""
    return [
        Told(component=a.component, onset_ns=a.onset_ns, detected_ns=a.detected_ns)
        for a in alerts
        if a.state is AlertState.OPENED
    ]


def told_by_detections(detections: Iterable[Detection]) -> list[Told]:
    return [
        Told(component=d.series.component, onset_ns=d.onset_ns, detected_ns=d.detected_ns)
        for d in detections
    ]


def score(
    events: Sequence[Labelled], told: Sequence[Told], *, within_seconds: float = _WITHIN_SECONDS
) -> Score:
    """Match what was told with events: told within the time after one (onset up to 10 s before).

    One thing told may fit several events that lie close together; each counts as found.
    """
    found = []
    fitting: set[int] = set()
    for event in events:
        hits = [i for i, each in enumerate(told) if _fits(event, each, within_seconds)]
        fitting.update(hits)
        first = min((told[i].detected_ns for i in hits), default=None)
        found.append(
            Found(
                event=event,
                delay_seconds=None if first is None else (first - event.at_ns) / 1e9,
                on_device=any(names.owner_of(told[i].component) == event.device for i in hits),
            )
        )
    return Score(found=tuple(found), told=len(told), fitting=len(fitting))


def score_table(result: Score) -> str:
    """Return the score as text: a line an event, then the totals."""
    lines = [f"{'event':<24}{'device':<12}{'told after':>12}  on the device"]
    for each in result.found:
        late = "missed" if each.delay_seconds is None else f"{each.delay_seconds:.1f} s"
        device = each.event.device or "-"
        lines.append(f"{each.event.event:<24}{device:<12}{late:>12}  {_yes(each.on_device)}")
    lines.append(
        f"recall {_share(result.recall)} of {len(result.found)} events, "
        f"precision {_share(result.precision)} of {result.told} told, "
        f"median delay {_seconds(result.median_delay_seconds)}"
    )
    return "\n".join(lines)


def _fits(event: Labelled, told: Told, within_seconds: float) -> bool:
    after = (told.detected_ns - event.at_ns) / 1e9
    onset = (told.onset_ns - event.at_ns) / 1e9
    return onset >= -_EARLY_SECONDS and 0.0 <= after <= within_seconds


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"
