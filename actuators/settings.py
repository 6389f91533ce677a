"""What a user sets of deciding and acting; `pipelines.config.act` holds it in one table."""

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from actuators.records import ActionKind, Mode
from cluster.config import Config


class RuleConfig(Config):
    """Mode of one kind of action on the targets that match a shell-style pattern.

    The first rule that fits holds.
    """

    kind: ActionKind | Literal["*"] = "*"
    target: str = "*"
    mode: Mode


class ObjectiveConfig(Config):
    """What a job or service is tuned for.

    Attributes
    ----------
    component
        ``job/pretrain``, ``service/chat``.
    metric
        ``train_step_seconds``, or ``slo_attainment_ratio`` of a service: the share of requests
        within its TTFT and TPOT limits.
    """

    component: str
    metric: Literal["train_step_seconds", "slo_attainment_ratio"]

    @property
    def better(self) -> Literal["lower", "higher"]:
        return "higher" if self.metric == "slo_attainment_ratio" else "lower"


class EffectConfig(Config):
    """How an action's effect is measured: after ``settle_seconds``, over ``window_seconds``.

    Attributes
    ----------
    least_gain_ratio
        A gain below it is neutral.
    worst_loss_ratio
        A loss beyond it reverts at once.
    slide_seconds
        Span of traffic that one reading of a service's attainment covers.
    steady_ratio, patience_seconds
        The first action on an alert waits until the objective has suffered and moves by less than
        this share of its healthy level, but no longer than the patience: the level before is then
        one that the effect can be held against.
    """

    settle_seconds: float = Field(default=10.0, ge=0.0)
    window_seconds: PositiveFloat = 60.0
    least_samples: PositiveInt = 5
    least_gain_ratio: PositiveFloat = 0.02
    worst_loss_ratio: PositiveFloat = 0.05
    slide_seconds: PositiveFloat = 5.0
    steady_ratio: PositiveFloat = 0.05
    patience_seconds: float = Field(default=30.0, ge=0.0)


class RerouteConfig(Config):
    """How traffic leaves a degraded link, and comes back.

    Attributes
    ----------
    drained_weight_share
        Share of its full weight that a degraded link keeps, 0.0 to 1.0.
    hold_down_seconds
        How long a link must be well before its traffic comes back; doubled for every return
        within the last ``flap_memory_seconds``, which is also the longest hold-down.
    least_placement_gain_ratio
        Announced flows are placed together when a job's step gains at least this much.
    """

    drained_weight_share: float = Field(default=0.05, ge=0.0, lt=1.0)
    full_weight: PositiveInt = 20
    commit_rollback_seconds: PositiveFloat = 60.0
    hold_down_seconds: PositiveFloat = 300.0
    flap_memory_seconds: PositiveFloat = 14_400.0
    least_placement_gain_ratio: float = Field(default=0.02, gt=0.0, lt=1.0)

    @property
    def drained_weight(self) -> int:
        """Weight of a drained link.

        At least 1, so that it still shows its recovery, unless the share is 0.
        """
        if self.drained_weight_share == 0.0:
            return 0
        return max(1, round(self.full_weight * self.drained_weight_share))


class ReassignConfig(Config):
    """Bounds of moving an engine.

    ``drain_seconds``: how long it may take to finish what it runs before its role changes.
    """

    least_engines: PositiveInt = 1
    drain_seconds: PositiveFloat = 30.0


class AdjustBatchConfig(Config):
    """Bounds of one step: a limit or a rank's share at most doubles or halves.

    ``kv_usage_ratio``: share of its KV cache that an engine should use at its limit.
    """

    largest_step_ratio: float = Field(default=2.0, gt=1.0)
    least_concurrency: PositiveInt = 1
    least_micro_batches: PositiveInt = 1
    kv_usage_ratio: float = Field(default=0.9, gt=0.0, lt=1.0)


class GuardConfig(Config):
    """When an action may be taken; the fields of ``[act]`` of the same names."""

    mode: Mode = Mode.ADVISE
    enabled: bool = True
    rules: tuple[RuleConfig, ...] = ()
    stale_seconds: PositiveFloat = 30.0
    cooldown_seconds: PositiveFloat = 300.0
    actions_per_hour: PositiveInt = 12
    blast_radius: PositiveInt = 8
    approval_expiry_seconds: PositiveFloat = 900.0
