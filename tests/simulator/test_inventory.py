"""What the simulator offers is a configuration that Trimtab takes."""

import json
from pathlib import Path

from pydantic import TypeAdapter

from cluster.topology import Topology
from pipelines.config.act import ObjectiveConfig, ServingDriverConfig
from pipelines.config.collect import CollectConfig
from simulator.inventory import Places, inventory
from tests.simulator.running import running


async def told(tls_ca_file: Path | None = None):
    async with running() as sim:
        places = Places(
            ports=sim.state.ports,
            password_file=Path("/s/gnmi.password"),
            token_file=Path("/s/serving.token"),
            tls_ca_file=tls_ca_file,
        )
        return json.loads(json.dumps(inventory(sim.world, places)))


async def test_every_part_is_valid_configuration():
    offered = await told()
    collect = CollectConfig.model_validate(offered["collect"])
    assert [t.name for t in collect.gnmi] == [f"{k}{n}" for k in ("leaf", "spine") for n in "1234"]
    assert all(target.insecure for target in collect.gnmi)
    assert len({target.address for target in collect.gnmi}) == 8
    assert sorted(collect.subscriptions) == ["ports", "status", "weights"]
    kinds = [target.kind for target in collect.scrape]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "dcgm": 8,
        "node_exporter": 8,
        "sglang": 8,
        "dynamo": 1,
    }
    (serving,) = TypeAdapter(list[ServingDriverConfig]).validate_python(offered["serving"])
    assert (serving.service, serving.token_file) == ("chat", Path("/s/serving.token"))
    objectives = TypeAdapter(list[ObjectiveConfig]).validate_python(offered["objectives"])
    assert [(o.component, o.metric) for o in objectives] == [
        ("job/pretrain", "train_step_seconds"),
        ("service/chat", "slo_attainment_ratio"),
    ]
    assert offered["control_url"].startswith("http://127.0.0.1:")


async def test_the_topology_is_whole():
    topology = Topology.model_validate((await told())["topology"])
    assert len(topology.switches) == 8
    assert len(topology.links) == 64 + 16
    assert len(topology.gpus) == 64
    assert {s.cell for s in topology.switches} | {h.cell for h in topology.hosts} == {"pod1"}
    link = topology.fabric_link_of("port/spine3:Ethernet2")
    assert link is not None
    assert link.component == "link/leaf2:Ethernet51"
    route = next(r for r in topology.routes if (r.switch, r.prefix) == ("leaf2", "10.0.1.0/24"))
    assert {hop.index: hop.interface for hop in route.next_hops} == {
        "spine1": "Ethernet49",
        "spine2": "Ethernet50",
        "spine3": "Ethernet51",
        "spine4": "Ethernet52",
    }
    (service,) = topology.services
    assert len(service.engines) == 8
    assert len({gpu for engine in service.engines for gpu in engine.gpus}) == 32
    assert set(topology.gpu_by_component) >= {g for e in service.engines for g in e.gpus}


async def test_over_tls_the_targets_name_the_ca():
    collect = CollectConfig.model_validate((await told(Path("/tls/ca.pem")))["collect"])
    assert not any(target.insecure for target in collect.gnmi)
    assert {target.tls.ca_file for target in collect.gnmi} == {Path("/tls/ca.pem")}
