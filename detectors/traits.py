"""What the catalogue says about judging a derived series, as numbers."""

import math
from functools import cache
from typing import NamedTuple

from cluster.catalogue import METRICS, by_name, mean_name, rate_name
from cluster.metric import Bad, Kind, Metric
from detectors.records import Scope

# Least change worth telling where the level is near zero and a ratio says nothing: by unit.
_LEAST_GAUGE = {"{request}": 4.0, "1": 0.05, "Np": 0.25, "Cel": 5.0, "dBm": 1.0, "dB": 2.0}
_LEAST_RATE = {"s": 0.01, "By": 1000.0}
_LEAST_ERROR_RATE = 0.1
_LEAST_STATE = 0.5
# Added before the logarithm, so that a zero stays a number; far below any healthy level.
_LOG_ZERO = {"s": 1e-6, "1": 1e-15}
_LOG_ZERO_RATE = 1.0
_LEAST_PEER_RATIO = 0.05


class Traits(NamedTuple):
    """How one series is judged.

    Attributes
    ----------
    log_zero
        What is added before the logarithm; NaN = judged on the linear scale.
    least_ratio, least_absolute
        Change worth telling, relative and in the metric's unit; both must be reached.
    direction
        +1 up is bad, -1 down is bad, 0 both are.
    """

    log_zero: float
    least_ratio: float
    least_absolute: float
    direction: int

    @property
    def is_log(self) -> bool:
        return not math.isnan(self.log_zero)


@cache
def derived_metrics() -> dict[str, Metric]:
    """Return the catalogue row by the name of its derived series."""
    names = dict(by_name())
    for metric in METRICS:
        if metric.kind is Kind.COUNTER:
            names[rate_name(metric.name)] = metric
        elif metric.kind is Kind.HISTOGRAM:
            names[mean_name(metric.name)] = metric
    return names


@cache
def traits_of(name: str, scope: Scope) -> Traits | None:
    """Return how a derived series is judged; None when it accuses nobody.

    Peer series are ratios to the peers' median and so always on the logarithmic scale.
    """
    metric = derived_metrics().get(name)
    if metric is None or metric.bad is Bad.NONE:
        return None
    direction = {Bad.UP: 1, Bad.DOWN: -1, Bad.BOTH: 0}[metric.bad]
    if scope is Scope.PEERS:
        least = metric.least_peer_ratio or max(metric.least_effect_ratio, _LEAST_PEER_RATIO)
        return Traits(1e-9, least, 0.0, direction)
    if metric.log:
        rate = metric.kind is Kind.COUNTER
        zero = _LOG_ZERO_RATE if rate else _LOG_ZERO.get(metric.unit, 1e-9)
        return Traits(zero, metric.least_effect_ratio, 0.0, direction)
    return Traits(math.nan, metric.least_effect_ratio, _least_absolute(metric), direction)


def _least_absolute(metric: Metric) -> float:
    if metric.kind is Kind.STATE:
        return _LEAST_STATE
    if metric.kind is Kind.COUNTER:
        return _LEAST_RATE.get(metric.unit, _LEAST_ERROR_RATE)
    return _LEAST_GAUGE.get(metric.unit, 0.0)
