"""Network namespaces by name: made, entered by a thread, and removed when their maker is gone."""

import os
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

try:
    from pyroute2 import netns
except ImportError:  # the extra ``lab`` is not installed: see `why_not`
    netns = None

T = TypeVar("T")

PREFIX: Final = "trimtab"
RTMGRP_LINK: Final = 1
_NAME: Final = re.compile(rf"^{PREFIX}-(\d+)-(\d+)-")
_RUN: Final = Path("/run/netns")
_START_FIELD: Final = 19  # of /proc/PID/stat, counted behind the command's closing parenthesis


def name_of(device: str, pid: int | None = None) -> str:
    """Return ``trimtab-<pid>-<start>-<device>``: who made it, and when that process started."""
    owner = os.getpid() if pid is None else pid
    return f"{PREFIX}-{owner}-{_started(owner)}-{device}"


def why_not() -> str:
    """Return why namespaces cannot be made here; empty where they can."""
    if netns is None:
        return "network namespaces cannot be made: pyroute2 is not installed, see the extra 'lab'"
    name = name_of("probe")
    try:
        netns.create(name)
    except (OSError, AttributeError, TypeError) as error:
        return f"network namespaces cannot be made: {error}"
    try:
        _check_inside(name)
    except OSError as error:
        return f"network namespaces cannot be entered or set up: {error}"
    finally:
        netns.remove(name)
    return ""


def _check_inside(name: str) -> None:
    def forward() -> None:
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        Path("/proc/sys/net/ipv4/fib_multipath_hash_policy").write_text("1")

    inside(name, forward)


def make(name: str) -> None:
    netns.create(name)


def remove(name: str) -> None:
    """Remove a namespace; one that is gone already is no fault."""
    try:
        netns.remove(name)
    except FileNotFoundError:
        return


def clean() -> list[str]:
    """Remove what processes that no longer run have left behind; return the names."""
    left = [path.name for path in sorted(_RUN.glob(f"{PREFIX}-*")) if not _is_owned(path.name)]
    for name in left:
        remove(name)
    return left


def inside(name: str, work: Callable[[], T]) -> T:
    """Return what ``work`` returns in a thread of its own within the namespace.

    Raises
    ------
    OSError
        The namespace cannot be entered, or ``work`` failed.
    """
    results: list[T] = []
    faults: list[Exception] = []

    def run() -> None:
        try:
            netns.setns(name)
            results.append(work())
        except Exception as error:  # noqa: BLE001 - told to the caller
            faults.append(error)

    thread = threading.Thread(target=run, name=f"in {name}")
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return results[0]


def netlink(name: str, *, groups: int = 0) -> socket.socket:
    """Return a routing socket of the namespace, which hears of what the groups are told."""

    def opened() -> socket.socket:
        link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        link.bind((0, groups))
        return link

    return inside(name, opened)


def counters_file(name: str) -> int:
    """Return an open file of the namespace's interface counters, to be read from its start."""
    return inside(name, lambda: os.open("/proc/thread-self/net/dev", os.O_RDONLY))


def _is_owned(name: str) -> bool:
    match = _NAME.match(name)
    return match is None or _started(int(match[1])) == match[2]


def _started(pid: int) -> str:
    """Return when a process started, in ticks since boot; ``0`` when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "0"
    return stat.rpartition(")")[2].split()[_START_FIELD]
