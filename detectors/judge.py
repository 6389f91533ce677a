"""From derived values to verified detections: standardise, detect, verify."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cluster.frame import SeriesKey
from detectors.bank import DetectorBank
from detectors.false_alarms import Assurance, Evidence
from detectors.records import Detection, Scope
from detectors.series import Floats, Ids, Rows, SeriesIds
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
    rows: Rows


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
        self._evidence = Evidence()
        self._limit = settings.false_alarms_per_day

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
        self._bank.add(rows)
        self._evidence.add(rows)
        self._known = len(self._series)
        return Columns(places=np.array(places, dtype=np.intp), ids=ids, rows=Rows(ids))

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
        ids, rows = columns.ids, columns.rows
        if not len(ids):
            return [], []
        scaled = self._baselines.scaled(rows, values[columns.places])
        sigmas = self._baselines.sigmas(rows, scaled)
        self._verify.run(rows, at_ns, sigmas, scaled)
        self._evidence.take(ids, at_ns, sigmas)
        told = self._bank.update(rows, sigmas)
        self._verify.tell(ids[list(told)])
        self._detectors.update({int(ids[place]): name for place, name in told.items()})
        levels = self._verify.run_level(rows)
        verdicts = self._verify.verdicts(
            rows, at_ns, self._baselines.is_effect(rows, levels), strong=self._is_strong(rows)
        )
        began = np.flatnonzero(verdicts.began)
        detections = [self._detection(int(ids[i]), at_ns, levels[i]) for i in began]
        warm = self._baselines.learn(rows, scaled, verdicts.quiet)
        if len(warm):
            self._bank.warm(warm, self._baselines.take_windows(warm))
        ended = ids[verdicts.ended | verdicts.settled]
        self._cool(ids[verdicts.settled])
        return detections, [self._series.keys[number] for number in ended.tolist()]

    def assurance(self, active: Iterable[Judged]) -> Assurance:
        """Return how sure the shifts are that stand; what is judged elsewhere is a fact."""
        numbers = {key: n for key in active if (n := self._series.find(key)) is not None}
        ids = np.array(list(numbers.values()), dtype=np.intp)
        return Assurance(
            log_evidence=dict(
                zip(numbers, self._evidence.largest_of(ids).tolist(), strict=True),
            ),
            judged_a_day=self._evidence.judged_a_day,
            false_alarms_per_day=self._limit,
        )

    def _is_strong(self, rows: Rows) -> NDArray[np.bool_]:
        log_evidence = self._evidence.log_of(rows.ids, self._verify.directions(rows))
        return np.asarray(log_evidence >= self.log_limit)

    @property
    def log_limit(self) -> float:
        """Evidence that one series alone must have, for the cell's limit of false alarms a day."""
        return float(np.log(max(self._evidence.judged_a_day, 1.0) / self._limit))

    def _cool(self, ids: Ids) -> None:
        self._evidence.reset(ids)
        self._baselines.reset(ids)
        self._verify.reset(ids)

    def _detection(self, number: int, at_ns: int, scaled: float) -> Detection:
        key, scope = self._series.keys[number]
        onset_ns = self._verify.onset_ns(number)
        row = Rows(np.array([number]))
        return Detection(
            detection_id=fact_id(self._cell, *key, scope, str(onset_ns)),
            cell=self._cell,
            series=key,
            detector=self._detectors.get(number, ""),
            scope=scope,
            onset_ns=onset_ns,
            detected_ns=at_ns,
            shift_sigmas=float(self._baselines.sigmas(row, np.array([scaled]))[0]),
            before=self._baselines.unscaled(number, self._baselines.level(number)),
            after=self._baselines.unscaled(number, float(scaled)),
        )


def fact_id(*parts: str) -> str:
    """Return the same id for the same fact in every process and on every replay."""
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=12).hexdigest()
