"""Metrics of training jobs, as the information channel carries them."""

from cluster.metric import Bad, Kind, Metric

METRICS = (
    Metric(
        name="train_step_seconds",
        kind=Kind.GAUGE,
        unit="s",
        bad=Bad.UP,
        least_effect_ratio=0.05,
        log=True,
    ),
    Metric(
        name="train_communication_seconds",
        kind=Kind.GAUGE,
        unit="s",
        bad=Bad.UP,
        least_effect_ratio=0.1,
        log=True,
    ),
    Metric(
        name="train_rank_compute_seconds",
        kind=Kind.GAUGE,
        unit="s",
        bad=Bad.UP,
        least_effect_ratio=0.05,
        log=True,
    ),
    Metric(name="train_rank_micro_batches", kind=Kind.STATE, unit="{batch}"),
)
