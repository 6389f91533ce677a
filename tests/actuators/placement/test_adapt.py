"""After an event few flows move, and the bound is reached where that can be had."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuators.placement import adapt, place
from cluster.fabric import leaf_spine, three_tier
from cluster.flows import Flows
from tests.actuators.placement.test_place import dead, paths_are_whole, ring


@pytest.mark.parametrize(
    "fabric",
    [
        leaf_spine(leaves=6, spines=5, endpoints=5),
        three_tier(pods=3, leaves=4, spines=4, cores=4, endpoints=4),
    ],
)
@pytest.mark.parametrize("cable", [0, 7])
def test_only_what_was_on_a_dead_cable_moves_and_the_bound_is_reached(fabric, cable):
    before = place(fabric, ring(fabric, 7))
    after = adapt(before, dead(fabric, 2 * cable, 2 * cable + 1))
    hit = ((before.links == 2 * cable) | (before.links == 2 * cable + 1)).any(axis=1)
    assert after.moved_from(before).tolist() == hit.tolist()
    assert paths_are_whole(after)
    assert after.certificate.reached == 1.0


def test_certificate_after_an_event_is_that_of_a_fresh_look():
    fabric = three_tier(pods=3, leaves=4, spines=4, cores=4, endpoints=4)
    broken = dead(fabric, 0, 1, 100)
    after = adapt(place(fabric, ring(fabric, 7)), broken)
    assert after.certificate.bound == place(broken, ring(fabric, 7)).certificate.bound


def test_dead_spine_moves_its_flows_alone():
    fabric = leaf_spine(leaves=4, spines=4, endpoints=4)
    before = place(fabric, ring(fabric, 4))
    gone = [link for cable in range(1, 16, 4) for link in (2 * cable, 2 * cable + 1)]
    after = adapt(before, dead(fabric, *gone))
    assert after.moved_from(before).tolist() == (before.plane == 1).tolist()
    assert (after.certificate.bound, after.certificate.reached) == (2.0, 1.0)


def test_link_that_is_slower_keeps_what_it_can_carry():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=20, uplink_bits_per_second=10.0)
    before = place(fabric, ring(fabric, 20))
    capacity = fabric.capacity.copy()
    capacity[0] = 7.0
    after = adapt(before, fabric.with_capacity(capacity), most_moved_share=0.1)
    assert before.link_load()[[0, 2]].tolist() == [10.0, 10.0]
    assert after.link_load()[[0, 2]].tolist() == [8.0, 12.0]
    moved = after.moved_from(before)
    assert moved.sum() == 2
    assert (before.links[moved, 0] == 0).all()


def test_recovery_moves_no_more_than_it_may():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=20, uplink_bits_per_second=20.0)
    broken = dead(fabric, 0, 1)
    during = place(broken, ring(fabric, 20))
    after = adapt(during, fabric, most_moved_share=0.25)
    assert during.link_load()[[0, 2]].tolist() == [0.0, 20.0]
    assert after.moved_from(during).sum() == 10
    whole = adapt(during, fabric, most_moved_share=1.0)
    assert (whole.certificate.busiest, whole.certificate.reached) == (0.5, 1.0)
    assert whole.moved_from(during).sum() == 20


def test_flows_come_and_go_and_those_that_stay_do_not_move():
    fabric = leaf_spine(leaves=4, spines=4, endpoints=8, uplink_bits_per_second=2.0)
    flows = ring(fabric, 8)
    before = place(fabric, flows, subflows=2)
    kept = np.where(np.arange(32) % 4 > 0, np.arange(32), -1).astype(np.int32)
    others = Flows.of(flows.source, np.where(kept < 0, (flows.target + 8) % 32, flows.target))
    after = adapt(before, fabric, others, kept=kept, subflows=2, most_moved_share=0.0)
    stays = np.repeat(kept >= 0, 2)
    assert (after.plane[stays] == before.plane[stays]).all()
    assert paths_are_whole(after)
    assert not after.is_stranded.any()


@given(lost=st.sets(st.integers(0, 31), max_size=8), seed=st.integers(0, 9))
def test_no_flow_is_lost_and_last_paths_stay(lost, seed):
    fabric = leaf_spine(leaves=4, spines=4, endpoints=4)
    ends = np.arange(16)
    before = place(fabric, Flows.of(ends, np.random.default_rng(seed).permutation(16)))
    broken = dead(fabric, *lost)
    after = adapt(before, broken)
    assert paths_are_whole(after)
    alive = (broken.capacity[before.links] > 0.0).all(axis=1) & (before.plane >= 0)
    may_move = int(0.01 * len(ends))
    assert after.moved_from(before)[alive].sum() <= may_move


def test_another_fabric_or_flows_without_their_numbers_are_refused():
    fabric = leaf_spine(leaves=2, spines=2, endpoints=2)
    before = place(fabric, ring(fabric, 2))
    with pytest.raises(ValueError, match="has 6 cables, not 4"):
        adapt(before, leaf_spine(leaves=2, spines=3, endpoints=2))
    with pytest.raises(ValueError, match="number before"):
        adapt(before, fabric, ring(fabric, 2))
    with pytest.raises(ValueError, match="not -1 to 3"):
        adapt(before, fabric, ring(fabric, 2), kept=np.array([0, 1, 2, 9], dtype=np.int32))
