"""A simulator as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.paths import ROOT

_START_SECONDS = 20.0


@dataclass(slots=True)
class Simulator:
    """Starts in ``folder``; no collector answers on its job channel."""

    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def inventory_path(self) -> Path:
        return self.folder / "inventory.json"

    def argv(self, *more: str) -> list[str]:
        return [
            *(sys.executable, "-m", "simulator", "--seed", "3", "--job-channel", "127.0.0.1:9"),
            *("--state-dir", str(self.folder / "state")),
            *("--inventory", str(self.inventory_path)),
            *more,
        ]

    def start(self, *more: str) -> dict[str, Any]:
        """Start, and return the inventory once it is there."""
        self.inventory_path.unlink(missing_ok=True)
        log = (self.folder / "log").open("ab")
        with log:
            self.process = subprocess.Popen(self.argv(*more), cwd=ROOT, stdout=log, stderr=log)
        return self.inventory()

    def inventory(self) -> dict[str, Any]:
        deadline = time.monotonic() + _START_SECONDS
        while not self.inventory_path.exists():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.05)
        told: dict[str, Any] = json.loads(self.inventory_path.read_text())
        return told

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and return how it ended."""
        assert self.process is not None
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.process.wait(timeout=10.0)


def fetch(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=5.0) as answer:
        return json.load(answer)


def password(inventory: dict[str, Any]) -> str:
    return Path(inventory["collect"]["gnmi"][0]["password_file"]).read_text().strip()
