"""How well alarms fit what is labelled: events, NAB's score, segments. Only here labels count."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

NAB_SCORED_AFTER_SHARE = 0.15
NAB_SCORED_AFTER_MOST = 750
_NAB_FAR = 3.0
_MARGIN_SAMPLES = 5

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Events found in time, missed, and alarms that no event explains."""

    found: int = 0
    missed: int = 0
    false: int = 0
    delays: tuple[int, ...] = ()

    def __add__(self, other: "Events") -> "Events":
        return Events(
            found=self.found + other.found,
            missed=self.missed + other.missed,
            false=self.false + other.false,
            delays=self.delays + other.delays,
        )

    @property
    def precision(self) -> float:
        return self.found / max(self.found + self.false, 1)

    @property
    def recall(self) -> float:
        return self.found / max(self.found + self.missed, 1)

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2.0 * self.precision * self.recall / total if total else 0.0


def spans(labels: Sequence[bool]) -> list[Span]:
    """Return the runs of true labels as [begin, end).

    Examples
    --------
    >>> spans([False, True, True, False, True])
    [(1, 3), (4, 5)]
    """
    edges = [False, *labels, False]
    begins = [i - 1 for i in range(1, len(edges)) if edges[i] and not edges[i - 1]]
    ends = [i - 1 for i in range(1, len(edges)) if not edges[i] and edges[i - 1]]
    return list(zip(begins, ends, strict=True))


def events(true: Sequence[Span], alarms: Sequence[int], *, warmup: int, budget: int) -> Events:
    """Score alarms: one within `budget` samples of an event's begin finds it.

    Later ones are false, also while the event lasts. Events that begin in the warm-up, and what is
    told in it, are left out.
    """
    scored = [i for i in alarms if i >= warmup]
    explained: set[int] = set()
    delays = []
    missed = 0
    for begin, end in true:
        if begin < warmup:
            explained.update(i for i in scored if i <= max(end, begin + budget))
            continue
        hits = [i for i in scored if begin <= i <= begin + budget]
        explained.update(hits)
        if hits:
            delays.append(hits[0] - begin)
        else:
            missed += 1
    return Events(
        found=len(delays),
        missed=missed,
        false=sum(i not in explained for i in scored),
        delays=tuple(delays),
    )


def nab_raw(
    windows: Sequence[Span], alarms: Sequence[int], *, length: int, false: float, miss: float
) -> tuple[float, int]:
    """Return NAB's raw score of one file, and how many windows it has; their ends included."""
    start = min(int(NAB_SCORED_AFTER_SHARE * length), NAB_SCORED_AFTER_MOST)
    scored = [i for i in alarms if i >= start]
    counted = [window for window in windows if window[1] >= start]
    raw = 0.0
    for begin, end in counted:
        inside = [i for i in scored if begin <= i <= end]
        if inside:
            raw += _sigmoid(-(end - inside[0] + 1) / (end - begin + 1)) / _sigmoid(-1.0)
        else:
            raw -= miss
    for i in scored:
        if not any(begin <= i <= end for begin, end in counted):
            raw += false * _nab_outside(counted, i)
    return raw, len(counted)


def nab_score(raw: float, count: int, *, miss: float) -> float:
    """Return the score of all files: 0 tells nothing, 100 tells every window at its begin."""
    return 100.0 * (raw + miss * count) / (count + miss * count) if count else 0.0


def segments_f1(annotations: Mapping[str, Sequence[int]], changes: Sequence[int]) -> float:
    """Return F1 within five samples over all annotators, the begin counted as a change."""
    told = set(changes) | {0}
    true = {who: set(places) | {0} for who, places in annotations.items()}
    everyone = set().union(*true.values())
    precision = len(_matched(everyone, told)) / len(told)
    recall = sum(len(_matched(each, told)) / len(each) for each in true.values()) / len(true)
    return 2.0 * precision * recall / (precision + recall) if precision + recall else 0.0


def cover(annotations: Mapping[str, Sequence[int]], changes: Sequence[int], length: int) -> float:
    """Return how well segments cover the annotated ones, on average over annotators."""
    told = _parts(changes, length)
    return sum(_cover(_parts(each, length), told, length) for each in annotations.values()) / len(
        annotations
    )


def _sigmoid(place: float) -> float:
    return 2.0 / (1.0 + math.exp(5.0 * place)) - 1.0


def _nab_outside(windows: Sequence[Span], i: int) -> float:
    before = [window for window in windows if window[1] < i]
    if not before:
        return -1.0
    begin, end = before[-1]
    place = (i - end) / (end - begin) if end > begin else math.inf
    return -1.0 if place > _NAB_FAR else _sigmoid(place)


def _matched(true: set[int], told: set[int]) -> set[int]:
    left, matched = set(told), set()
    for place in sorted(true):
        near = [(abs(place - each), each) for each in left if abs(place - each) <= _MARGIN_SAMPLES]
        if near:
            matched.add(place)
            left.discard(min(near)[1])
    return matched


def _parts(changes: Sequence[int], length: int) -> list[Span]:
    edges = [0, *sorted({each for each in changes if 0 < each < length}), length]
    return list(pairwise(edges))


def _cover(true: Sequence[Span], told: Sequence[Span], length: int) -> float:
    return sum((end - begin) * _best((begin, end), told) for begin, end in true) / length


def _best(part: Span, told: Sequence[Span]) -> float:
    return max(
        max(0, min(part[1], end) - max(part[0], begin)) / (max(part[1], end) - min(part[0], begin))
        for begin, end in told
    )
