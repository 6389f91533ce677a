"""From derived values to verified detections: standardise, detect, verify."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cluster.frame import SeriesKey
from detectors.bank import DetectorBank
from detectors.records import Detection, Scope
from detectors.series import Floats, Ids, SeriesIds
from detectors.settings import DetectSettings
from detectors.standardise import Standardise
from detectors.traits import traits_of
from detectors.verify import Verify

Judged = tuple[SeriesKey, Scope]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The judged ones among some columns: their places, and their ids."""

    places: Ids
    ids: Ids


class Judge:
    """Judges all series of a cell, each against its own baseline.

    `ended` of an update names series whose told shift is over, or is the new normal.
    """

    def __init__(self, cell: str, settings: DetectSettings) -> None:
        self._cell = cell
        self._series = SeriesIds()
        self._known = 0
        self._baselines = Standardise(settings.warmup_samples)
        self._bank = DetectorBank(settings.detectors)
        self._verify = Verify(
            persistence_samples=settings.persistence_samples,
            relearn_seconds=settings.relearn_seconds,
            relearn_bad_seconds=settings.relearn_bad_seconds,
        )
        self._detectors: dict[int, str] = {}

    def columns(self, keys: Sequence[SeriesKey], scope: Scope) -> Columns:
        """Return which of these series are judged; new ones start cold."""
        places = [i for i, key in enumerate(keys) if traits_of(key.metric, scope) is not None]
        ids = self._series.of([(keys[i], scope) for i in places])
        new = [
            (number, traits)
            for number, i in zip(ids.tolist(), places, strict=True)
            if number >= self._known and (traits := traits_of(keys[i].metric, scope)) is not None
        ]
        rows = np.array([number for number, _ in new], dtype=np.intp)
        self._baselines.add(rows, [traits for _, traits in new])
        self._verify.add(rows, [traits.direction for _, traits in new])
        self._known = len(self._series)
        return Columns(places=np.array(places, dtype=np.intp), ids=ids)

    def reset(self, fits: Callable[[SeriesKey], bool], *, active_too: bool) -> list[Judged]:
        """Start series cold; return those whose told shift is forgotten so."""
        numbers = [i for i, key in enumerate(self._series.keys) if fits(key[0])]
        ids = np.array(numbers, dtype=np.intp)
        active = self._verify.is_active(ids)
        chosen = ids if active_too else ids[~active]
        self._cool(chosen)
        return [self._series.keys[i] for i in ids[active].tolist()] if active_too else []

    def update(
        self, columns: Columns, at_ns: int, values: Floats
    ) -> tuple[list[Detection], list[Judged]]:
        """Return shifts that are told now, and the series whose told shift is over."""
        ids = columns.ids
        if not len(ids):
            return [], []
        scaled = self._baselines.scaled(ids, values[columns.places])
        sigmas = self._baselines.sigmas(ids, scaled)
        self._verify.run(ids, at_ns, sigmas, scaled)
        told = self._bank.update(ids, sigmas)
        self._verify.tell(ids, list(told))
        self._detectors.update({int(ids[place]): name for place, name in told.items()})
        levels = self._verify.run_level(ids)
        verdicts = self._verify.verdicts(ids, at_ns, self._baselines.is_effect(ids, levels))
        began = np.flatnonzero(verdicts.began)
        detections = [self._detection(int(ids[i]), at_ns, levels[i]) for i in began]
        for number in self._baselines.learn(ids, scaled, verdicts.quiet).tolist():
            self._bank.warm(number, self._baselines.take_window(number).tolist())
        ended = ids[verdicts.ended | verdicts.settled]
        self._cool(ids[verdicts.settled])
        return detections, [self._series.keys[number] for number in ended.tolist()]

    def _cool(self, ids: Ids) -> None:
        self._baselines.reset(ids)
        self._verify.reset(ids)
        self._bank.drop(ids)

    def _detection(self, number: int, at_ns: int, scaled: float) -> Detection:
        key, scope = self._series.keys[number]
        onset_ns = self._verify.onset_ns(number)
        ids = np.array([number])
        level = self._baselines.level(ids)
        return Detection(
            detection_id=fact_id(self._cell, *key, scope, str(onset_ns)),
            cell=self._cell,
            series=key,
            detector=self._detectors.get(number, ""),
            scope=scope,
            onset_ns=onset_ns,
            detected_ns=at_ns,
            shift_sigmas=float(self._baselines.sigmas(ids, np.array([scaled]))[0]),
            before=float(self._baselines.unscaled(ids, level)[0]),
            after=float(self._baselines.unscaled(ids, np.array([scaled]))[0]),
        )


def fact_id(*parts: str) -> str:
    """Return the same id for the same fact in every process and on every replay."""
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=12).hexdigest()
