"""The lab leaves nothing behind, whatever becomes of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from simulator.linux import namespaces
from simulator.linux.routing import MAIN, Roads, routes
from simulator.linux.shape import Shape
from tests.forwarding.lab import Child, running_lab


def present(names):
    return [name for name in names if Path("/run/netns", name).exists()]


def test_lab_that_ends_takes_its_namespaces_along():
    with running_lab(leaves=1, spines=1) as lab:
        names = list(lab.namespaces.values())
        assert present(names) == names
    assert present(names) == []


def test_what_a_killed_lab_left_is_removed_at_the_next_start():
    child = Child("simulator.linux", "--leaves", "1", "--spines", "1")
    names = list(child.hello["namespaces"].values())
    child.kill()
    assert present(names) == names
    with running_lab(leaves=1, spines=1) as other:
        assert present(names) == []
        assert present(other.namespaces.values())


def test_what_a_running_lab_has_is_left_alone():
    with running_lab(leaves=1, spines=1) as lab:
        namespaces.clean()
        assert present(lab.namespaces.values()) == list(lab.namespaces.values())


def test_unknown_cable_is_refused(lab):
    answer = lab.child.ask('{"cable": "link/leaf9:Ethernet49", "on": false}')
    assert answer == {"error": "the fabric has no 'link/leaf9:Ethernet49'"}


@pytest.mark.parametrize("sizes", [{"leaves": 0}, {"spines": 100}, {"hosts": 49}])
def test_impossible_fabric_is_refused(sizes):
    with pytest.raises(ValueError, match=next(iter(sizes))):
        Shape(**sizes)
    option = next(f"--{name}={number}" for name, number in sizes.items())
    ended = subprocess.run(
        [sys.executable, "-m", "simulator.linux", option],
        capture_output=True,
        check=False,
        text=True,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") <= 6


def test_leaf_sends_by_a_spine_only_what_that_spine_delivers():
    shape = Shape(leaves=3, spines=2)
    alive = {cable.component for cable in shape.uplinks} - {"link/leaf2:Ethernet49"}
    found = routes(shape, "leaf1", Roads(alive=alive, weights={}))
    hops = {
        where.prefix: [hop.interface for hop in told]
        for where, told in found.items()
        if where.table == MAIN
    }
    assert hops == {"10.2.0.0/24": ["Ethernet50"], "10.3.0.0/24": ["Ethernet49", "Ethernet50"]}
    spine = routes(shape, "spine1", Roads(alive=alive, weights={}))
    assert [where.prefix for where in spine] == ["10.1.0.0/24", "10.3.0.0/24"]
