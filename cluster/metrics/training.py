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
    # By operation and micro-batch; judged among the workers of a step, not by their own history.
    Metric(name="train_rank_micro_batch_seconds", kind=Kind.GAUGE, unit="s"),
    Metric(name="train_stage_imbalance_ratio", kind=Kind.GAUGE, unit="1"),
    Metric(name="train_workload_imbalance_ratio", kind=Kind.GAUGE, unit="1"),
)
