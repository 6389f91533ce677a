"""What docker-compose.yml mounts can be loaded, and it starts commands that exist."""

import re

import pytest
import yaml
from compose_spec import PyCompose

from cluster.topology import Topology
from pipelines.cli.main import main
from pipelines.config.load import load
from tests.paths import ROOT


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_compose_file_keeps_to_the_compose_specification(compose):
    # Merge keys (<<) are YAML's, not the specification's: they are resolved before the check.
    checked = PyCompose.from_yaml(yaml.safe_dump(compose))

    assert sorted(checked.service_names()) == sorted(compose["services"])


def test_key_outside_the_compose_specification_is_refused():
    with pytest.raises(ValueError, match="prots"):
        PyCompose.from_yaml("services:\n  a:\n    image: x\n    prots: [80]\n")


def test_production_configuration_loads():
    loaded = load(ROOT / "deploy" / "trimtab.toml")

    assert loaded.config.act.mode == "advise"
    assert isinstance(loaded.topology, Topology)
    assert [link.component for link in loaded.topology.links[:2]] == [
        "link/leaf1:Ethernet49",
        "link/leaf1:Ethernet50",
    ]


def test_every_trimtab_service_runs_a_command_that_exists(compose):
    ours = {
        name: service
        for name, service in compose["services"].items()
        if service["image"].startswith("trimtab:")
    }

    assert sorted(ours) == ["act", "collect", "detect", "migrate", "record", "serve"]
    for service in ours.values():
        assert main.get_command(None, service["command"][0]) is not None


def test_health_probes_ask_the_configured_ports(compose):
    ports = load(ROOT / "deploy" / "trimtab.toml").config.deployment.health_ports
    for name in ("collect", "detect", "act", "record"):
        probe = compose["services"][name]["healthcheck"]["test"][-1]
        assert f"127.0.0.1:{getattr(ports, name)}/healthz" in probe


def test_every_mounted_file_is_in_the_tree_or_a_secret(compose):
    for service in compose["services"].values():
        for mount in service.get("volumes", []):
            source = mount.split(":")[0]
            if source.startswith("./deploy/secrets/"):
                name = source.rsplit("/", 1)[-1]
                assert f"`{name}`" in (ROOT / "deploy/secrets/README.md").read_text()
            elif source.startswith("./"):
                assert (ROOT / source).exists()
            else:
                assert source in compose["volumes"]


def test_image_copies_every_package_of_the_wheel():
    copied = set(re.findall(r"^COPY (\w+) \w+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE))

    assert copied == {"cluster", "detectors", "actuators", "pipelines", "simulator"}
