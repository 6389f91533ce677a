"""The whole configuration of a deployment: one TOML file, and the topology beside it."""

from pathlib import Path

from pydantic import Field

from cluster.config import Config
from pipelines.config.act import ActConfig
from pipelines.config.collect import CollectConfig
from pipelines.config.detect import DetectConfig
from pipelines.config.notify import ServeConfig, SilenceConfig, WebhookConfig
from pipelines.config.services import BrokerConfig, DatabaseConfig


class HealthPorts(Config):
    """Loopback ports of ``/healthz``, ``/readyz`` and ``/metrics`` by process."""

    collect: int = 7411
    detect: int = 7412
    act: int = 7413
    record: int = 7414


class DeploymentConfig(Config):
    """A deployment as a whole.

    Attributes
    ----------
    state_dir
        Where logs, tokens made at start and the embedded database live; relative to the
        configuration file.
    topology_file
        The cluster (`cluster.topology.Topology`), relative to the configuration file.
    """

    name: str = Field(default="trimtab", pattern=r"^[A-Za-z0-9_-]+$")
    state_dir: Path = Path(".trimtab")
    topology_file: Path = Path("topology.toml")
    health_ports: HealthPorts = HealthPorts()


class TrimtabConfig(Config):
    """Everything a user writes."""

    deployment: DeploymentConfig = DeploymentConfig()
    broker: BrokerConfig = BrokerConfig()
    database: DatabaseConfig = DatabaseConfig()
    collect: CollectConfig = CollectConfig()
    detect: DetectConfig = DetectConfig()
    act: ActConfig = ActConfig()
    webhooks: tuple[WebhookConfig, ...] = ()
    silences: tuple[SilenceConfig, ...] = ()
    serve: ServeConfig = ServeConfig()
