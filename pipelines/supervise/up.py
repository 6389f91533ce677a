"""``trimtab up``: every process of one configuration, and the embedded services it asks for."""

import os
import signal
import socket
import sys
import threading
import types
from pathlib import Path

import structlog

from pipelines.config.load import BROKER_URL, DATABASE_URL, Loaded
from pipelines.config.running import Services, write_services
from pipelines.embedded.broker import EmbeddedBroker, start_broker
from pipelines.supervise.alone import alone_in
from pipelines.supervise.child import ChildSpec
from pipelines.supervise.supervisor import Supervisor
from pipelines.topics_admin import create_topics, topic_specs

log = structlog.get_logger(__name__)

_WATCH_SECONDS = 0.25
_DATABASE = "database"
# They remember offsets of the broker; an emptied broker counts from 0 again.
_CONSUMERS = ("detect", "act", "record")


class Up:
    """One machine's deployment, from its embedded services to its console."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._stop = threading.Event()
        self._broker: EmbeddedBroker | None = None
        self._broker_port = loaded.config.broker.embedded_port or _free_port()
        self._database_port = loaded.config.database.embedded_port or _free_port()

    def run(self) -> None:
        """Run until SIGTERM or SIGINT.

        Raises
        ------
        ChildFailedError
            A process refuses its configuration.
        ConfigError
            Another one runs on the same ``state_dir``.
        """
        with alone_in(self._loaded.state_dir):
            self._run()

    def _run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told_to_stop)
        if self._broker_is_embedded:
            self._start_broker()
        services = self._services()
        supervisor = Supervisor(self._specs(services))
        try:
            write_services(self._loaded.state_dir, services)
            create_topics(
                services.broker_url.removeprefix("kafka://"),
                topic_specs(self._loaded.config.broker),
            )
            supervisor.start()
            while not self._stop.wait(_WATCH_SECONDS):
                self._watch_broker(supervisor)
                supervisor.watch()
        finally:
            supervisor.stop()
            if self._broker is not None:
                self._broker.stop()
        log.info("stopped")

    @property
    def _broker_is_embedded(self) -> bool:
        return self._loaded.config.broker.url == "embedded"

    def _told_to_stop(self, _number: int, _frame: types.FrameType | None) -> None:
        self._stop.set()

    def _start_broker(self) -> None:
        self._broker = start_broker(port=self._broker_port, log_path=self._log_path("broker"))
        log.info("broker started", bootstrap=self._broker.bootstrap)

    def _start_empty_broker(self) -> None:
        self._start_broker()
        bootstrap = f"127.0.0.1:{self._broker_port}"
        create_topics(bootstrap, topic_specs(self._loaded.config.broker))

    def _watch_broker(self, supervisor: Supervisor) -> None:
        if self._broker is None or self._broker.process.poll() is None:
            return
        log.error("embedded broker ended, what it held is lost", status=self._broker.process.poll())
        # A member of the lost group that finds the new broker before it ends would stay in the
        # way of those that follow: the broker waits for it.
        supervisor.restart(_CONSUMERS, between=self._start_empty_broker)

    def _services(self) -> Services:
        config = self._loaded.config
        embedded_broker = f"kafka://127.0.0.1:{self._broker_port}"
        embedded_database = f"http://127.0.0.1:{self._database_port}"
        return Services(
            broker_url=embedded_broker if self._broker_is_embedded else config.broker.url,
            database_url=(
                embedded_database if config.database.url == "embedded" else config.database.url
            ),
        )

    def _specs(self, services: Services) -> list[ChildSpec]:
        env = os.environ | {
            BROKER_URL: services.broker_url,
            DATABASE_URL: services.database_url,
            # One sample goes through many small steps: threads of the numeric libraries only cost.
            "OMP_NUM_THREADS": "1",
        }
        specs = [self._process(name, env) for name in ("collect", "detect", "act", "record")]
        specs.append(self._process("serve", env))
        if self._loaded.config.database.url == "embedded":
            specs.insert(0, self._database(services))
        return specs

    def _process(self, name: str, env: dict[str, str]) -> ChildSpec:
        argv = [sys.executable, "-m", "pipelines.cli.main", name]
        ready = self._loaded.config.serve.address
        if name != "serve":
            ready = f"127.0.0.1:{getattr(self._loaded.config.deployment.health_ports, name)}"
        return ChildSpec(
            name=name,
            argv=[*argv, "--config", str(self._loaded.path)],
            env=env,
            log_path=self._log_path(name),
            ready_url=f"http://{ready}/readyz",
        )

    def _database(self, services: Services) -> ChildSpec:
        argv = [sys.executable, "-m", "pipelines.embedded.clickhouse"]
        argv += ["--port", str(self._database_port), "--data", str(self._loaded.state_dir / "data")]
        return ChildSpec(
            name=_DATABASE,
            argv=argv,
            log_path=self._log_path(_DATABASE),
            ready_url=f"{services.database_url}/ping",
            # The lock of a killed engine is free again a moment later.
            fatal_statuses=frozenset(),
        )

    def _log_path(self, name: str) -> Path:
        return self._loaded.state_dir / "logs" / f"{name}.log"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
