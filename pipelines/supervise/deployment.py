"""A whole Trimtab, and what it runs against, kept running from within another command."""

import socket
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from pipelines.config.load import Loaded, load
from pipelines.config.running import with_running_services
from pipelines.supervise.child import ChildSpec
from pipelines.supervise.supervisor import ChildFailedError, Supervisor

_POLL_SECONDS = 0.3
_START_SECONDS = 120.0
_STOP_SECONDS = 40.0


class NotReadyError(ChildFailedError):
    """A child runs, or is started again and again, but does not come to do its work."""


class Deployment:
    """Children that are kept running while somebody waits; call it from one thread only."""

    def __init__(self) -> None:
        self._supervisors: list[Supervisor] = []

    def start(self, spec: ChildSpec) -> None:
        supervisor = Supervisor([spec])
        self._supervisors.append(supervisor)
        supervisor.start()

    def start_up(self, config_path: Path, *, log_path: Path) -> Loaded:
        """Run ``trimtab up`` on a configuration and wait until every process of it works.

        Returns the configuration, with the services that were started in it.

        Raises
        ------
        ChildFailedError
            It refuses its configuration, or is not ready in time.
        """
        loaded = load(config_path)
        argv = [sys.executable, "-m", "pipelines.cli.main", "up", "--config", str(config_path)]
        self.start(ChildSpec(name="up", argv=argv, log_path=log_path, stop_seconds=_STOP_SECONDS))
        ports = loaded.config.deployment.health_ports
        addresses = [
            f"127.0.0.1:{port}" for port in (ports.collect, ports.detect, ports.act, ports.record)
        ]
        urls = [f"http://{address}/readyz" for address in (*addresses, loaded.config.serve.address)]
        self.until_ready("trimtab up", lambda: all(_answers(url) for url in urls), log_path.parent)
        return with_running_services(loaded)

    def until_ready(self, what: str, ready: Callable[[], bool], logs: Path) -> None:
        """Wait until a child is ready.

        Raises
        ------
        ChildFailedError
            It ended for good, or is not ready in time; says where the logs are.
        """
        if not self.wait(_START_SECONDS, ready):
            raise NotReadyError(
                f"{what} is not ready after {_START_SECONDS:.0f} s; its logs are in {logs}"
            )

    def watch(self) -> None:
        """Start again what has ended."""
        for supervisor in self._supervisors:
            supervisor.watch()

    def wait(self, seconds: float, done: Callable[[], bool]) -> bool:
        """Return whether it was done in time; the children are kept running meanwhile."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.watch()
            if done():
                return True
            time.sleep(_POLL_SECONDS)
        return False

    def stop(self) -> None:
        """Stop every child, the last started first. Safe to call twice."""
        for supervisor in reversed(self._supervisors):
            supervisor.stop()


def free_ports(count: int) -> list[int]:
    """Return loopback ports that nobody listens on now, all different."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2.0):  # noqa: S310 - our own loopback URL
            return True
    except OSError:
        return False
