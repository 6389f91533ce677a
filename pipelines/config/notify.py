"""Settings of webhooks, of what silences them, and of the console."""

from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, model_validator

from cluster.config import Config

PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"

WebhookFormat = Literal[
    "standard", "alertmanager", "alertmanager_push", "slack", "pagerduty", "cloudevents"
]
GroupLabel = Literal["cell", "cause", "kind", "owner"]


class WebhookConfig(Config):
    """An endpoint that is told of alerts and actions.

    Attributes
    ----------
    url
        Where to post to. Not needed for ``pagerduty``, nor where ``url_file`` holds it.
    url_file
        Holds the URL where that is itself a secret, as Slack's.
    format
        ``standard``: Standard Webhooks, signed; ``alertmanager``: the body of Alertmanager's
        webhook, version 4; ``alertmanager_push``: alerts for Alertmanager's ``/api/v2/alerts``,
        told again while they last; ``slack``: an incoming webhook; ``pagerduty``: Events API,
        version 2; ``cloudevents``: CloudEvents 1.0 over HTTP, binary mode. Alertmanager's and
        PagerDuty's know alerts only.
    secret_file
        Holds ``whsec_<base64>``, one a line; during a rotation the first two sign. For
        ``pagerduty`` it holds the routing key.
    token_file
        Sent as ``Authorization: Bearer``.
    events
        Shell-style patterns of event types: ``degradation.detected``, ``degradation.updated``,
        ``degradation.resolved``, ``telemetry.stale``, ``telemetry.recovered``, ``action.proposed``,
        ``action.approval_requested``, ``action.approved``, ``action.rejected``,
        ``action.expired``, ``action.executing``, ``action.succeeded``, ``action.failed``,
        ``action.rolled_back``, ``breaker.tripped``.
    group_by
        Alerts that agree in these are told in one message; empty: each is told by itself. ``kind``
        is the component's, ``owner`` the switch or host it belongs to.
    group_wait_seconds, group_interval_seconds
        How long the first message of a group waits for more, and later ones of the same group.
    repeat_seconds
        An alert that still lasts is told again so often; 0: never. An Alertmanager that is pushed
        to is told every minute unless this says otherwise.
    send_resolved
        False: the end of a degradation is not told.
    inhibit
        An alert is held back while one lasts on what it is part of: a switch's holds back those of
        its ports and links, a host's those of its GPUs, NICs and engines.
    allow_private
        Loopback, link-local and private addresses are refused unless this is set.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9_-]+$")
    url: str = Field(default="", pattern=r"^(https?://.*)?$")
    url_file: Path | None = None
    format: WebhookFormat = "standard"
    secret_file: Path | None = None
    token_file: Path | None = None
    events: tuple[str, ...] = (
        "degradation.detected",
        "degradation.resolved",
        "telemetry.*",
        "action.*",
        "breaker.tripped",
    )
    group_by: tuple[GroupLabel, ...] = ()
    group_wait_seconds: NonNegativeFloat = 30.0
    group_interval_seconds: NonNegativeFloat = 300.0
    repeat_seconds: NonNegativeFloat = 0.0
    send_resolved: bool = True
    inhibit: bool = True
    timeout_seconds: PositiveFloat = 15.0
    allow_private: bool = False

    @model_validator(mode="after")
    def _has_one_url(self) -> "WebhookConfig":
        if self.url and self.url_file is not None:
            raise ValueError("both url and url_file are given, one is enough")
        if not self.url and self.url_file is None and self.format != "pagerduty":
            raise ValueError("neither url nor url_file is given")
        if self.group_by and self.format == "pagerduty":
            raise ValueError("group_by does not fit format 'pagerduty': it groups by itself")
        return self

    @property
    def repeats_after_seconds(self) -> float:
        """How often a lasting alert is told again; 0: never."""
        pushed = self.format == "alertmanager_push"
        return self.repeat_seconds or (60.0 if pushed else 0.0)


class SilenceConfig(Config):
    """Alerts that fit are told to nobody for a while; they are still recorded and acted on.

    Attributes
    ----------
    component, cause, cell
        Shell-style patterns; all must fit.
    starts, ends
        With time zone, ``2026-12-01T08:00:00Z``. What still lasts afterwards is told then.
    why
        Kept in the delivery log.
    """

    component: str = "*"
    cause: str = "*"
    cell: str = "*"
    starts: datetime | None = None
    ends: datetime
    why: str = ""

    @model_validator(mode="after")
    def _times_have_zones(self) -> "SilenceConfig":
        if any(t is not None and t.tzinfo is None for t in (self.starts, self.ends)):
            raise ValueError("times of a silence need a time zone, as in 2026-12-01T08:00:00Z")
        return self


class ServeConfig(Config):
    """The console and HTTP API; whoever has the token may approve, reject and revert."""

    address: str = "127.0.0.1:7400"
    token_file: Path | None = None
