"""Changes on purpose: what an action itself changed must not be told as a degradation."""

import math
from collections.abc import Callable, Iterable

from cluster import component as names
from cluster.frame import SeriesKey
from detectors.evidence import CONGESTION, PORT_RATES, RANK_COMPUTE

WEIGHT = "net_route_next_hop_weight"
MICRO_BATCHES = "train_rank_micro_batches"
CONCURRENCY = "llm_concurrency_limit"
KNOBS = frozenset({WEIGHT, MICRO_BATCHES, CONCURRENCY})

Fits = Callable[[SeriesKey], bool]


class Knobs:
    """Remembers what components were last told to do."""

    def __init__(self) -> None:
        self._settings: dict[SeriesKey, float] = {}

    def changed(self, readings: Iterable[tuple[SeriesKey, float]]) -> set[str]:
        """Return the metrics of the knobs that were turned; a first reading turns nothing."""
        turned = set()
        for key, value in readings:
            if math.isnan(value):
                continue
            if self._settings.setdefault(key, value) != value:
                turned.add(key.metric)
                self._settings[key] = value
        return turned


def moved_by_paths(key: SeriesKey) -> bool:
    """Tell what other weights or source ports move: the traffic of every port of the fabric."""
    return names.kind_of(key.component) == "port" and key.metric in PORT_RATES


def strained_by_paths(key: SeriesKey) -> bool:
    """Tell what fills differently when traffic moves."""
    return names.kind_of(key.component) == "port" and key.metric in CONGESTION


def moved_by_batches(key: SeriesKey) -> bool:
    """Tell what more micro-batches make longer: a rank's own work."""
    return key.metric == RANK_COMPUTE


def moved_by_role(pools: Iterable[str]) -> Fits:
    """Return what tells the series of these pools."""
    chosen = frozenset(pools)
    return lambda key: key.component in chosen


def moved_by_concurrency(key: SeriesKey) -> bool:
    """Tell what changes when engines take more or fewer requests at once."""
    return names.kind_of(key.component) in {"pool", "engine"}
