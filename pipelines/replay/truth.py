"""What was told of labelled recordings, beside the truth; nothing else opens the labels."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from detectors.score import Score, Told, read_events, score, score_table
from pipelines.replay.report import FileReport

_EVENTS: Final = "events.csv"
_LABELLED: Final = "cisco_mdt"

ToldOf = Callable[[str], list[Told]]


@dataclass(slots=True, kw_only=True)
class Scenario:
    """One labelled folder of recordings, replayed."""

    name: str
    cell: str
    labels: Path
    first_ns: int
    last_ns: int

    def of_it(self, told: Iterable[Told]) -> list[Told]:
        """Return what was told within the time of its recordings."""
        return [each for each in told if self.first_ns <= each.detected_ns <= self.last_ns]


def scenarios(files: Iterable[FileReport]) -> list[Scenario]:
    """Return the folders of router recordings that have an ``events.csv`` beside them."""
    by_folder: dict[Path, list[FileReport]] = defaultdict(list)
    for file in files:
        if file.format == _LABELLED and file.samples:
            by_folder[file.path.absolute().parent].append(file)
    return [
        Scenario(
            name=folder.name,
            cell=its[0].cell,
            labels=folder.parent / _EVENTS,
            first_ns=min(file.first_ns for file in its),
            last_ns=max(file.last_ns for file in its),
        )
        for folder, its in sorted(by_folder.items())
        if (folder.parent / _EVENTS).is_file()
    ]


def beside_truth(found: list[Scenario], *, alerts: ToldOf, detections: ToldOf) -> str:
    """Return a table of events for each scenario, then what comes of all of them together.

    ``alerts`` and ``detections`` return what was told in a cell.
    """
    lines = []
    by_alerts: list[Score] = []
    by_detections: list[Score] = []
    for scenario in found:
        events = read_events(scenario.labels.read_text().splitlines(), scenario.name)
        by_alerts.append(score(events, scenario.of_it(alerts(scenario.cell))))
        by_detections.append(score(events, scenario.of_it(detections(scenario.cell))))
        lines += [f"\n{scenario.name}: alerts beside the truth", score_table(by_alerts[-1])]
    for name, scores in (("alerts", by_alerts), ("detections", by_detections)):
        lines.append(_total(name, scores))
    return "\n".join(lines)


def _total(name: str, scores: list[Score]) -> str:
    found = [each for one in scores for each in one.found]
    hits = sum(each.delay_seconds is not None for each in found)
    on_device = sum(each.on_device for each in found)
    named = sum(bool(each.event.device) for each in found)
    told = sum(one.told for one in scores)
    fitting = sum(one.fitting for one in scores)
    return (
        f"\nall scenarios, {name}: recall {hits} of {len(found)} events, "
        f"the device itself named for {on_device} of {named}, precision {fitting} of {told} told"
    )
