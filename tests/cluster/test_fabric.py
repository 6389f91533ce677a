"""A fabric as arrays."""

import numpy as np
import pytest

from cluster.fabric import Fabric, leaf_spine, three_tier
from cluster.flows import Flows
from cluster.topology import Host, Link, Switch, Topology


def topology(*links, tiers=None):
    tiers = tiers or {"leaf1": 1, "leaf2": 1, "spine1": 2}
    return Topology(
        switches=tuple(Switch(name=n, cell="c", tier=t) for n, t in tiers.items()),
        hosts=(Host(name="h1", cell="c"), Host(name="h2", cell="c")),
        links=tuple(Link(lower=a, upper=b, capacity_bits_per_second=c) for a, b, c in links),
    )


WHOLE = (
    ("h1:n0", "leaf1:e1", 4.0),
    ("h2:n0", "leaf2:e1", 4.0),
    ("leaf1:u1", "spine1:d1", 8.0),
    ("leaf1:u2", "spine1:d2", 8.0),
    ("leaf2:u1", "spine1:d3", 2.0),
)


def test_topology_becomes_arrays_with_parallel_and_uneven_cables():
    fabric = Fabric.of(topology(*WHOLE))
    assert list(fabric.endpoints) == ["h1:n0", "h2:n0"]
    assert fabric.endpoint_leaf.tolist() == [0, 1]
    assert list(fabric.cables) == ["link/leaf1:u1", "link/leaf1:u2", "link/leaf2:u1"]
    assert (fabric.lower.tolist(), fabric.upper.tolist()) == ([0, 0, 1], [2, 2, 2])
    assert fabric.capacity.tolist() == [8.0, 8.0, 8.0, 8.0, 2.0, 2.0]
    assert fabric.link_name(3) == "link/leaf1:u2 down"


@pytest.mark.parametrize(
    ("links", "tiers", "why"),
    [
        (WHOLE[:4], None, "leaf 'leaf2' has hosts and no way up"),
        (WHOLE, {"leaf1": 1, "leaf2": 1, "spine1": 3}, "link/leaf2:u1 joins tiers 1 and 3"),
        (WHOLE, {"leaf1": 2, "leaf2": 2, "spine1": 3}, "no leaf, a switch of tier 1"),
    ],
)
def test_topology_that_is_no_fabric_is_refused_with_every_reason(links, tiers, why):
    with pytest.raises(ValueError, match=why):
        Fabric.of(topology(*links, tiers=tiers))


def test_synthetic_leaf_spine_is_numbered_by_leaf_spine_and_cable():
    fabric = leaf_spine(leaves=2, spines=3, endpoints=4, parallel=2)
    assert fabric.lower.tolist() == [0] * 6 + [1] * 6
    assert fabric.upper.tolist() == [2, 2, 3, 3, 4, 4] * 2
    assert fabric.endpoint_leaf.tolist() == [0] * 4 + [1] * 4
    assert (fabric.cables[7], fabric.switches[4], fabric.endpoints[-1]) == (
        "link/leaf2:up2",
        "spine3",
        "h2:nic3",
    )


def test_synthetic_fat_tree_joins_spine_j_to_plane_j():
    fabric = three_tier(pods=2, leaves=2, spines=2, cores=3, endpoints=1)
    tier = fabric.tier
    assert np.bincount(tier).tolist() == [0, 4, 4, 6]
    assert (tier[fabric.upper] == tier[fabric.lower] + 1).all()
    planes = {
        (s % 2, (c - 8) // 3) for s, c in zip(fabric.lower[8:] - 4, fabric.upper[8:], strict=True)
    }
    assert planes == {(0, 0), (1, 1)}


def test_names_of_a_large_fabric_are_made_when_asked_for():
    fabric = three_tier(pods=32, leaves=32, spines=32, cores=32, endpoints=64)
    assert len(fabric.endpoints) == 65_536
    assert fabric.endpoints[65_535] == "h1024:nic63"
    with pytest.raises(IndexError):
        fabric.switches[len(fabric.switches)]


@pytest.mark.parametrize("capacity", [[1.0], [-1.0] * 12, [np.nan] * 12])
def test_capacities_that_do_not_fit_are_refused(capacity):
    with pytest.raises(ValueError, match="capacit"):
        leaf_spine(leaves=2, spines=3, endpoints=1).with_capacity(np.array(capacity))


def test_flows_are_columns():
    flows = Flows.of([0, 1], [1, 0], 5.0, job=[3, 4], steerable=[True, False])
    both = Flows.concatenate([flows, flows.take([1])])
    assert both.job.tolist() == [3, 4, 4]
    assert both.bits_per_second.tolist() == [5.0] * 3
    assert both.take(~both.steerable).source.tolist() == [1, 1]
    assert len(Flows.concatenate([])) == 0
    with pytest.raises(ValueError, match="negative"):
        Flows.of([0], [1], -1.0)
