"""Discovery against the simulator's gNMI servers, and as a user runs it."""

import asyncio
import tomllib
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
import tomli_w
from click.testing import CliRunner
from gnmi_pb import gnmi_pb2 as gnmi
from gnmi_pb import gnmi_pb2_grpc

from cluster.consistency import Consistency
from cluster.discovered import Hints, Interface, Neighbour, discover
from cluster.topology import Topology
from pipelines.cli.main import main
from pipelines.collect.discover import ask, report
from pipelines.collect.texts import texts
from pipelines.config.collect import CollectConfig, GnmiTarget
from pipelines.config.load import read_as
from pipelines.config.topology_file import topology_toml
from simulator.inventory import Places, inventory, topology
from tests.simulator.running import PASSWORD, running


@asynccontextmanager
async def offered(folder: Path):
    """Serve a cluster; yield it and how a configuration of its targets is written."""
    secret = folder / "gnmi.password"
    secret.write_text(PASSWORD)
    async with running() as sim:
        places = Places(ports=sim.state.ports, password_file=secret, token_file=secret)
        yield sim, inventory(sim.world, places)["collect"]


def collect_config(written: dict, *, encoding: str = "auto") -> CollectConfig:
    targets = [target | {"encoding": encoding} for target in written["gnmi"]]
    return CollectConfig.model_validate(
        {"subscriptions": written["subscriptions"], "gnmi": targets}
    )


def same_path(path: Path) -> Path:
    return path


@pytest.mark.parametrize("encoding", ["proto", "json_ietf"])
async def test_the_simulated_fabric_is_what_its_inventory_says(tmp_path, encoding):
    async with offered(tmp_path) as (sim, written):
        config = collect_config(written, encoding=encoding)
        answers = await ask(config, same_path, timeout_seconds=10.0)
        known = topology(sim.world.names)
    found = discover(answers.reports, Hints())
    assert (answers.findings, found.findings) == ((), ())
    assert set(found.topology.links) == set(known.links)
    assert len(found.topology.links) == len(known.links) == 80
    assert set(found.topology.switches) == set(known.switches)
    assert {(h.name, h.cell) for h in found.topology.hosts} == {
        (h.name, h.cell) for h in known.hosts
    }
    assert Consistency(found.topology).findings == ()


async def test_a_link_that_is_down_and_a_switch_that_is_silent_are_told(tmp_path):
    async with offered(tmp_path) as (sim, written):
        port = sim.world.fabric.wiring.port_number["leaf2", "Ethernet51"]
        sim.world.fabric.enabled[port] = False
        dead = written["gnmi"][-1] | {"address": "127.0.0.1:1"}
        config = collect_config(written | {"gnmi": [*written["gnmi"][:-1], dead]})
        answers = await ask(config, same_path, timeout_seconds=10.0)
        known = topology(sim.world.names)
    found = discover(answers.reports, Hints(known=known))
    assert [(f.kind, f.component) for f in answers.findings] == [("no_answer", "switch/spine4")]
    missing = [f.component for f in found.findings if f.kind == "missing_link"]
    assert missing == [
        "link/leaf1:Ethernet52",
        "link/leaf2:Ethernet51",
        "link/leaf2:Ethernet52",
        "link/leaf3:Ethernet52",
        "link/leaf4:Ethernet52",
    ]
    by_link = {f.component: f.text for f in found.findings if f.kind == "missing_link"}
    assert by_link["link/leaf2:Ethernet51"].endswith("leaf2:Ethernet51, spine3:Ethernet2 is down")


def deployment(folder: Path, collect: dict, known: Topology | None) -> Path:
    """Write a configuration, and the topology beside it where there is one."""
    kept = {"subscriptions": collect["subscriptions"], "gnmi": collect["gnmi"]}
    path = folder / "trimtab.toml"
    path.write_text(tomli_w.dumps({"collect": kept}))
    if known is not None:
        (folder / "topology.toml").write_text(topology_toml(known, heading="before"))
    return path


async def run(*arguments: str):
    """Run the command beside the servers, which live on this event loop."""
    return await asyncio.to_thread(CliRunner().invoke, main, list(arguments))


async def test_a_topology_is_written_from_nothing_and_holds_against_itself(tmp_path):
    async with offered(tmp_path) as (sim, written):
        config = deployment(tmp_path, written, None)
        output = str(tmp_path / "topology.toml")
        first = await run("discover", "--config", str(config), "--output", output)
        again = await run("discover", "--config", str(config), "--check")
        known = topology(sim.world.names)
    assert first.exit_code == 0, first.output
    assert "8 switches, 8 hosts, 80 links; nothing amiss" in first.stderr
    read = read_as(Topology, Path(output))
    assert set(read.links) == set(known.links)
    assert (again.exit_code, again.stdout) == (0, "8 switches, 8 hosts, 80 links; nothing amiss\n")


async def test_routes_and_gpus_of_the_configured_topology_are_kept(tmp_path):
    async with offered(tmp_path) as (sim, written):
        known = topology(sim.world.names)
        config = deployment(tmp_path, written, known)
        told = await run("discover", "--config", str(config))
    read = Topology.model_validate(tomllib.loads(told.stdout))
    assert (read.routes, read.gpus, read.services) == (known.routes, known.gpus, known.services)
    assert set(read.hosts) == set(known.hosts)


async def test_a_check_fails_where_the_wiring_is_not_as_configured(tmp_path):
    async with offered(tmp_path) as (sim, written):
        known = topology(sim.world.names)
        port = sim.world.fabric.wiring.port_number["leaf2", "Ethernet51"]
        sim.world.fabric.enabled[port] = False
        config = deployment(tmp_path, written, known)
        told = await run("discover", "--config", str(config), "--check")
    assert told.exit_code == 1
    assert "missing_link          link/leaf2:Ethernet51" in told.stderr
    # The link, three routes over it, and the two switches that now have less upwards.
    assert told.stdout == "8 switches, 8 hosts, 79 links; 4 faults, 2 notes\n"


def test_nothing_to_ask_is_told_in_one_line(tmp_path):
    config = tmp_path / "trimtab.toml"
    config.write_text("")
    told = CliRunner().invoke(main, ["discover", "--config", str(config)])
    assert (told.exit_code, told.stderr) == (
        2,
        f"{config}: collect.gnmi: names no target that could be asked\n",
    )


def test_a_wrong_tier_is_told_with_what_is_allowed(tmp_path):
    config = tmp_path / "trimtab.toml"
    config.write_text("")
    told = CliRunner().invoke(main, ["discover", "--config", str(config), "--tier", "leaf*=one"])
    assert (told.exit_code, told.stderr) == (
        2,
        "--tier: is 'leaf*=one', not PATTERN=N with N from 1\n",
    )


TARGET = GnmiTarget(name="leaf1", address="x:1", cell="pod1", subscriptions=("ports",))


def test_json_of_a_device_that_qualifies_names_and_sends_mac_port_ids():
    notification = gnmi.Notification(
        update=[
            gnmi.Update(
                path=gnmi.Path(elem=[gnmi.PathElem(name="openconfig-lldp:lldp")]),
                val=gnmi.TypedValue(
                    json_ietf_val=b"""{"openconfig-lldp:interfaces": {"interface": [{
                        "name": "Ethernet1", "neighbors": {"neighbor": [{
                            "id": "7", "state": {
                                "system-name": "0042", "port-id": "aa:bb:cc:dd:ee:ff",
                                "port-id-type": "MAC_ADDRESS", "port-description": "eth0"},
                            "capabilities": {"capability": [
                                {"name": "openconfig-lldp-types:MAC_BRIDGE",
                                 "state": {"enabled": true}},
                                {"name": "openconfig-lldp-types:ROUTER",
                                 "state": {"enabled": false}}]}}]}}]},
                        "openconfig-lldp:state": {"system-name": "leaf1.dc"}}"""
                ),
            )
        ]
    )
    told = report(TARGET, texts([notification]))
    assert told.system_names == ("leaf1.dc",)
    (interface,) = told.interfaces
    assert interface.neighbours == (
        Neighbour(system_name="0042", port="eth0", capabilities=frozenset({"MAC_BRIDGE"})),
    )


def test_what_is_no_json_is_left_out():
    update = gnmi.Update(
        path=gnmi.Path(elem=[gnmi.PathElem(name="lldp")]),
        val=gnmi.TypedValue(json_val=b"{"),
    )
    assert texts([gnmi.Notification(update=[update])]) == {}


class WithoutLldp(gnmi_pb2_grpc.gNMIServicer):
    """A switch whose schema has interfaces and their speed, and nothing of LLDP."""

    async def Capabilities(self, request, context):  # noqa: N802 - gRPC's name
        return gnmi.CapabilityResponse(supported_encodings=[gnmi.JSON_IETF])

    async def Get(self, request, context):  # noqa: N802 - gRPC's name
        (path,) = request.path
        if path.elem[-1].name != "port-speed":
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such path")
        value = (
            b'{"interface": [{"name": "e1", "ethernet": {"state": {"port-speed": "SPEED_25GB"}}}]}'
        )
        update = gnmi.Update(
            path=gnmi.Path(elem=[gnmi.PathElem(name="interfaces")]),
            val=gnmi.TypedValue(json_ietf_val=value),
        )
        return gnmi.GetResponse(notification=[gnmi.Notification(update=[update])])


async def test_a_switch_without_lldp_and_one_without_its_secret_are_told():
    server = grpc.aio.server()
    gnmi_pb2_grpc.add_gNMIServicer_to_server(WithoutLldp(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    target = {"name": "leaf1", "address": f"127.0.0.1:{port}", "cell": "c", "insecure": True}
    secret = {"name": "leaf2", "username": "u", "password_file": "/none/gnmi.password"}
    config = CollectConfig.model_validate(
        {
            "subscriptions": {"ports": {"paths": ["/interfaces"]}},
            "gnmi": [
                target | {"subscriptions": ["ports"]},
                target | secret | {"subscriptions": ["ports"]},
            ],
        }
    )
    answers = await ask(config, same_path, timeout_seconds=10.0)
    await server.stop(0)
    (told,) = answers.reports
    assert told.interfaces == (Interface(name="e1", bits_per_second=25e9),)
    assert [(f.kind, f.component) for f in answers.findings] == [
        ("no_answer", "switch/leaf2"),
        ("no_lldp", "switch/leaf1"),
    ]
    assert "/none/gnmi.password: secret cannot be read" in answers.findings[0].text
