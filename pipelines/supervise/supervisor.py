"""Keeps a set of children running until it is told to stop."""

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence

from pipelines.errors import ConfigError
from pipelines.supervise.child import Child, ChildSpec


class ChildFailedError(Exception):
    """A child ended in a way that another start cannot mend."""


class Supervisor:
    """Starts children in order, restarts those that end, stops them in reverse.

    Call `watch` a few times a second from the thread that called `start`.
    """

    def __init__(self, specs: Sequence[ChildSpec]) -> None:
        names = [spec.name for spec in specs]
        if len(set(names)) != len(names):
            raise ConfigError(f"two children have one name: {names}")
        self.children = {spec.name: Child(spec) for spec in specs}

    def start(self) -> None:
        for child in self.children.values():
            child.start(time.monotonic())

    def watch(self) -> list[str]:
        """Restart what has ended; return the names of the children whose end was noticed.

        Raises
        ------
        ChildFailedError
            A child ended with a status of its ``fatal_statuses``.
        """
        ended = []
        for name, child in self.children.items():
            status = child.watch(time.monotonic())
            if status is None:
                continue
            ended.append(name)
            if status in child.spec.fatal_statuses:
                raise ChildFailedError(f"{name} cannot run, see {child.spec.log_path}")
        return ended

    def restart(self, names: Sequence[str], *, between: Callable[[], None]) -> None:
        """Stop children, do something that none of them may see, and start them again."""
        children = [self.children[name] for name in names]
        for child in children:
            child.ask_to_stop()
        for child in children:
            child.stop()
        between()
        for child in children:
            child.start_again(time.monotonic())

    def waiting(self) -> dict[str, str]:
        """Return what keeps each child that is not ready from being so."""
        reasons = {}
        for name, child in self.children.items():
            reason = "not running" if child.process is None else _not_ready(child.spec.ready_url)
            if reason:
                reasons[name] = reason
        return reasons

    def stop(self) -> None:
        """Stop every child, the last started first. Safe to call twice."""
        for child in reversed(self.children.values()):
            child.stop()


def _not_ready(url: str) -> str:
    if not url:
        return ""
    try:
        with urllib.request.urlopen(url, timeout=2.0):  # noqa: S310 - our own loopback URL
            return ""
    except urllib.error.HTTPError as error:
        with error:
            return error.read(500).decode(errors="replace").strip() or f"HTTP {error.code}"
    except OSError as error:
        return f"no answer: {error}"
