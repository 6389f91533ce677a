"""Base of every configuration: frozen, and unknown keys are refused."""

from pydantic import BaseModel, ConfigDict


class Config(BaseModel):
    """What a user writes; unknown keys are errors, values do not change after loading."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
