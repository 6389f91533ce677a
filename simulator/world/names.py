"""Who is called what, and where it stands."""

from dataclasses import dataclass
from functools import cached_property

from simulator.scenario import Scenario

UPLINK_BASE = 49


@dataclass(frozen=True)
class Names:
    """The names of a scenario's devices, in their order of numbering from 1."""

    scenario: Scenario

    @cached_property
    def leaves(self) -> list[str]:
        return [f"leaf{n + 1}" for n in range(self.scenario.fabric.leaves)]

    @cached_property
    def spines(self) -> list[str]:
        return [f"spine{n + 1}" for n in range(self.scenario.fabric.spines)]

    @cached_property
    def hosts(self) -> list[str]:
        fabric = self.scenario.fabric
        return [f"h{n + 1}" for n in range(fabric.leaves * fabric.hosts_per_leaf)]

    def leaf_of(self, host: int) -> int:
        return host // self.scenario.fabric.hosts_per_leaf

    @cached_property
    def training_hosts(self) -> list[int]:
        """Index of the first host of each leaf."""
        per_leaf = self.scenario.fabric.hosts_per_leaf
        return [leaf * per_leaf for leaf in range(self.scenario.fabric.leaves)]

    @cached_property
    def serving_hosts(self) -> list[int]:
        return [n for n in range(len(self.hosts)) if n not in set(self.training_hosts)]

    def host_interface(self, host: int, nic: int) -> str:
        """Return the leaf's port that a NIC is plugged into."""
        fabric = self.scenario.fabric
        slot = host % fabric.hosts_per_leaf
        return f"Ethernet{slot * fabric.gpus_per_host + nic + 1}"

    def uplink(self, spine: int) -> str:
        return f"Ethernet{UPLINK_BASE + spine}"

    def downlink(self, leaf: int) -> str:
        return f"Ethernet{leaf + 1}"

    def prefix(self, leaf: int) -> str:
        return f"10.0.{leaf + 1}.0/24"

    def spine_address(self, spine: int) -> str:
        """Return the address that leaves forward to."""
        return f"10.255.0.{spine + 1}"

    def gpu_uuid(self, host: int, gpu: int) -> str:
        return f"GPU-{host + 1:08x}-5eed-4a10-8000-{gpu:012x}"

    def nic(self, index: int) -> str:
        return f"mlx5_{index}"

    @cached_property
    def engines(self) -> list[str]:
        per_host = self.scenario.fabric.gpus_per_host // self.scenario.serving.gpus_per_engine
        count = len(self.serving_hosts) * per_host
        return [f"{self.scenario.serving.service}-{n}" for n in range(count)]

    def engine_gpus(self, engine: int) -> tuple[int, list[int]]:
        """Return host and GPU indices of an engine."""
        width = self.scenario.serving.gpus_per_engine
        per_host = self.scenario.fabric.gpus_per_host // width
        first = engine % per_host * width
        return self.serving_hosts[engine // per_host], list(range(first, first + width))
