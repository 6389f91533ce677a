"""The services Trimtab stands on: broker and database."""

from pathlib import Path
from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt, field_validator

from cluster.config import Config


class BrokerConfig(Config):
    """The Kafka broker.

    Attributes
    ----------
    url
        ``embedded`` (a broker is started, memory only) or ``kafka://host:port,host:port``.
    partitions
        Of every topic that Trimtab creates; cells are spread over them.
    replication
        Copies of every topic that Trimtab creates.
    retention_hours
        How long frames stay in Kafka.
    session_timeout_seconds
        After this long without a heartbeat another worker takes over.
    embedded_port
        Loopback port of the embedded broker; 0 picks a free one.
    """

    url: str = "embedded"
    partitions: PositiveInt = 2
    replication: PositiveInt = 1
    retention_hours: PositiveFloat = 24.0
    session_timeout_seconds: PositiveFloat = 6.0
    embedded_port: int = Field(default=0, ge=0, le=65535)

    @field_validator("url")
    @classmethod
    def _is_embedded_or_kafka(cls, url: str) -> str:
        if url != "embedded" and not url.startswith("kafka://"):
            raise ValueError(f"{url!r} is neither 'embedded' nor 'kafka://host:port'")
        return url

    @property
    def bootstrap(self) -> str:
        """``host:port,host:port``, as Kafka clients take it."""
        return self.url.removeprefix("kafka://")


class DatabaseConfig(Config):
    """The ClickHouse database.

    Attributes
    ----------
    url
        ``embedded`` (the engine is started behind its HTTP protocol) or ``http(s)://host:port``.
    engine, cluster
        ``MergeTree`` alone, or ``Replicated`` with the name of a cluster.
    raw_days, ten_second_days, minute_days, hour_days, audit_days
        How long samples, their roll-ups by ten seconds, minute and hour, and alerts, decisions and
        deliveries are kept.
    embedded_port
        Loopback port of the embedded engine; 0 picks a free one.
    """

    url: str = "embedded"
    name: str = Field(default="trimtab", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    username: str = "default"
    password_file: Path | None = None
    engine: Literal["MergeTree", "Replicated"] = "MergeTree"
    cluster: str = ""
    raw_days: PositiveInt = 7
    ten_second_days: PositiveInt = 14
    minute_days: PositiveInt = 90
    hour_days: PositiveInt = 400
    audit_days: PositiveInt = 400
    embedded_port: int = Field(default=0, ge=0, le=65535)

    @field_validator("url")
    @classmethod
    def _is_embedded_or_http(cls, url: str) -> str:
        if url != "embedded" and not url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is neither 'embedded' nor 'http(s)://host:port'")
        return url
