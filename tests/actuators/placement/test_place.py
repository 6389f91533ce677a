"""All flows placed together: exact on even fabrics, near the bound on others, never a dead path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuators.placement import ecmp, place
from cluster.fabric import leaf_spine, three_tier
from cluster.flows import Flows


def ring(fabric, stride, **columns):
    ends = np.arange(len(fabric.endpoints))
    return Flows.of(ends, (ends + stride) % len(ends), 1.0, **columns)


def dead(fabric, *links):
    capacity = fabric.capacity.copy()
    capacity[list(links)] = 0.0
    return fabric.with_capacity(capacity)


def paths_are_whole(placement):
    """Tell whether every sub-flow goes from switch to switch to its goal, or nowhere."""
    fabric, flows = placement.fabric, placement.flows
    for flow, links, stranded in zip(
        placement.flow, placement.links, placement.is_stranded, strict=True
    ):
        at = fabric.endpoint_leaf[flows.source[flow]]
        goal = fabric.endpoint_leaf[flows.target[flow]]
        used = links[links >= 0]
        for link in used:
            ends = fabric.lower[link // 2], fabric.upper[link // 2]
            assert ends[link % 2] == at
            assert fabric.capacity[link] > 0.0
            at = ends[1 - link % 2]
        assert (at == goal) != bool(stranded)
    return True


@pytest.mark.parametrize("spines", [1, 2, 3, 4, 5, 6, 7, 8, 12])
@pytest.mark.parametrize("per_spine", [1, 2])
def test_equal_flows_on_an_even_fabric_reach_the_bound_exactly(spines, per_spine):
    fabric = leaf_spine(leaves=5, spines=spines, endpoints=spines * per_spine)
    placement = place(fabric, ring(fabric, spines * per_spine))
    assert paths_are_whole(placement)
    proof = placement.certificate
    assert (proof.bound, proof.busiest, proof.reached) == (per_spine, per_spine, 1.0)


@pytest.mark.parametrize(("spines", "cores"), [(2, 2), (4, 4), (3, 5), (4, 2)])
def test_equal_flows_on_a_fat_tree_reach_the_bound_at_leaves_and_pods(spines, cores):
    fabric = three_tier(pods=4, leaves=4, spines=spines, cores=cores, endpoints=spines)
    placement = place(fabric, ring(fabric, 4 * spines + 1))
    assert paths_are_whole(placement)
    assert placement.certificate.reached == 1.0


@given(
    tiers=st.sampled_from([2, 3]),
    pairs=st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=50),
    sizes=st.sampled_from([(1.0,), (1.0, 0.5), (2.0, 1.0, 0.1)]),
    lost=st.sets(st.integers(0, 31), max_size=6),
    subflows=st.integers(1, 3),
)
def test_nothing_is_lost_and_no_dead_link_carries_anything(tiers, pairs, sizes, lost, subflows):
    fabric = (
        leaf_spine(leaves=4, spines=4, endpoints=4)
        if tiers == 2
        else three_tier(pods=2, leaves=4, spines=2, cores=2, endpoints=2)
    )
    broken = dead(fabric, *(link for link in lost if link < fabric.links))
    source, target = ([pair[n] for pair in pairs] for n in (0, 1))
    flows = Flows.of(source, target, [sizes[n % len(sizes)] for n in range(len(pairs))])
    placement = place(broken, flows, subflows=subflows)
    assert paths_are_whole(placement)
    total = np.bincount(placement.flow, placement.bits_per_second, minlength=len(flows))
    assert np.allclose(total, flows.bits_per_second)
    proof = placement.certificate
    assert proof.reached <= 1.0 + 1e-9
    # What no placement can beat, hashing does not either.
    hashed = ecmp(broken, flows, subflows=subflows)
    if not hashed.is_stranded.any() and not placement.is_stranded.any():
        assert hashed.certificate.busiest >= proof.bound * (1.0 - 1e-9)


def test_dead_uplink_leaves_whole_flows_the_integer_bound():
    fabric = dead(leaf_spine(leaves=4, spines=4, endpoints=4), 0)
    proof = place(fabric, ring(fabric, 4)).certificate
    assert (proof.bound, proof.reached) == (2.0, 1.0)
    assert proof.component == "switch/leaf1"
    assert "4 sub-flows" in proof.words
    assert "3 working cables" in proof.words


def test_split_flows_use_what_whole_ones_cannot():
    fabric = dead(leaf_spine(leaves=4, spines=4, endpoints=4), 0)
    proof = place(fabric, ring(fabric, 4), subflows=3).certificate
    assert (round(proof.bound, 6), proof.reached) == (round(4 / 3, 6), 1.0)


def test_slower_link_carries_less():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=10, uplink_bits_per_second=10.0)
    capacity = fabric.capacity.copy()
    capacity[0] = 5.0
    placement = place(fabric.with_capacity(capacity), ring(fabric, 10))
    assert placement.link_load()[[0, 2]].tolist() == [3.0, 7.0]
    assert placement.certificate.reached == 1.0


def test_faster_spine_carries_more():
    fabric = leaf_spine(leaves=4, spines=3, endpoints=8)
    capacity = fabric.capacity.reshape(4, 3, 2).copy()
    capacity[:, 2] = 2.0
    placement = place(fabric.with_capacity(capacity.ravel()), ring(fabric, 8))
    assert placement.link_load().reshape(4, 3, 2)[:, :, 0].tolist() == [[2.0, 2.0, 4.0]] * 4
    assert placement.certificate.reached == 1.0


def test_parallel_cables_share_evenly():
    fabric = leaf_spine(leaves=3, spines=2, endpoints=6, parallel=3)
    placement = place(fabric, ring(fabric, 6))
    assert placement.link_load().tolist() == [1.0] * fabric.links


def test_each_priority_is_spread_by_itself():
    fabric = leaf_spine(leaves=2, spines=4, endpoints=8, uplink_bits_per_second=2.0)
    flows = ring(fabric, 8, priority=np.tile([5, 0], 8))
    placement = place(fabric, flows)
    important = placement.plane[flows.priority == 5].reshape(2, 4)
    assert [sorted(row) for row in important.tolist()] == [[0, 1, 2, 3]] * 2


def test_planes_are_kept_for_what_cannot_be_steered():
    fabric = leaf_spine(leaves=4, spines=8, endpoints=8)
    free = np.arange(32) % 8 > 0
    placement = place(fabric, ring(fabric, 8, steerable=free))
    assert set(placement.plane[~free].tolist()) == {7}
    assert set(placement.plane[free].tolist()) == set(range(7))


def test_flow_that_no_path_leads_for_is_told():
    fabric = dead(leaf_spine(leaves=3, spines=2, endpoints=2), 0, 2)
    placement = place(fabric, ring(fabric, 2))
    assert placement.is_stranded.tolist() == [True, True, False, False, False, False]
    assert placement.links[placement.is_stranded].max() == -1


def test_local_flows_take_no_link():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=4)
    placement = place(fabric, Flows.of([0, 4], [1, 5]))
    assert placement.is_local.all()
    assert not placement.is_stranded.any()
    assert placement.link_load().sum() == 0.0
    assert placement.certificate.reached == 1.0


def test_nothing_to_place_is_a_placement():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=1)
    placement = place(fabric, Flows.of([], [], []))
    assert (len(placement.flow), placement.certificate.reached) == (0, 1.0)


def test_planning_twice_gives_the_same_plan():
    fabric = leaf_spine(leaves=6, spines=5, endpoints=5)
    flows = ring(fabric, 5, steerable=np.arange(30) % 3 > 0)
    first, second = place(fabric, flows, subflows=2), place(fabric, flows, subflows=2)
    assert first.plane.tolist() == second.plane.tolist()


def test_sub_flows_are_counted_from_one():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=1)
    with pytest.raises(ValueError, match="subflows is 0"):
        place(fabric, ring(fabric, 1), subflows=0)
