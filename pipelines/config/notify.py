"""Settings of webhooks and of the console."""

from pathlib import Path
from typing import Literal

from pydantic import Field, PositiveFloat

from cluster.config import Config


class WebhookConfig(Config):
    """An endpoint that is told of alerts and actions.

    Attributes
    ----------
    format
        ``standard``: Standard Webhooks, signed; ``alertmanager``: the body of Alertmanager's
        webhook, version 4, which knows alerts only.
    secret_file
        Holds ``whsec_<base64>``, one a line; during a rotation the first two sign.
    events
        Shell-style patterns of event types: ``degradation.detected``, ``degradation.updated``,
        ``degradation.resolved``, ``telemetry.stale``, ``telemetry.recovered``, ``action.proposed``,
        ``action.approval_requested``, ``action.approved``, ``action.rejected``,
        ``action.expired``, ``action.executing``, ``action.succeeded``, ``action.failed``,
        ``action.rolled_back``, ``breaker.tripped``.
    allow_private
        Loopback, link-local and private addresses are refused unless this is set.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9_-]+$")
    url: str = Field(pattern=r"^https?://")
    format: Literal["standard", "alertmanager"] = "standard"
    secret_file: Path | None = None
    events: tuple[str, ...] = (
        "degradation.detected",
        "degradation.resolved",
        "telemetry.*",
        "action.*",
        "breaker.tripped",
    )
    timeout_seconds: PositiveFloat = 15.0
    allow_private: bool = False


class ServeConfig(Config):
    """The console and HTTP API; whoever has the token may approve, reject and revert."""

    address: str = "127.0.0.1:7400"
    token_file: Path | None = None
