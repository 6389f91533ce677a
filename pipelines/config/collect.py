"""What is collected: gNMI targets, scraped endpoints, the job channel."""

from pathlib import Path
from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from cluster.config import Config


class TlsConfig(Config):
    """TLS towards a target; without certificates of our own it is one-sided."""

    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    server_name: str = ""


class GnmiSubscription(Config):
    """One gNMI subscription; every subscription is a stream of its own.

    Attributes
    ----------
    database
        SONiC's database that the paths are in, ``COUNTERS_DB``; sent as the prefix's target.
    """

    paths: tuple[str, ...] = Field(min_length=1)
    mode: Literal["sample", "on_change", "target_defined"] = "sample"
    interval_seconds: PositiveFloat = 10.0
    heartbeat_seconds: PositiveFloat | None = None
    suppress_redundant: bool = False
    origin: str = ""
    database: str = ""


class GnmiTarget(Config):
    """A switch that is subscribed to, and written to where `writable`.

    Attributes
    ----------
    insecure
        Clear text instead of TLS; never fallen back to by itself.
    subscriptions
        Names of tables under ``collect.subscriptions``.
    keepalive_seconds
        A connection that is silent for so long is asked whether it lives. Many targets end one that
        asks more often than every five minutes; a subscription with a heartbeat, or that samples,
        is found dead sooner without.
    encoding
        ``auto``: the first of PROTO, JSON_IETF, JSON that the target's Capabilities name.
    """

    name: str
    address: str
    cell: str
    subscriptions: tuple[str, ...] = Field(min_length=1)
    encoding: Literal["auto", "proto", "json_ietf", "json"] = "auto"
    insecure: bool = False
    keepalive_seconds: PositiveFloat = 310.0
    tls: TlsConfig = TlsConfig()
    username: str = ""
    password_file: Path | None = None
    writable: bool = False


class ScrapeTarget(Config):
    """An endpoint in Prometheus' text form.

    Attributes
    ----------
    component
        What unlabelled series belong to: ``host/h1``, ``engine/chat-0``, ``service/chat``.
    kind
        Whose names it speaks; columns of the catalogue.
    """

    name: str
    url: str
    cell: str
    component: str
    kind: Literal["dcgm", "node_exporter", "vllm", "sglang", "dynamo"]
    interval_seconds: PositiveFloat = 5.0
    timeout_seconds: PositiveFloat = 4.0
    largest_body_bytes: PositiveInt = 32 * 1024 * 1024


class JobChannelConfig(Config):
    """Where jobs announce themselves; ``token_file`` guards what changes a job."""

    address: str = "127.0.0.1:7410"
    token_file: Path | None = None


class CollectConfig(Config):
    """Settings of the collector.

    Attributes
    ----------
    flush_seconds
        Samples of one source that arrive within this window travel in one frame.
    queue_frames
        Frames that wait while Kafka is away; beyond it the oldest are dropped and counted.
    layout_every_frames
        A frame carries its layout when it is new and then every so often.
    """

    flush_seconds: PositiveFloat = 0.5
    queue_frames: PositiveInt = 20_000
    layout_every_frames: PositiveInt = 30
    subscriptions: dict[str, GnmiSubscription] = Field(default_factory=dict)
    gnmi: tuple[GnmiTarget, ...] = ()
    scrape: tuple[ScrapeTarget, ...] = ()
    job_channel: JobChannelConfig = JobChannelConfig()

    @model_validator(mode="after")
    def _subscriptions_exist(self) -> "CollectConfig":
        for target in self.gnmi:
            for name in target.subscriptions:
                if name not in self.subscriptions:
                    raise ValueError(
                        f"gnmi target {target.name!r} names subscription {name!r}, "
                        f"known are {sorted(self.subscriptions)}"
                    )
        return self
