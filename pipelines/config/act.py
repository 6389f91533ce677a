"""Settings of deciding and acting."""

from pathlib import Path
from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from actuators.records import ActionKind, Mode
from cluster.config import Config


class RuleConfig(Config):
    """Mode of one kind of action on the targets that match a shell-style pattern; the first that
    fits holds."""

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

    A loss beyond ``worst_loss_ratio`` reverts at once; a gain below ``least_gain_ratio`` is
    neutral.
    """

    settle_seconds: float = Field(default=10.0, ge=0.0)
    window_seconds: PositiveFloat = 60.0
    least_samples: PositiveInt = 5
    least_gain_ratio: PositiveFloat = 0.02
    worst_loss_ratio: PositiveFloat = 0.05


class RerouteConfig(Config):
    """``drained_weight_share``: share of its full weight that a degraded link keeps, 0.0 to 1.0."""

    drained_weight_share: float = Field(default=0.05, ge=0.0, lt=1.0)
    full_weight: PositiveInt = 20
    commit_rollback_seconds: PositiveFloat = 60.0


class ReassignConfig(Config):
    """``drain_seconds``: how long a worker may take to finish what it runs before its role
    changes."""

    least_engines: PositiveInt = 1
    drain_seconds: PositiveFloat = 30.0


class AdjustBatchConfig(Config):
    """Bounds of one step: a limit or a rank's share at most doubles or halves."""

    largest_step_ratio: float = Field(default=2.0, gt=1.0)
    least_concurrency: PositiveInt = 1
    least_micro_batches: PositiveInt = 1


class ServingDriverConfig(Config):
    """A service's router, and the token for changing its engines."""

    service: str
    router_url: str
    token_file: Path | None = None
    timeout_seconds: PositiveFloat = 40.0


class ActConfig(Config):
    """Settings of deciding and acting.

    Attributes
    ----------
    mode
        Of whatever no rule fits.
    enabled
        The kill switch: false stops every action.
    stale_seconds
        No action when the alert's evidence or the objective is older, by the collector's clock.
    cooldown_seconds
        Between two actions on one target.
    actions_per_hour
        Of one cell; beyond it a person is asked.
    approval_expiry_seconds
        After this long a proposal lapses.
    retries
        Of a write that failed for a passing reason.
    """

    mode: Mode = Mode.ADVISE
    enabled: bool = True
    rules: tuple[RuleConfig, ...] = ()
    objectives: tuple[ObjectiveConfig, ...] = ()
    stale_seconds: PositiveFloat = 30.0
    cooldown_seconds: PositiveFloat = 300.0
    actions_per_hour: PositiveInt = 12
    approval_expiry_seconds: PositiveFloat = 900.0
    retries: PositiveInt = 3
    effect: EffectConfig = EffectConfig()
    reroute: RerouteConfig = RerouteConfig()
    reassign: ReassignConfig = ReassignConfig()
    adjust_batch: AdjustBatchConfig = AdjustBatchConfig()
    serving: tuple[ServingDriverConfig, ...] = ()
