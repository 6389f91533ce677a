"""The metric catalogue: one table; adding a device is adding rows in ``cluster.metrics``."""

from functools import cache
from typing import NamedTuple

from cluster.metric import Kind, Metric
from cluster.metrics import gpu, network, rdma, serving, training

METRICS = (*network.METRICS, *rdma.METRICS, *gpu.METRICS, *serving.METRICS, *training.METRICS)


class Named(NamedTuple):
    """A metric, and the factor that turns a source's unit into ours."""

    metric: Metric
    scale: float


@cache
def by_name() -> dict[str, Metric]:
    """Return the catalogue by canonical name."""
    return {metric.name: metric for metric in METRICS}


@cache
def by_source(kind: str) -> dict[str, Named]:
    """Return metric and scale by the name that sources of this kind use, e.g. ``dcgm``."""
    return {
        source.name: Named(metric, source.scale)
        for metric in METRICS
        for source in metric.sources.get(kind, ())
    }


def series_metric(name: str) -> Metric | None:
    """Return the catalogue row of a series' metric name, a histogram's parts included.

    Examples
    --------
    >>> series_metric("llm_ttft_seconds_count").name
    'llm_ttft_seconds'
    >>> series_metric("python_info") is None
    True
    """
    metric = by_name().get(name)
    if metric is not None:
        return metric
    base, _, part = name.rpartition("_")
    metric = by_name().get(base)
    if metric is not None and metric.kind is Kind.HISTOGRAM and part in {"sum", "count", "bucket"}:
        return metric
    return None


def rate_name(counter: str) -> str:
    """Return the name of a counter's rate: ``net_if_out_octets_per_second``."""
    return counter.removesuffix("_total") + "_per_second"


def mean_name(histogram: str) -> str:
    """Return the name of a histogram's mean between two readings: ``llm_ttft_seconds_mean``."""
    return histogram + "_mean"
