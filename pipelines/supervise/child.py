"""One supervised child: started, watched, started again with back-off."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from pipelines.children import spawn, terminate

log = structlog.get_logger(__name__)

_FIRST_BACKOFF_SECONDS = 0.5
_LONGEST_BACKOFF_SECONDS = 15.0
_HEALTHY_AFTER_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSpec:
    """What a child is.

    Attributes
    ----------
    ready_url
        Answers 200 once the child does its work; empty: it is ready when it runs.
    stop_seconds
        From SIGTERM to SIGKILL.
    fatal_statuses
        Exit statuses that another start cannot mend: a wrong configuration.
    """

    name: str
    argv: Sequence[str]
    log_path: Path
    env: Mapping[str, str] | None = None
    ready_url: str = ""
    stop_seconds: float = 15.0
    fatal_statuses: frozenset[int] = frozenset({2})


@dataclass(slots=True)
class Child:
    """A child process that is kept running; times are seconds of a monotonic clock."""

    spec: ChildSpec
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0
    _started_at: float = 0.0
    _start_after: float = 0.0
    _backoff_seconds: float = field(default=_FIRST_BACKOFF_SECONDS)

    @property
    def pid(self) -> int | None:
        return None if self.process is None else self.process.pid

    def start(self, now: float) -> None:
        self._started_at = now
        self.process = spawn(self.spec.argv, env=self.spec.env, log_path=self.spec.log_path)
        log.info("child started", child=self.spec.name, pid=self.process.pid)

    def watch(self, now: float) -> int | None:
        """Start the child again when it has ended and its back-off is over.

        Returns the exit status at the one call that notices the end, else None.
        """
        if self.process is None:
            if now >= self._start_after:
                self.restarts += 1
                self.start(now)
            return None
        status = self.process.poll()
        if status is None:
            return None
        self.process = None
        self._plan_restart(now)
        log.warning("child ended", child=self.spec.name, status=status)
        return status

    def stop(self) -> None:
        if self.process is not None:
            terminate(self.process, self.spec.stop_seconds)
            self.process = None

    def ask_to_stop(self) -> None:
        """Send SIGTERM and do not wait; ``stop`` waits."""
        if self.process is not None:
            self.process.terminate()

    def start_again(self, now: float) -> None:
        """Start a stopped child at once, without back-off."""
        self.restarts += 1
        self.start(now)

    def _plan_restart(self, now: float) -> None:
        if now - self._started_at >= _HEALTHY_AFTER_SECONDS:
            self._backoff_seconds = _FIRST_BACKOFF_SECONDS
        self._start_after = now + self._backoff_seconds
        self._backoff_seconds = min(2 * self._backoff_seconds, _LONGEST_BACKOFF_SECONDS)
