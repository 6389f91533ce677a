"""Settings of deciding and acting."""

from pathlib import Path

from pydantic import PositiveFloat, PositiveInt

from actuators.settings import (
    AdjustBatchConfig,
    EffectConfig,
    GuardConfig,
    ObjectiveConfig,
    ReassignConfig,
    RerouteConfig,
    RuleConfig,
)
from cluster.config import Config

__all__ = [
    "ActConfig",
    "AdjustBatchConfig",
    "EffectConfig",
    "GuardConfig",
    "ObjectiveConfig",
    "ReassignConfig",
    "RerouteConfig",
    "RuleConfig",
    "ServingDriverConfig",
]


class ServingDriverConfig(Config):
    """A service's router, and the token for changing its engines."""

    service: str
    router_url: str
    token_file: Path | None = None
    timeout_seconds: PositiveFloat = 40.0


class ActConfig(GuardConfig):
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
    blast_radius
        Most targets that actions under way in one cell may touch at once.
    approval_expiry_seconds
        After this long a proposal lapses.
    retries
        Of a write that failed for a passing reason.
    """

    objectives: tuple[ObjectiveConfig, ...] = ()
    retries: PositiveInt = 3
    effect: EffectConfig = EffectConfig()
    reroute: RerouteConfig = RerouteConfig()
    reassign: ReassignConfig = ReassignConfig()
    adjust_batch: AdjustBatchConfig = AdjustBatchConfig()
    serving: tuple[ServingDriverConfig, ...] = ()
