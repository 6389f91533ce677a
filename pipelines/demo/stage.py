"""What the demo runs on: the simulated cluster and a whole Trimtab, kept running."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pipelines.config.load import Loaded
from pipelines.demo.settings import Ports, write_config
from pipelines.supervise.child import ChildSpec
from pipelines.supervise.deployment import Deployment


class DemoFailedError(Exception):
    """The demo could not be carried out; the message says why."""


class Stage:
    """Two children that are kept running: the simulator, and ``trimtab up``."""

    def __init__(self, folder: Path, ports: Ports, *, scenario: str, broker_url: str) -> None:
        self._scenario = scenario
        self._folder = folder
        self._ports = ports
        self._broker_url = broker_url
        self._deployment = Deployment()

    @property
    def inventory_path(self) -> Path:
        return self._folder / "inventory.json"

    @property
    def control_url(self) -> str:
        url: str = json.loads(self.inventory_path.read_text())["control_url"]
        return url

    def start_simulator(self) -> None:
        argv = [sys.executable, "-m", "simulator", "--scenario", self._scenario, "--resume"]
        argv += ["--state-dir", str(self._folder / "simulator")]
        argv += ["--inventory", str(self.inventory_path)]
        argv += ["--job-channel", f"127.0.0.1:{self._ports.job_channel}"]
        log_path = self._log("simulator")
        self._deployment.start(ChildSpec(name="simulator", argv=argv, log_path=log_path))
        self._deployment.until_ready("the simulator", self.inventory_path.exists, log_path.parent)

    def start_trimtab(self) -> Loaded:
        """Configure Trimtab for the running simulator, start all of it, wait until it works."""
        path = write_config(
            self._folder,
            inventory_path=self.inventory_path,
            ports=self._ports,
            broker_url=self._broker_url,
        )
        return self._deployment.start_up(path, log_path=self._log("up"))

    def wait(self, seconds: float, done: Callable[[], bool]) -> bool:
        """Return whether it was done in time; the children are kept running meanwhile."""
        return self._deployment.wait(seconds, done)

    def stop(self) -> None:
        self._deployment.stop()

    def _log(self, name: str) -> Path:
        return self._folder / "logs" / f"{name}.log"
