"""Synthetic clusters and jobs to plan with, for who has no files yet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import tomli_w

from cluster.topology import Gpu, Host, Link, Switch, Topology
from pipelines.config.topology_file import topology_toml
from pipelines.plan.job_file import CollectiveConfig, JobConfig, JobFile

_GBIT: Final = 1e9
_CELL: Final = "example"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A cluster with jobs; ``about`` is a line for people."""

    about: str
    topology: Topology
    jobs: JobFile

    def files(self) -> dict[str, str]:
        """Return the same as files, by name."""
        return {
            "topology.toml": topology_toml(self.topology, heading=self.about),
            "jobs.toml": tomli_w.dumps(self.jobs.model_dump(mode="json", exclude_defaults=True)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """What a cluster is built of.

    Attributes
    ----------
    pods
        Each with its own leaves and spines; with one there is no third tier.
    is_rails
        Each of a host's NICs is plugged into a leaf of its own, instead of all into one.
    """

    leaves: int
    spines: int
    hosts: int
    nics: int
    cores: int = 0
    pods: int = 1
    uplink_gbits: float = 400.0
    is_rails: bool = False

    def topology(self) -> Topology:
        return Topology(
            switches=tuple(self._switches()),
            hosts=tuple(Host(name=f"h{n + 1}", cell=_CELL) for n in range(self.hosts)),
            links=(*self._host_links(), *self._uplinks(), *self._core_links()),
            gpus=tuple(
                Gpu(host=f"h{n + 1}", uuid=f"GPU-{n + 1}-{g}", index=g, nic=f"h{n + 1}:mlx5_{g}")
                for n in range(self.hosts)
                for g in range(self.nics)
            ),
        )

    def _switches(self) -> list[Switch]:
        tiers = (
            ("leaf", self.pods * self.leaves, 1),
            ("spine", self.pods * self.spines, 2),
            ("core", self.cores, 3),
        )
        return [
            Switch(name=f"{kind}{n + 1}", cell=_CELL, tier=tier)
            for kind, count, tier in tiers
            for n in range(count)
        ]

    def _host_links(self) -> list[Link]:
        used = [0] * (self.pods * self.leaves)
        links = []
        for host in range(self.hosts):
            for nic in range(self.nics):
                leaf = nic % self.leaves if self.is_rails else host * len(used) // self.hosts
                used[leaf] += 1
                links.append(
                    _link(f"h{host + 1}:mlx5_{nic}", f"leaf{leaf + 1}:Ethernet{used[leaf]}")
                )
        return links

    def _uplinks(self) -> list[Link]:
        first = -(-self.hosts * self.nics // (self.pods * self.leaves)) + 1
        return [
            _link(
                f"leaf{pod * self.leaves + n + 1}:Ethernet{first + s}",
                f"spine{pod * self.spines + s + 1}:Ethernet{n + 1}",
                self.uplink_gbits,
            )
            for pod in range(self.pods)
            for n in range(self.leaves)
            for s in range(self.spines)
        ]

    def _core_links(self) -> list[Link]:
        """Join the s-th spine of every pod with the s-th group of cores."""
        each = self.cores // self.spines
        return [
            _link(
                f"spine{pod * self.spines + s + 1}:Ethernet{self.leaves + k + 1}",
                f"core{s * each + k + 1}:Ethernet{pod + 1}",
                self.uplink_gbits,
            )
            for pod in range(self.pods)
            for s in range(self.spines)
            for k in range(each)
        ]


def _link(lower: str, upper: str, gbits: float = 400.0) -> Link:
    return Link(lower=lower, upper=upper, capacity_bits_per_second=gbits * _GBIT)


def _hosts(first: int, last: int, *, step: int = 1) -> tuple[str, ...]:
    return tuple(f"h{n}" for n in range(first, last + 1, step))


def _training(job_id: str, hosts: tuple[str, ...], nics: int, *, priority: int = 10) -> JobConfig:
    """Return a data-parallel job: one ring for each GPU number, after every step."""
    ring = CollectiveConfig(
        kind="all_reduce", algorithm="ring", bytes=8e9, period_seconds=1.0, stride=nics
    )
    return JobConfig(job_id=job_id, priority=priority, hosts=hosts, collectives=(ring,))


def _experts(job_id: str, hosts: tuple[str, ...], nics: int, *, block: int) -> JobConfig:
    """Return a mixture of experts: tokens to experts and back, then gradients by rings."""
    exchange = CollectiveConfig(
        kind="all_to_all", bytes=5e9, period_seconds=1.2, phase_seconds=0.1, block=block
    )
    ring = CollectiveConfig(
        kind="all_reduce",
        algorithm="ring",
        bytes=6e9,
        period_seconds=1.2,
        phase_seconds=0.6,
        stride=nics,
    )
    return JobConfig(job_id=job_id, priority=5, hosts=hosts, collectives=(exchange, ring))


def _pipeline(job_id: str, hosts: tuple[str, ...], nics: int) -> JobConfig:
    """Return a pipeline of the hosts: activations forward, gradients back."""
    stages = CollectiveConfig(
        kind="send_recv", algorithm="pipeline", bytes=4e9, period_seconds=0.8, stride=nics
    )
    return JobConfig(job_id=job_id, priority=1, hosts=hosts, collectives=(stages,))


def _leaf_spine_64() -> Example:
    shape = _Shape(leaves=8, spines=8, hosts=16, nics=4)
    jobs = (
        _training("pretrain", _hosts(1, 15, step=2), 4),
        _experts("moe", _hosts(2, 16, step=2), 4, block=16),
    )
    return Example(
        about="64 NICs of 400 Gbit/s: 8 leaves, 8 spines, 1:1",
        topology=shape.topology(),
        jobs=JobFile(jobs=jobs),
    )


def _leaf_spine_1024() -> Example:
    shape = _Shape(leaves=32, spines=32, hosts=128, nics=8)
    jobs = (
        _training("pretrain", (*_hosts(1, 125, step=4), *_hosts(2, 126, step=4)), 8),
        _experts("moe", _hosts(3, 127, step=4), 8, block=64),
        _pipeline("pipeline", _hosts(4, 128, step=4), 8),
    )
    return Example(
        about="1,024 NICs of 400 Gbit/s: 32 leaves, 32 spines, 1:1",
        topology=shape.topology(),
        jobs=JobFile(jobs=jobs),
    )


def _three_tier_256() -> Example:
    shape = _Shape(leaves=4, spines=8, hosts=32, nics=8, cores=32, pods=8)
    jobs = (
        _training("pretrain", _hosts(1, 31, step=2), 8),
        _experts("moe", _hosts(2, 32, step=2), 8, block=32),
    )
    return Example(
        about="256 NICs of 400 Gbit/s: 8 pods of 4 leaves and 8 spines, 32 cores, 1:1",
        topology=shape.topology(),
        jobs=JobFile(jobs=jobs),
    )


def _rails_256() -> Example:
    shape = _Shape(leaves=8, spines=16, hosts=32, nics=8, uplink_gbits=800.0, is_rails=True)
    jobs = (
        _training("pretrain", _hosts(1, 16), 8),
        _experts("moe", _hosts(17, 32), 8, block=64),
    )
    return Example(
        about="256 NICs of 400 Gbit/s on 8 rails: a leaf for each GPU number, 16 spines, 1:1",
        topology=shape.topology(),
        jobs=JobFile(jobs=jobs),
    )


def _oversubscribed_128() -> Example:
    shape = _Shape(leaves=8, spines=8, hosts=16, nics=8)
    jobs = (
        _training("pretrain", _hosts(1, 15, step=2), 8),
        _pipeline("stages", _hosts(2, 16, step=2), 8),
    )
    return Example(
        about="128 NICs of 400 Gbit/s: 8 leaves, 8 spines, 2:1 oversubscribed",
        topology=shape.topology(),
        jobs=JobFile(jobs=jobs),
    )


EXAMPLES: Final[dict[str, Callable[[], Example]]] = {
    "leaf-spine-64": _leaf_spine_64,
    "leaf-spine-1024": _leaf_spine_1024,
    "oversubscribed-128": _oversubscribed_128,
    "rails-256": _rails_256,
    "three-tier-256": _three_tier_256,
}
