"""Hashing, local and greedy choice: what placements are held against."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuators.placement import baseline_loops, baselines, search
from actuators.placement.baselines import ecmp, greedy, local
from cluster.compiled import compiled
from cluster.fabric import leaf_spine, three_tier
from cluster.flows import Flows

_WAYS = [ecmp, local, greedy]


def _fabric(tiers):
    if tiers == 2:
        return leaf_spine(leaves=4, spines=4, endpoints=4)
    return three_tier(pods=2, leaves=2, spines=2, cores=2, endpoints=4)


def _permutation(fabric, seed):
    ends = len(fabric.endpoint_leaf)
    return Flows.of(np.arange(ends), np.random.default_rng(seed).permutation(ends))


def _without(fabric, cables):
    capacity = fabric.capacity.copy()
    for cable in cables:
        capacity[2 * cable : 2 * cable + 2] = 0.0
    return fabric.with_capacity(capacity)


@pytest.mark.parametrize("way", _WAYS)
@given(
    tiers=st.sampled_from([2, 3]),
    seed=st.integers(0, 99),
    dead=st.sets(st.integers(0, 15), max_size=3),
    subflows=st.integers(1, 3),
)
def test_every_flow_has_a_working_path_from_end_to_end(way, tiers, seed, dead, subflows):
    fabric = _without(_fabric(tiers), dead)
    flows = _permutation(fabric, seed)
    placement = way(fabric, flows, subflows=subflows)
    for flow, links in zip(placement.flow, placement.links, strict=True):
        used = links[links >= 0]
        at, end = fabric.endpoint_leaf[[flows.source[flow], flows.target[flow]]]
        for link in used:
            low, high = fabric.lower[link // 2], fabric.upper[link // 2]
            begins, at_next = (high, low) if link % 2 else (low, high)
            assert begins == at
            assert fabric.capacity[link] > 0.0
            at = at_next
        assert len(used) == 0 or at == end
    lost = placement.is_stranded
    assert not lost[placement.is_local].any()
    if not dead:
        assert not lost.any()


def test_a_flow_for_which_no_path_works_is_stranded():
    fabric = _without(leaf_spine(leaves=2, spines=2, endpoints=1), [0, 1])
    for way in _WAYS:
        assert way(fabric, Flows.of([0], [1])).is_stranded.tolist() == [True]


def test_the_hash_is_the_same_for_a_seed_and_another_for_another():
    fabric = leaf_spine(leaves=8, spines=8, endpoints=8)
    flows = _permutation(fabric, 0)
    first, again, other = (ecmp(fabric, flows, seed=seed).plane for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_the_hash_fills_all_ways_alike():
    fabric = leaf_spine(leaves=2, spines=4, endpoints=64)
    ends = np.arange(128)
    flows = Flows.of(np.repeat(ends[:64], 64), np.tile(ends[64:], 64))
    share = np.bincount(ecmp(fabric, flows).plane, minlength=4) / len(flows)
    np.testing.assert_allclose(share, 0.25, atol=0.03)


def test_connections_between_the_same_ends_are_hashed_apart():
    fabric = leaf_spine(leaves=2, spines=8, endpoints=1)
    flows = Flows.of([0] * 64, [1] * 64)
    assert set(ecmp(fabric, flows).plane.tolist()) == set(range(8))
    assert len(set(ecmp(fabric, flows.take([0]), subflows=32).plane.tolist())) > 4


def test_local_choice_evens_out_its_own_links_and_knows_no_others():
    fabric = leaf_spine(leaves=3, spines=2, endpoints=2)
    flows = Flows.of([0, 1, 2, 3], [4, 2, 4, 5])
    placement = local(fabric, flows)
    load = placement.link_load()
    assert placement.plane.tolist() == [0, 1, 0, 1]
    assert load[0::2].max() == 1.0
    assert load[1::2].max() == 2.0


def test_greedy_choice_sees_the_way_down_too():
    fabric = leaf_spine(leaves=3, spines=2, endpoints=2)
    flows = Flows.of([0, 1, 2, 3], [4, 2, 4, 5])
    assert greedy(fabric, flows.take([0, 2])).link_load().max() == 1.0


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("tiers", [2, 3])
def test_compiled_and_plain_loops_give_the_same_paths(way, tiers, monkeypatch):
    pytest.importorskip("numba")
    fabric = _without(_fabric(tiers), [1])
    flows = Flows.concatenate([_permutation(fabric, seed) for seed in range(8)])
    for name, module in (("baselines", baseline_loops), ("searching", search)):
        monkeypatch.setattr(baselines, name, lambda _, of=module: of)
    plain = way(fabric, flows, subflows=2)
    for name, module in (("baselines", baseline_loops), ("searching", search)):
        monkeypatch.setattr(baselines, name, lambda _, of=module: compiled(of.__name__))
    made = way(fabric, flows, subflows=2)
    assert (made.plane.tolist(), made.core.tolist()) == (plain.plane.tolist(), plain.core.tolist())
