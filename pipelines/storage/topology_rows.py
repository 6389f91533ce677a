"""The configured cluster as rows of the table ``topology``."""

import hashlib
from collections.abc import Iterator

from cluster.component import kind_of
from cluster.topology import Topology

COLUMNS = (
    "configuration",
    "component",
    "kind",
    "cell",
    "ends",
    "capacity_bits_per_second",
    "written_at",
)


def topology_rows(topology: Topology, *, now_ns: int) -> list[tuple[object, ...]]:
    """Return one row per component."""
    configuration = hashlib.sha256(topology.model_dump_json().encode()).hexdigest()[:16]
    return [
        (configuration, name, kind_of(name), cell, ends, capacity, now_ns // 1_000_000)
        for name, cell, ends, capacity in _components(topology)
    ]


def _components(topology: Topology) -> Iterator[tuple[str, str, list[str], float]]:
    cells = topology.cells
    for switch in topology.switches:
        yield f"switch/{switch.name}", switch.cell, [], 0.0
    for host in topology.hosts:
        yield f"host/{host.name}", host.cell, [], 0.0
    for link in topology.links:
        cell = cells[link.lower.partition(":")[0]]
        yield link.component, cell, [link.lower, link.upper], link.capacity_bits_per_second
    for gpu in topology.gpus:
        ends = [f"host/{gpu.host}", *([f"nic/{gpu.nic}"] if gpu.nic else [])]
        yield gpu.component, cells.get(gpu.host, ""), ends, 0.0
    for service in topology.services:
        yield service.component, service.cell, [e.component for e in service.engines], 0.0
        for engine in service.engines:
            yield engine.component, service.cell, [service.component, *engine.gpus], 0.0
