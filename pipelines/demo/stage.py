"""What the demo runs on: the simulated cluster and a whole Trimtab, kept running."""

import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from pipelines.config.load import Loaded, load
from pipelines.demo.settings import Ports, write_config
from pipelines.supervise.child import ChildSpec
from pipelines.supervise.supervisor import Supervisor

_POLL_SECONDS = 0.3
_START_SECONDS = 120.0


class DemoFailedError(Exception):
    """The demo could not be carried out; the message says why."""


class Stage:
    """Two children that are kept running: the simulator, and ``trimtab up``."""

    def __init__(self, folder: Path, ports: Ports, *, broker_url: str) -> None:
        self._folder = folder
        self._ports = ports
        self._broker_url = broker_url
        self._supervisors: list[Supervisor] = []

    @property
    def inventory_path(self) -> Path:
        return self._folder / "inventory.json"

    @property
    def control_url(self) -> str:
        url: str = json.loads(self.inventory_path.read_text())["control_url"]
        return url

    def start_simulator(self) -> None:
        argv = [sys.executable, "-m", "simulator", "--scenario", "first_light", "--resume"]
        argv += ["--state-dir", str(self._folder / "simulator")]
        argv += ["--inventory", str(self.inventory_path)]
        argv += ["--job-channel", f"127.0.0.1:{self._ports.job_channel}"]
        self._supervise(ChildSpec(name="simulator", argv=argv, log_path=self._log("simulator")))
        self._until_ready("the simulator", self.inventory_path.exists)

    def start_trimtab(self) -> Loaded:
        """Configure Trimtab for the running simulator, start all of it, wait until it works."""
        path = write_config(
            self._folder,
            inventory_path=self.inventory_path,
            ports=self._ports,
            broker_url=self._broker_url,
        )
        argv = [sys.executable, "-m", "pipelines.cli.main", "up", "--config", str(path)]
        self._supervise(
            ChildSpec(name="up", argv=argv, log_path=self._log("up"), stop_seconds=40.0)
        )
        loaded = load(path)
        urls = [
            f"http://127.0.0.1:{port}/readyz" for port in (*self._ports.health, self._ports.console)
        ]
        self._until_ready("trimtab up", lambda: all(_answers(url) for url in urls))
        return loaded

    def wait(self, seconds: float, done: Callable[[], bool]) -> bool:
        """Return whether it was done in time; the children are kept running meanwhile."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for supervisor in self._supervisors:
                supervisor.watch()
            if done():
                return True
            time.sleep(_POLL_SECONDS)
        return False

    def stop(self) -> None:
        for supervisor in reversed(self._supervisors):
            supervisor.stop()

    def _supervise(self, spec: ChildSpec) -> None:
        supervisor = Supervisor([spec])
        self._supervisors.append(supervisor)
        supervisor.start()

    def _until_ready(self, what: str, ready: Callable[[], bool]) -> None:
        if not self.wait(_START_SECONDS, ready):
            raise DemoFailedError(
                f"{what} is not ready after {_START_SECONDS:.0f} s; its logs are in {self._folder}"
            )

    def _log(self, name: str) -> Path:
        return self._folder / "logs" / f"{name}.log"


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2.0):  # noqa: S310 - our own loopback URL
            return True
    except OSError:
        return False
