"""Chains and what is kept for hashed flows; compiled and plain loops plan the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actuators.placement import adapt, kernels, place
from actuators.placement.layers import layers_of
from actuators.placement.repair import Effort, shift
from actuators.placement.reserve import Reserve
from actuators.placement.work import Work
from cluster.compiled import compiled
from cluster.fabric import leaf_spine, three_tier
from cluster.flows import Flows


def _fabric(tiers):
    if tiers == 2:
        return leaf_spine(leaves=4, spines=4, endpoints=4)
    return three_tier(pods=3, leaves=2, spines=2, cores=3, endpoints=4)


def _flows(fabric, seed, count=1):
    rng = np.random.default_rng(seed)
    ends = len(fabric.endpoint_leaf)
    return Flows.concatenate(
        [Flows.of(np.arange(ends), rng.permutation(ends)) for _ in range(count)]
    )


def _without(fabric, links):
    capacity = fabric.capacity.copy()
    capacity[[link for link in links if link < len(capacity)]] = 0.0
    return fabric.with_capacity(capacity)


def _story(tiers, seed):
    """Place, break, mend and renew; return every choice that was made."""
    fabric = _fabric(tiers)
    flows = _flows(fabric, seed, count=3)
    kept = np.where(np.arange(len(flows)) % 3 == 0, -1, np.arange(len(flows))).astype(np.int32)
    made = [place(fabric, flows, subflows=2)]
    made.append(adapt(made[-1], _without(fabric, [0, 1, 9])))
    made.append(adapt(made[-1], fabric, most_moved_share=0.3))
    renewed = _flows(fabric, seed + 1, count=3)
    made.append(adapt(made[-1], fabric, renewed, kept=kept, subflows=2, most_moved_share=0.5))
    return [(p.plane.tolist(), p.core.tolist(), p.links.tolist()) for p in made]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tiers", [2, 3])
def test_compiled_and_plain_loops_plan_the_same(tiers, seed, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(kernels, "_chosen", lambda module, _: module)
    plain = _story(tiers, seed)
    monkeypatch.setattr(kernels, "_chosen", lambda module, _: compiled(module.__name__))
    assert _story(tiers, seed) == plain


def test_without_numba_the_plain_loops_answer(monkeypatch):
    monkeypatch.setattr(kernels, "can_compile", lambda: False)
    monkeypatch.setattr(kernels, "_MANY", 1)
    kernels._ready.clear()
    fabric = _fabric(2)
    assert not kernels.warm_up()
    assert place(fabric, _flows(fabric, 1)).certificate.reached == 1.0


def _work(fabric, flows, plane, core):
    whole = place(fabric, flows)
    work = Work(
        layers=whole.layers,
        ends=whole.ends,
        bits=whole.bits_per_second,
        plane=plane.astype(np.int32),
        core=core.astype(np.int32),
    )
    work.plane[whole.is_local] = -1
    across = work.ends.tail_pod != work.ends.head_pod
    work.core[~across | whole.is_local] = -1
    return work


@settings(deadline=None, max_examples=40)
@given(
    tiers=st.sampled_from([2, 3]),
    seed=st.integers(0, 99),
    most=st.integers(0, 6),
    fixed=st.integers(0, 5),
)
def test_chains_make_nothing_worse_and_move_no_more_than_they_may(tiers, seed, most, fixed):
    fabric = _fabric(tiers)
    flows = _flows(fabric, seed)
    rng = np.random.default_rng(seed)
    layers = layers_of(fabric)
    work = _work(
        fabric,
        flows,
        rng.integers(0, layers.planes, len(flows)),
        rng.integers(0, max(layers.cores, 1), len(flows)),
    )
    before = work.plane.copy(), work.core.copy()
    load = work.load()
    over = np.maximum(load - 1.0, 0.0).sum()
    cost = np.ones(len(flows), dtype=np.int8)
    cost[:fixed] = -1
    effort = Effort(cost=cost, most_spent=most, most_looks=200)
    spent = shift(work, load, target=1.0, effort=effort)
    changed = (work.plane != before[0]) | (work.core != before[1])
    np.testing.assert_allclose(load, work.load(), atol=1e-9)
    assert spent <= most
    assert not changed[:fixed].any()
    assert ((work.plane >= 0) == (before[0] >= 0)).all()
    assert ((work.core >= 0) == (before[1] >= 0)).all()
    if tiers == 2:  # what moves to another plane takes a core there, wherever that leaves it
        assert changed.sum() <= spent
        assert np.maximum(load - 1.0, 0.0).sum() <= over


def test_hashed_flows_stay_on_the_planes_that_are_kept():
    fabric = leaf_spine(leaves=8, spines=8, endpoints=8, uplink_bits_per_second=2.0)
    flows = _flows(fabric, 3)
    steerable = np.arange(len(flows)) % 8 > 0
    flows = Flows.of(flows.source, flows.target, steerable=steerable)
    plan = place(fabric, flows)
    hashed = ~steerable & ~plan.is_local
    kept = Reserve.of(plan.layers, plan.ends, plan.bits_per_second, steerable)
    assert len(kept.planes) < 4
    assert set(plan.plane[hashed].tolist()) <= set(kept.planes.tolist())
    assert not np.isin(plan.plane[steerable & ~plan.is_local], kept.planes).any()


def test_expected_load_is_all_of_the_hashed_traffic_at_every_leaf_and_pod():
    fabric = _fabric(3)
    flows = _flows(fabric, 5)
    plan = place(fabric, flows)
    free = np.arange(len(flows)) % 4 > 0
    kept = Reserve.of(plan.layers, plan.ends, plan.bits_per_second, free)
    load = kept.expected_load(plan.layers, plan.ends, plan.bits_per_second)
    hashed = ~free & ~plan.is_local
    across = hashed & (plan.ends.tail_pod != plan.ends.head_pod)
    assert load.sum() == pytest.approx(2.0 * hashed.sum() + 2.0 * across.sum())


def test_flows_of_which_none_can_be_steered_may_go_anywhere():
    fabric = leaf_spine(leaves=4, spines=4, endpoints=8)
    flows = Flows.of(np.arange(32), np.roll(np.arange(32), 8), steerable=False)
    plan = place(fabric, flows)
    assert set(plan.plane.tolist()) == {0, 1, 2, 3}
    assert not plan.is_stranded.any()
