"""Fabrics and traffic of the placement benchmark: rates are shares of a NIC's line rate.

A host has eight GPUs with a NIC each. Jobs take hosts in random order, so nearly all of their
traffic crosses the fabric. Ranks of one host exchange over NVLink and make no flow.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cluster.fabric import Fabric, leaf_spine, three_tier
from cluster.flows import Flows

GPUS = 8
EXPERT_GPUS = 64
_EXPERT_HOSTS = EXPERT_GPUS // GPUS
_PEERS = EXPERT_GPUS - GPUS

Hosts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A fabric and what is sent over it."""

    fabric: Fabric
    flows: Flows


def fabric_of(tiers: int, gpus: int) -> Fabric:
    """Return a fabric without oversubscription."""
    if tiers == 2:
        leaves, ports = {4_096: (64, 64), 16_384: (256, 64), 65_536: (512, 128)}[gpus]
        return leaf_spine(leaves=leaves, spines=ports, endpoints=ports)
    pods, side = {512: (8, 8), 4_096: (4, 32), 16_384: (16, 32), 65_536: (64, 32)}[gpus]
    return three_tier(pods=pods, leaves=side, spines=side, cores=side, endpoints=side)


def all_hosts(fabric: Fabric, rng: np.random.Generator) -> Hosts:
    """Return the fabric's hosts in random order."""
    return rng.permutation(len(fabric.endpoint_leaf) // GPUS)


def ring(hosts: Hosts, *, rate: float = 1.0, job: int = 0) -> Flows:
    """Return eight rings over the hosts, one per GPU of a host: an all-reduce of all ranks."""
    gpu = np.arange(GPUS)
    source = (hosts[:, None] * GPUS + gpu).ravel()
    target = (np.roll(hosts, -1)[:, None] * GPUS + gpu).ravel()
    return Flows.of(source, target, rate, job=job)


def rings(
    hosts: Hosts,
    rng: np.random.Generator,
    *,
    rate: float = 1.0,
    smallest: int = 4,
    largest: int = 128,
) -> Flows:
    """Return ring all-reduces of many jobs of 32 to 1,024 GPUs that fill the hosts."""
    jobs = cut(hosts, rng, smallest, largest)
    return Flows.concatenate(ring(own, rate=rate, job=n) for n, own in enumerate(jobs))


def cut(hosts: Hosts, rng: np.random.Generator, smallest: int, largest: int) -> list[Hosts]:
    """Cut the hosts into jobs; sizes are powers of two, equally often."""
    sizes = 2 ** np.arange(int(np.log2(smallest)), int(np.log2(largest)) + 1)
    jobs, left = [], hosts
    while len(left) > smallest:
        size = int(rng.choice(sizes))
        jobs.append(left[:size])
        left = left[size:]
    if len(left) > 1:
        jobs.append(left)
    return jobs


def experts(hosts: Hosts, *, rate: float = 1.0, skew: float = 0.0, seed: int = 0) -> Flows:
    """Return the all-to-all of mixtures of experts, EP64: groups of eight hosts, each a job.

    ``rate`` is what the busiest NIC sends or receives. With ``skew`` an expert's tokens follow
    Zipf's law of that exponent, in random order.
    """
    groups = hosts[: len(hosts) // _EXPERT_HOSTS * _EXPERT_HOSTS].reshape(-1, _EXPERT_HOSTS)
    gpus = (groups[:, :, None] * GPUS + np.arange(GPUS)).reshape(len(groups), EXPERT_GPUS)
    rank = np.arange(EXPERT_GPUS)
    a, b = np.nonzero(rank[:, None] // GPUS != rank[None, :] // GPUS)
    share = np.full((len(groups), len(a)), rate / _PEERS)
    if skew > 0.0:
        rng = np.random.default_rng(seed)
        weight = np.stack([rng.permutation((rank + 1.0) ** -skew) for _ in groups])
        share = weight[:, b]
        for side in (a, b):
            busiest = [np.bincount(side, row, minlength=EXPERT_GPUS).max() for row in share]
            share = share / np.maximum(1.0, np.array(busiest) / rate)[:, None]
    return Flows.of(
        gpus[:, a].ravel(),
        gpus[:, b].ravel(),
        share.ravel(),
        job=np.repeat(np.arange(len(groups)), len(a)),
    )


def pipeline(hosts: Hosts, *, rate: float, job: int = 0) -> Flows:
    """Return what the stages of a pipeline send on, from host to host, and back."""
    gpu = np.arange(GPUS)
    first, second = ((h[:, None] * GPUS + gpu).ravel() for h in (hosts[:-1], hosts[1:]))
    return Flows.of(np.concatenate((first, second)), np.concatenate((second, first)), rate, job=job)


def mixed(hosts: Hosts, rng: np.random.Generator) -> Flows:
    """Return jobs of all kinds and sizes that leave no NIC more than it carries.

    Rings run at half to full line rate, pipelines at a tenth to a half each way, experts send what
    a ring beside them leaves; a third of the jobs are of each kind.
    """
    jobs = []
    for n, own in enumerate(cut(hosts, rng, 8, 128)):
        kind = int(rng.integers(3))
        if kind == 0:
            jobs.append(ring(own, rate=float(rng.uniform(0.5, 1.0)), job=n))
        elif kind == 1:
            jobs.append(pipeline(own, rate=float(rng.uniform(0.1, 0.5)), job=n))
        else:
            share = float(rng.uniform(0.3, 0.6))
            both = (ring(own, rate=1.0 - share, job=n), experts(own, rate=share))
            jobs += [replace(part, job=np.full(len(part), n, dtype=np.int32)) for part in both]
    return Flows.concatenate(jobs)
