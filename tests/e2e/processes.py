"""The processes of a running demo, as /proc tells them."""

from collections import defaultdict
from pathlib import Path
from typing import Final

_WORKERS: Final = ("collect", "detect", "act", "record", "serve", "up")
NAMES: Final = ("simulator", "database", "broker", *_WORKERS)


def descendants(root: int) -> dict[int, list[str]]:
    """Return the command line by pid of everything that a process started, directly or not."""
    children: dict[int, list[int]] = defaultdict(list)
    for pid, parent in _parents().items():
        children[parent].append(pid)
    found: dict[int, list[str]] = {}
    waiting = [root]
    while waiting:
        for pid in children[waiting.pop()]:
            found[pid] = _command_line(pid)
            waiting.append(pid)
    return found


def pid_of(name: str, root: int) -> int | None:
    """Return the pid of one of the demo's processes; None while it does not run."""
    pids = [pid for pid, argv in descendants(root).items() if _is(name, argv)]
    return pids[0] if pids else None


def left_behind(folder: Path, pids: set[int]) -> dict[int, list[str]]:
    """Return what still runs of these processes, or with the demo's folder on its command line."""
    return {
        pid: argv
        for pid in _parents()
        if (argv := _command_line(pid)) and (pid in pids or str(folder) in " ".join(argv))
    }


def _is(name: str, argv: list[str]) -> bool:
    match name:
        case "simulator":
            return argv[1:3] == ["-m", "simulator"]
        case "database":
            return argv[1:3] == ["-m", "pipelines.embedded.clickhouse"]
        case "broker":
            return argv[1:3] == ["broker", "--cluster-id"]
        case _:
            return argv[1:4] == ["-m", "pipelines.cli.main", name]


def _parents() -> dict[int, int]:
    """Return the parent by pid, zombies left out."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in parentheses may hold anything.
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    return parents


def _command_line(pid: int) -> list[str]:
    try:
        data = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return data.decode(errors="replace").rstrip("\0").split("\0")
