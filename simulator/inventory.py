"""What the simulator offers, in the words of a Trimtab configuration."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.topology import (
    Engine,
    Gpu,
    Host,
    Link,
    NextHop,
    Route,
    Service,
    SourcePortRule,
    Switch,
    Topology,
)
from simulator.world.names import Names
from simulator.world.steering import POLICY, port_range, sequence_of
from simulator.world.world import World

GNMI_USER = "trimtab"

_SUBSCRIPTIONS: dict[str, dict[str, Any]] = {
    "ports": {
        "paths": [
            "/interfaces/interface/state/counters",
            "/interfaces/interface/ethernet/state/counters",
            "/interfaces/interface/ethernet/state/pre-fec-ber/instant",
            "/qos/interfaces/interface/output/queues/queue/state",
        ],
        "mode": "sample",
        "interval_seconds": 1.0,
    },
    "status": {
        "paths": [
            "/interfaces/interface/state/oper-status",
            "/interfaces/interface/state/admin-status",
        ],
        "mode": "on_change",
        "heartbeat_seconds": 10.0,
    },
    "weights": {
        "paths": [
            "/network-instances/network-instance/protocols/protocol/static-routes/static"
            "/next-hops/next-hop/state/wecmp-weight"
        ],
        "mode": "on_change",
        "heartbeat_seconds": 10.0,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the servers listen, by server name, and the files a client needs."""

    ports: dict[str, int]
    password_file: Path
    token_file: Path
    tls_ca_file: Path | None = None

    def address(self, server: str) -> str:
        return f"127.0.0.1:{self.ports[server]}"

    def url(self, server: str) -> str:
        return f"http://{self.address(server)}"


def inventory(world: World, places: Places) -> dict[str, Any]:
    """Return the inventory: what to collect, the topology, how to act, and the objectives."""
    scenario = world.scenario
    service = scenario.serving.service
    return {
        "collect": {
            "subscriptions": _SUBSCRIPTIONS,
            "gnmi": _gnmi(world, places),
            "scrape": _scrape(world, places),
        },
        "topology": topology(world.names).model_dump(mode="json"),
        "serving": [
            {
                "service": service,
                "router_url": places.url("router"),
                "token_file": str(places.token_file),
            }
        ],
        "objectives": [
            {"component": f"job/{scenario.training.job}", "metric": "train_step_seconds"},
            {"component": f"service/{service}", "metric": "slo_attainment_ratio"},
        ],
        "control_url": places.url("control"),
    }


def _gnmi(world: World, places: Places) -> list[dict[str, Any]]:
    ca_file = places.tls_ca_file
    security: dict[str, Any] = (
        {"insecure": True}
        if ca_file is None
        else {"tls": {"ca_file": str(ca_file), "server_name": "localhost"}}
    )
    return [
        {
            "name": switch,
            "address": places.address(f"gnmi/{switch}"),
            "cell": world.scenario.cell,
            "subscriptions": ["ports", "status"] + (["weights"] if leaf else []),
            "username": GNMI_USER,
            "password_file": str(places.password_file),
            "writable": leaf,
        }
        | security
        for leaf, switches in ((True, world.names.leaves), (False, world.names.spines))
        for switch in switches
    ]


def _scrape(world: World, places: Places) -> list[dict[str, Any]]:
    service = world.scenario.serving.service
    endpoints = [
        *((f"dcgm/{host}", f"host/{host}", "dcgm") for host in world.names.hosts),
        *((f"node/{host}", f"host/{host}", "node_exporter") for host in world.names.hosts),
        *((f"engine/{name}", f"engine/{name}", "sglang") for name in world.names.engines),
        ("gateway", f"service/{service}", "dynamo"),
    ]
    return [
        {
            "name": server.replace("/", "-"),
            "url": f"{places.url(server)}/metrics",
            "cell": world.scenario.cell,
            "component": component,
            "kind": kind,
            "interval_seconds": 1.0,
            "timeout_seconds": 0.9,
        }
        for server, component, kind in endpoints
    ]


def topology(names: Names) -> Topology:
    """Return the cluster's topology."""
    scenario = names.scenario
    cell = scenario.cell
    hosts = range(len(names.hosts))
    gpus = range(scenario.fabric.gpus_per_host)
    return Topology(
        switches=(
            *(Switch(name=name, cell=cell, tier=1) for name in names.leaves),
            *(Switch(name=name, cell=cell, tier=2) for name in names.spines),
        ),
        hosts=tuple(
            Host(name=names.hosts[n], cell=cell, prefix=names.prefix(names.leaf_of(n)))
            for n in hosts
        ),
        links=(*_host_links(names), *_uplinks(names)),
        routes=_routes(names),
        source_port_rules=_source_port_rules(names),
        gpus=tuple(
            Gpu(
                host=names.hosts[n],
                uuid=names.gpu_uuid(n, g),
                index=g,
                nic=f"{names.hosts[n]}:{names.nic(g)}",
            )
            for n in hosts
            for g in gpus
        ),
        services=(_service(names),),
    )


def _host_links(names: Names) -> list[Link]:
    fabric = names.scenario.fabric
    return [
        Link(
            lower=f"{names.hosts[host]}:{names.nic(nic)}",
            upper=f"{names.leaves[names.leaf_of(host)]}:{names.host_interface(host, nic)}",
            capacity_bits_per_second=fabric.nic_bits_per_second,
        )
        for host in range(len(names.hosts))
        for nic in range(fabric.gpus_per_host)
    ]


def _uplinks(names: Names) -> list[Link]:
    return [
        Link(
            lower=f"{leaf}:{names.uplink(s)}",
            upper=f"{spine}:{names.downlink(n)}",
            capacity_bits_per_second=names.scenario.fabric.uplink_bits_per_second,
        )
        for n, leaf in enumerate(names.leaves)
        for s, spine in enumerate(names.spines)
    ]


def _routes(names: Names) -> tuple[Route, ...]:
    hops = tuple(
        NextHop(index=spine, interface=names.uplink(s)) for s, spine in enumerate(names.spines)
    )
    leaves = range(len(names.leaves))
    return tuple(
        Route(switch=names.leaves[own], prefix=names.prefix(other), next_hops=hops)
        for own in leaves
        for other in leaves
        if own != other
    )


def _source_port_rules(names: Names) -> tuple[SourcePortRule, ...]:
    if not names.scenario.fabric.source_port_rules:
        return ()
    return tuple(
        SourcePortRule(
            switch=leaf,
            interface=names.uplink(s),
            first_port=port_range(s)[0],
            last_port=port_range(s)[1],
            policy=POLICY,
            sequence=sequence_of(s),
        )
        for leaf in names.leaves
        for s in range(len(names.spines))
    )


def _service(names: Names) -> Service:
    serving = names.scenario.serving
    engines = []
    for n, name in enumerate(names.engines):
        host, gpus = names.engine_gpus(n)
        told = tuple(f"gpu/{names.hosts[host]}:{names.gpu_uuid(host, g)}" for g in gpus)
        engines.append(Engine(name=name, gpus=told))
    return Service(
        name=serving.service,
        cell=names.scenario.cell,
        engines=tuple(engines),
        ttft_limit_seconds=serving.ttft_limit_seconds,
        tpot_limit_seconds=serving.tpot_limit_seconds,
    )
