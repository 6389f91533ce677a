"""A demo run whose processes are killed on the way."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.processes import descendants, pid_of

_RECOVERY_SECONDS = 90.0
_POLL_SECONDS = 0.1
_STOP_SECONDS = 90.0
TABLE_SHOWN = "everything keeps running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """When the demo has said ``after`` the ``nth`` time, and some seconds on, kill a process."""

    name: str
    after: str
    nth: int = 1
    seconds: float = 0.0


@dataclass(slots=True)
class Rehearsal:
    """One demo; use it as a context manager, which leaves no process of it."""

    folder: Path
    arguments: Sequence[str]
    lines: list[str] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)
    kills: list[str] = field(default_factory=list)
    _process: subprocess.Popen[str] | None = None
    _told: queue.Queue[str | None] = field(default_factory=queue.Queue)
    _started_at: float = 0.0

    def __enter__(self) -> "Rehearsal":
        argv = [sys.executable, "-m", "pipelines.cli.main", "demo", "--serve"]
        self._process = subprocess.Popen(
            [*argv, "--folder", str(self.folder), *self.arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._started_at = time.monotonic()
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            self._process.kill()  # its children end with it
        self._process.wait(10.0)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def config(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "trimtab.toml").read_text())

    def play(self, kills: Sequence[Kill], *, timeout_seconds: float) -> None:
        """Kill as planned, one after the other, until the demo shows its table."""
        deadline = time.monotonic() + timeout_seconds
        for kill in kills:
            self._until(kill, deadline)
            time.sleep(kill.seconds)
            self._carry_out(kill)
        self._until(Kill(name="", after=TABLE_SHOWN), deadline)

    def interrupt(self) -> int:
        """Press Ctrl-C; return the exit status."""
        assert self._process is not None
        self.pids |= set(descendants(self.pid))
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(_STOP_SECONDS)

    def _until(self, kill: Kill, deadline: float) -> None:
        while sum(re.search(kill.after, line) is not None for line in self.lines) < kill.nth:
            line = self._told.get(timeout=max(0.0, deadline - time.monotonic()))
            assert line is not None, f"the demo ended before {kill}\n" + "\n".join(self.lines)
            self.lines.append(line)
            is_over = TABLE_SHOWN in line and kill.after != TABLE_SHOWN
            assert not is_over, f"the demo is over, and this never came: {kill}"

    def _carry_out(self, kill: Kill) -> None:
        self.pids |= set(descendants(self.pid))
        killed = pid_of(kill.name, self.pid)
        assert killed is not None, f"{kill.name} does not run"
        at = time.monotonic()
        os.kill(killed, signal.SIGKILL)
        while not self._is_back(kill.name, killed):
            assert time.monotonic() < at + _RECOVERY_SECONDS, f"{kill.name} does not come back"
            time.sleep(_POLL_SECONDS)
        told = (
            f"[{at - self._started_at:5.0f} s] kill -9 {kill.name} (pid {killed}), everything "
            f"ready again after {time.monotonic() - at:.1f} s"
        )
        self.kills.append(told)
        _show(told)

    def _is_back(self, name: str, killed: int) -> bool:
        return pid_of(name, self.pid) not in {None, killed} and all(map(_answers, self._urls()))

    def _urls(self) -> list[str]:
        config = self.config
        ports = config["deployment"]["health_ports"].values()
        ready = [f"127.0.0.1:{port}" for port in ports] + [config["serve"]["address"]]
        scraped = [target["url"] for target in config["collect"]["scrape"]]
        database = f"http://127.0.0.1:{config['database']['embedded_port']}/ping"
        return [f"http://{address}/readyz" for address in ready] + [database, scraped[0]]

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                _show(line.rstrip())
                self._told.put(line.rstrip())
        self._told.put(None)


def _show(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2.0):
            return True
    except OSError:
        return False
