"""Creates topics on any Kafka broker, as often as one likes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.errors import KafkaError, TopicAlreadyExistsError

from pipelines import topics
from pipelines.config.services import BrokerConfig

_LARGEST_SNAPSHOT_BYTES = str(16 * 1024 * 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSpec:
    """A topic as it should be.

    Attributes
    ----------
    replication_factor
        -1 takes the broker's default.
    configs
        Kafka's own topic settings (`cleanup.policy`, `retention.ms`, ...), values as Kafka writes
        them.
    """

    name: str
    partitions: int
    replication_factor: int = 1
    configs: Mapping[str, str] = field(default_factory=dict)


def topic_specs(broker: BrokerConfig) -> list[TopicSpec]:
    """Return every topic as the configuration wants it."""
    retention_ms = str(int(broker.retention_hours * 3_600_000))
    return [
        TopicSpec(
            name=topic,
            partitions=broker.partitions,
            replication_factor=broker.replication,
            configs=_configs(topic, retention_ms),
        )
        for topic in topics.ALL
    ]


def _configs(topic: str, retention_ms: str) -> dict[str, str]:
    if topic in topics.COMPACTED:
        # A snapshot of a large cell's detectors is one message.
        return {"cleanup.policy": "compact", "max.message.bytes": _LARGEST_SNAPSHOT_BYTES}
    return {"cleanup.policy": "delete", "retention.ms": retention_ms}


class TopicMismatchError(Exception):
    """A topic exists with another partition count than asked for.

    Keys would move between partitions if it were changed, so that is left to a person.
    """


def create_topics(
    bootstrap: str | list[str], topics: Iterable[TopicSpec], *, timeout_seconds: float = 30.0
) -> list[str]:
    """Names of the topics that were created; those that exist already are left as they are.

    A topic that another process creates at the same moment counts as existing.

    Raises
    ------
    TopicMismatchError
        One exists with another number of partitions.
    kafka.errors.KafkaError
        The broker is away or refuses.
    """
    specs = list(topics)
    admin = KafkaAdminClient(
        bootstrap_servers=bootstrap, request_timeout_ms=int(timeout_seconds * 1000)
    )
    try:
        existing = set(admin.list_topics())
        created = [s.name for s in specs if s.name not in existing and _create(admin, s)]
        _check_partitions(admin, [s for s in specs if s.name not in created])
    finally:
        admin.close()
    return created


def _create(admin: KafkaAdminClient, spec: TopicSpec) -> bool:
    topic = NewTopic(
        name=spec.name,
        num_partitions=spec.partitions,
        replication_factor=spec.replication_factor,
        topic_configs=dict(spec.configs),
    )
    try:
        admin.create_topics([topic])
    except TopicAlreadyExistsError:
        return False
    return True


def _check_partitions(admin: KafkaAdminClient, specs: list[TopicSpec]) -> None:
    if not specs:
        return
    described = admin.describe_topics([s.name for s in specs])
    counts = {t["name"]: len(t["partitions"]) for t in described if t["error_code"] == 0}
    for spec in specs:
        found = counts.get(spec.name)
        if found is None:
            raise KafkaError(f"topic {spec.name!r} was listed but cannot be described")
        if found != spec.partitions:
            raise TopicMismatchError(
                f"topic {spec.name!r} has {found} partitions, the configuration says "
                f"{spec.partitions}"
            )
