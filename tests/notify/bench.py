"""A notifier on a real broker with one endpoint."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from kafka import KafkaProducer

from cluster.topology import Switch, Topology
from pipelines.agents.record_consumer import open_consumer
from pipelines.config.notify import SilenceConfig, WebhookConfig
from pipelines.config.services import BrokerConfig
from pipelines.embedded.broker import EmbeddedBroker
from pipelines.notify.endpoint import Endpoint, Secrets
from pipelines.notify.gate import Containers, Gate
from pipelines.notify.notifier import Notifier
from pipelines.notify.signing import read_keys
from tests.notify.conftest import Deliveries, Receiver, SteppedClock

KEYS = read_keys("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
TOPOLOGY = Topology(switches=(Switch(name="leaf1", cell="pod1", tier=1),))


def open_endpoint(config: WebhookConfig, clock: SteppedClock) -> Endpoint:
    secrets = Secrets(url=config.url, keys=KEYS, routing_key="R0", token="t0")
    return Endpoint(config, secrets, clock)


@dataclass
class Bench:
    broker: EmbeddedBroker
    receiver: Receiver
    clock: SteppedClock
    deliveries: Deliveries

    def notifier(
        self,
        earlier: Mapping[str, tuple[str, int]] | None = None,
        silences: tuple[SilenceConfig, ...] = (),
        group: str = "test-notify",
        **webhook: object,
    ) -> Notifier:
        settings = {"name": "ops", "url": self.receiver.url, "allow_private": True} | webhook
        config = BrokerConfig(url=f"kafka://{self.broker.bootstrap}", session_timeout_seconds=1.5)
        return Notifier(
            consumer=open_consumer(config, group=group),
            endpoints=[open_endpoint(WebhookConfig.model_validate(settings), self.clock)],
            sink=self.deliveries,
            clock=self.clock,
            random=Random(1),
            gate=Gate(containers=Containers(TOPOLOGY), silences=silences),
            earlier=earlier or {},
        )

    def send(self, topic: str, *values: bytes) -> None:
        producer = KafkaProducer(bootstrap_servers=self.broker.bootstrap, acks="all")
        for value in values:
            producer.send(topic, key=b"pod1", value=value)
        producer.flush()
        producer.close()

    async def until(self, notifier: Notifier, reached: Callable[[], bool]) -> None:
        for _ in range(200):
            await notifier.round()
            if reached():
                return
        raise AssertionError("not reached")
