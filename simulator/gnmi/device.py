"""A switch of the simulated world, as the gNMI service sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gnmi_pb import gnmi_pb2

from simulator.gnmi.commit import Commits, commit_of
from simulator.gnmi.edit import edits
from simulator.gnmi.errors import invalid
from simulator.gnmi.tree import Leaf
from simulator.world.world import World

_MODELS: Final = (
    ("openconfig-interfaces", "3.7.1"),
    ("openconfig-if-ethernet", "2.14.0"),
    ("openconfig-qos", "0.11.0"),
    ("openconfig-network-instance", "4.4.1"),
    ("openconfig-local-routing", "2.1.0"),
    ("openconfig-lldp", "0.2.1"),
)


class Saver(Protocol):
    def __call__(self) -> None:
        """Keep the world as it is now, so that a change survives the simulator's death."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldDevice:
    """Answers with the world's readings; every one carries the time of the tick it is of."""

    world: World
    tree: Sequence[Leaf]
    commits: Commits
    save: Saver

    @property
    def models(self) -> Sequence[tuple[str, str]]:
        return _MODELS

    @property
    def time_ns(self) -> int:
        return self.world.time_ns

    @property
    def tick_ns(self) -> int:
        return int(self.world.scenario.tick_seconds * 1e9)

    def leaves(self) -> Sequence[Leaf]:
        return self.tree

    async def change(self, request: gnmi_pb2.SetRequest) -> None:
        self._change(request)
        self.save()

    def _change(self, request: gnmi_pb2.SetRequest) -> None:
        self.commits.arbitrate(request.extension)
        commit = commit_of(request.extension)
        if commit is not None and commit.WhichOneof("action") != "commit":
            if changes_something(request):
                raise invalid("a commit cannot be amended once issued")
            self.commits.conclude(commit, self.world.time_ns)
            return
        changed = edits(request, self.tree)
        self.commits.begin(commit, self.world.time_ns)
        self.commits.config.write(changed)


def changes_something(request: gnmi_pb2.SetRequest) -> bool:
    """Return whether a Set is more than its extensions."""
    return bool(request.delete or request.replace or request.update or request.union_replace)
