"""Placements against linear programs and against every possible placement of small fabrics."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actuators.placement import adapt, place
from actuators.placement.placement import Placement
from cluster.fabric import leaf_spine, three_tier
from cluster.fairness import max_min_rates
from cluster.fairness_paths import placed_rates
from cluster.flows import Flows
from tests.actuators.placement.oracle import least_busiest


def _permutation(fabric, seed, bits=1.0):
    ends = len(fabric.endpoint_leaf)
    return Flows.of(np.arange(ends), np.random.default_rng(seed).permutation(ends), bits)


def _slower(fabric, link, share):
    capacity = fabric.capacity.copy()
    capacity[link] *= share
    return fabric.with_capacity(capacity)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 999),
    dead=st.sets(st.integers(0, 15), max_size=3),
    subflows=st.sampled_from([1, 2, 4]),
)
def test_no_placement_is_below_the_linear_program_and_no_bound_above_what_is_reached(
    seed, dead, subflows
):
    fabric = leaf_spine(leaves=4, spines=4, endpoints=4)
    capacity = fabric.capacity.copy()
    for cable in dead:
        capacity[2 * cable : 2 * cable + 2] = 0.0
    fabric = fabric.with_capacity(capacity)
    flows = _permutation(fabric, seed)
    placement = place(fabric, flows, subflows=subflows)
    told = placement.certificate
    assert told.bound <= told.busiest + 1e-9
    if not placement.is_stranded.any():
        assert told.busiest >= least_busiest(fabric, flows) - 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_even_fabrics_reach_the_linear_program_with_whole_flows(seed):
    for fabric in (
        leaf_spine(leaves=4, spines=4, endpoints=4),
        three_tier(pods=2, leaves=2, spines=2, cores=2, endpoints=2),
    ):
        flows = Flows.concatenate([_permutation(fabric, seed)] * 4)
        lowest = least_busiest(fabric, flows)
        busiest = place(fabric, flows).certificate.busiest
        # Whole flows of one bit per second: the next whole number cannot be beaten.
        assert busiest == np.ceil(lowest - 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_one_slower_link_costs_no_more_than_whole_sub_flows_must(seed):
    fabric = _slower(leaf_spine(leaves=3, spines=3, endpoints=3), 2 * seed, 0.7)
    flows = _permutation(fabric, seed)
    placement = place(fabric, flows, subflows=8)
    lowest = least_busiest(fabric, flows)
    assert lowest - 1e-9 <= placement.certificate.busiest <= lowest + 0.25 / 0.7


def _every_placement(fabric, flows, spines):
    count = len(flows)
    for planes in product(range(spines), repeat=count):
        yield Placement.of(
            fabric,
            flows,
            flow=np.arange(count, dtype=np.int32),
            bits_per_second=flows.bits_per_second,
            plane=np.array(planes, dtype=np.int32),
            core=np.full(count, -1, dtype=np.int32),
        )


@pytest.mark.parametrize("seed", range(4))
def test_uneven_flows_on_few_spines_are_near_the_best_of_all_placements(seed):
    fabric = leaf_spine(leaves=3, spines=2, endpoints=2, uplink_bits_per_second=2.0)
    rng = np.random.default_rng(seed)
    flows = Flows.of(np.arange(6), np.roll(np.arange(6), 2), rng.choice([0.25, 0.5, 1.0], 6))
    best = min(p.certificate.busiest for p in _every_placement(fabric, flows, 2))
    placement = place(fabric, flows)
    assert placement.certificate.bound <= best + 1e-9
    assert placement.certificate.busiest <= best + 0.125


@pytest.mark.parametrize("spines", [2, 3])
def test_equal_flows_reach_the_best_of_all_placements_exactly(spines):
    fabric = leaf_spine(leaves=3, spines=spines, endpoints=2)
    for seed in range(6):
        flows = _permutation(fabric, seed)
        best = min(p.certificate.busiest for p in _every_placement(fabric, flows, spines))
        assert place(fabric, flows).certificate.busiest == best


def test_a_chain_moves_what_no_single_move_can():
    """A new flow finds one way full up and the other full down, and who is there finds so too."""
    fabric = leaf_spine(leaves=4, spines=2, endpoints=2)
    a, b, c, d = 0, 2, 4, 6
    flows = Flows.of([a, c, c + 1, d], [c, b, d, c + 1])
    before = Placement.of(
        fabric,
        flows,
        flow=np.arange(4, dtype=np.int32),
        bits_per_second=flows.bits_per_second,
        plane=np.array([1, 0, 1, 0], dtype=np.int32),
        core=np.full(4, -1, dtype=np.int32),
    )
    now = Flows.concatenate([flows, Flows.of([a + 1], [b + 1])])
    kept = np.array([0, 1, 2, 3, -1], dtype=np.int32)
    after = adapt(before, fabric, now, kept=kept, most_moved_share=0.4)
    assert after.certificate.busiest == 1.0
    assert (after.plane[:4] != before.plane).sum() == 2
    stuck = adapt(before, fabric, now, kept=kept, most_moved_share=0.2)
    assert stuck.certificate.busiest == 2.0
    assert (stuck.plane[:4] == before.plane).all()


def test_rates_of_a_placement_are_those_of_the_matrix_with_nics_as_links():
    fabric = _slower(leaf_spine(leaves=3, spines=2, endpoints=3), 0, 0.5)
    flows = _permutation(fabric, 5)
    placement = place(fabric, flows, subflows=2)
    rows, ends = len(placement.flow), len(fabric.endpoint_leaf)
    usage = np.zeros((rows, fabric.links + 2 * ends))
    for row, links in enumerate(placement.links):
        usage[row, links[links >= 0]] = 1.0
        usage[row, fabric.links + flows.source[placement.flow[row]]] = 1.0
        usage[row, fabric.links + ends + flows.target[placement.flow[row]]] = 1.0
    capacity = np.concatenate((fabric.capacity, np.tile(fabric.endpoint_capacity, 2)))
    rates = placed_rates(
        fabric,
        flows,
        flow=placement.flow,
        bits_per_second=placement.bits_per_second,
        links=placement.links,
    )
    by_matrix = max_min_rates(usage, capacity, placement.bits_per_second)
    np.testing.assert_allclose(rates, by_matrix, atol=1e-9)
