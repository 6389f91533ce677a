"""What a simulator keeps on disk, so that its cluster runs on when it is started again."""

import os
import pickle
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from simulator.clock import VirtualClock
from simulator.gnmi.commit import CommitState
from simulator.world.world import World

_VERSION = 1
_STATE_FILE = "world.pickle"
_LONGEST_GAP_NS = 60 * 10**9


@dataclass(slots=True, kw_only=True)
class State:
    """Everything of a simulated cluster; ``ports`` by server name."""

    clock: VirtualClock
    world: World
    commits: dict[str, CommitState] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    version: int = _VERSION


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The folder of one simulator: its state and its secrets, readable by their owner only."""

    path: Path

    def save(self, state: State) -> None:
        """Replace what is kept, at once."""
        write_whole(self.path / _STATE_FILE, pickle.dumps(state), mode=0o600)

    def load(self) -> State | None:
        """Return what was kept; None where there is nothing, or nothing of this version."""
        try:
            kept = pickle.loads((self.path / _STATE_FILE).read_bytes())  # noqa: S301 - our own file
        except (FileNotFoundError, EOFError, pickle.UnpicklingError, AttributeError, ImportError):
            return None
        return kept if isinstance(kept, State) and kept.version == _VERSION else None

    def secret(self, name: str) -> Path:
        """Return the file of a secret; it is drawn when there is none."""
        path = self.path / name
        if not path.exists():
            write_whole(path, secrets.token_urlsafe(24).encode() + b"\n", mode=0o600)
        return path


def catch_up(state: State) -> None:
    """Run the world to the present: devices went on while nobody simulated them.

    Of a pause longer than a minute the first part is skipped: it passes without traffic.
    """
    world, now_ns = state.world, state.clock.now_ns()
    world.time_ns = max(world.time_ns, now_ns - _LONGEST_GAP_NS)
    world.advance_to(now_ns)
    for engine in world.serving.engines:  # whoever drained it is gone
        engine.draining = False


def write_whole(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file so that readers see the old one or the new one, never a part."""
    beside = path.with_name(f".{path.name}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    beside.replace(path)
