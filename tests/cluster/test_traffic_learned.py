"""The matrix that is learned from counters: what it gets right, and what it cannot know."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.fabric import Fabric
from cluster.gravity import estimate, fit, flows_of
from cluster.topology import Host, Link, Switch, Topology
from cluster.traffic import leaf_matrix


def fabric(*, leaves: int, spines: int, pods: int = 1, cores: int = 0) -> Fabric:
    """Return a fabric of one rate with two NICs a leaf; every spine has every core."""
    names = [f"leaf{p}.{n}" for p in range(pods) for n in range(leaves)]
    tops = [f"spine{p}.{s}" for p in range(pods) for s in range(spines)]
    wires = [
        *((f"h-{leaf}:nic{k}", f"{leaf}:e{k}") for leaf in names for k in range(2)),
        *(
            (f"leaf{p}.{n}:up{s}", f"spine{p}.{s}:e{n}")
            for p in range(pods)
            for n in range(leaves)
            for s in range(spines)
        ),
        *((f"{top}:up{c}", f"core{c}:{top}") for top in tops for c in range(cores)),
    ]
    tiers = [(names, 1), (tops, 2), ([f"core{c}" for c in range(cores)], 3)]
    return Fabric.of(
        Topology(
            switches=tuple(
                Switch(name=name, cell="c", tier=tier) for some, tier in tiers for name in some
            ),
            hosts=tuple(Host(name=f"h-{leaf}", cell="c") for leaf in names),
            links=tuple(
                Link(lower=lower, upper=upper, capacity_bits_per_second=400e9)
                for lower, upper in wires
            ),
        )
    )


def sprayed(over: Fabric, matrix: np.ndarray) -> np.ndarray:
    """Return the load of each directed link when everything is spread evenly over all paths."""
    load = np.zeros(2 * len(over.cables))
    pod = np.array([over.switches[i].partition(".")[0][-1] for i in range(len(over.tier))])
    leaves = np.flatnonzero(over.tier == 1)
    for i, a in enumerate(leaves):
        for j, b in enumerate(leaves):
            for switch, way in ((a, 0), (b, 1)):
                own = np.flatnonzero(over.lower == switch)
                load[2 * own + way] += matrix[i, j] / len(own)
            if pod[a] != pod[b]:
                for at, way in ((pod[a], 0), (pod[b], 1)):
                    border = np.flatnonzero((over.tier[over.lower] == 2) & (pod[over.lower] == at))
                    load[2 * border + way] += matrix[i, j] / len(border)
    return load


def uniform(leaves: int, each: float = 10e9) -> np.ndarray:
    return each * (1.0 - np.eye(leaves))


@pytest.mark.parametrize(
    ("shape", "leaves"),
    [({"leaves": 4, "spines": 3}, 4), ({"leaves": 2, "spines": 2, "pods": 3, "cores": 2}, 6)],
)
def test_an_all_to_all_is_found_exactly(shape, leaves):
    over = fabric(**shape)
    told = estimate(over, sprayed(over, uniform(leaves)))
    assert told.misfit_ratio < 1e-6
    assert told.bits_per_second == pytest.approx(uniform(leaves), rel=1e-4, abs=1.0)


def test_what_each_spine_carries_tells_pairs_apart():
    over = fabric(leaves=4, spines=2)
    # Leaves 0 and 1 talk by way of spine 0 alone, leaves 2 and 3 by way of spine 1.
    load = np.zeros(2 * len(over.cables))
    for a, spine in ((0, 0), (1, 0), (2, 1), (3, 1)):
        cable = int(np.flatnonzero((over.lower == a) & (over.upper == 4 + spine))[0])
        load[2 * cable : 2 * cable + 2] = 50e9
    told = estimate(over, load).bits_per_second
    pairs = {(0, 1), (1, 0), (2, 3), (3, 2)}
    expected = [[50e9 if (i, j) in pairs else 0.0 for j in range(4)] for i in range(4)]
    assert told == pytest.approx(np.array(expected), abs=1.0)


def test_traffic_within_pods_is_told_from_traffic_between_them():
    over = fabric(leaves=3, spines=2, pods=2, cores=2)
    inside = np.kron(np.eye(2), np.ones((3, 3))) * uniform(6)
    told = estimate(over, sprayed(over, inside)).bits_per_second
    assert told == pytest.approx(inside, rel=1e-4, abs=1.0)


def test_a_ring_has_the_right_totals_and_the_wrong_pairs():
    over = fabric(leaves=4, spines=2)
    ring = 100e9 * np.roll(np.eye(4), 1, axis=1)
    told = estimate(over, sprayed(over, ring)).bits_per_second
    assert told.sum(axis=1) == pytest.approx(ring.sum(axis=1))
    assert told == pytest.approx(uniform(4, 100e9 / 3), rel=1e-4, abs=1.0)


def test_counters_that_no_matrix_fits_are_told():
    # Leaf 0 sends more than the others together receive.
    over = fabric(leaves=3, spines=1)
    load = np.zeros(2 * len(over.cables))
    load[0], load[3], load[5], load[1] = 100e9, 20e9, 20e9, 60e9
    assert estimate(over, load).misfit_ratio > 0.1
    assert estimate(over, np.zeros(len(load))).misfit_ratio == 0.0


@settings(max_examples=50)
@given(st.lists(st.floats(1e6, 1e9), min_size=3, max_size=12), st.randoms(use_true_random=False))
def test_rows_and_columns_sum_as_given(sent, random):
    matrix = np.array([[random.uniform(0.1, 1.0) * a for _ in sent] for a in sent])
    np.fill_diagonal(matrix, 0.0)
    fitted = fit(matrix.sum(axis=1), matrix.sum(axis=0))
    assert fitted.sum(axis=1) == pytest.approx(matrix.sum(axis=1), rel=1e-3)
    assert fitted.sum(axis=0) == pytest.approx(matrix.sum(axis=0), rel=1e-3)
    assert np.all(np.diag(fitted) == 0.0)
    assert np.all(fitted >= 0.0)


def test_the_matrix_as_flows_is_the_matrix_again():
    over = fabric(leaves=3, spines=2)
    matrix = np.array([[0.0, 5e9, 1e9], [2e9, 0.0, 0.0], [7e9, 4e9, 0.0]])
    flows = flows_of(over, matrix)
    assert leaf_matrix(over, flows) == pytest.approx(matrix)
    assert len(flows) == 2 * 5
    assert np.bincount(flows.source, flows.bits_per_second).max() == pytest.approx(5.5e9)
    assert len(flows_of(over, np.zeros((3, 3)))) == 0
