"""Parts of a placement add up to it, and sets leave each other's paths alone."""

import numpy as np
import pytest

from actuators.placement import place
from cluster.fabric import Fabric
from cluster.flows import Flows
from cluster.traffic import phases_of, together
from pipelines.plan.examples import EXAMPLES
from pipelines.plan.job_file import jobs_of
from pipelines.plan.routed import Routed
from pipelines.plan.ways import Sets

EXAMPLE = EXAMPLES["leaf-spine-64"]()
FABRIC = Fabric.of(EXAMPLE.topology)
PHASES = phases_of(jobs_of(EXAMPLE.jobs, EXAMPLE.topology), FABRIC)


@pytest.mark.parametrize("subflows", [1, 3])
def test_parts_of_a_placement_add_up_to_it(subflows):
    flows = Flows.concatenate([phase.flows for phase in PHASES])
    placement = place(FABRIC, flows, subflows=subflows)
    cut = len(PHASES[0].flows)
    parts = [Routed.of(placement, 0, cut), Routed.of(placement, cut, len(flows))]
    assert [len(part.flows) for part in parts] == [cut, len(flows) - cut]
    assert sum(part.load(FABRIC) for part in parts) == pytest.approx(placement.link_load())
    joined = Routed.join(parts)
    assert joined.load(FABRIC) == pytest.approx(placement.link_load())
    assert joined.certificate(FABRIC).bound == pytest.approx(placement.certificate.bound)
    assert (joined.rates(FABRIC) <= flows.bits_per_second * (1 + 1e-9)).all()


def test_a_later_set_goes_where_the_first_leaves_room():
    first, second = together(PHASES)
    sets = Sets(FABRIC, None, subflows=1, seed=0)
    one = sets.place(first, ["a", "b"])
    two = sets.place(second, ["c"])
    assert (one.facts.beside, two.facts.beside) == ((), ("pretrain",))
    beside = one.routed["placed"][[p.job_id for p in first].index("pretrain")]
    both = beside.load(FABRIC) + two.routed["placed"][0].load(FABRIC)
    assert (both <= FABRIC.capacity * (1 + 1e-6)).all()
    assert two.facts.certificate.reached_ratio == pytest.approx(1.0)


def test_with_a_what_if_the_flows_of_dead_links_move_and_none_is_lost():
    capacity = FABRIC.capacity.copy()
    capacity[0:2] = 0.0
    sets = Sets(FABRIC.with_capacity(capacity), FABRIC, subflows=2, seed=0)
    placed = sets.place(together(PHASES)[0], ["a", "b"])
    for routed in placed.routed["placed"]:
        assert not routed.stranded.any()
        assert (routed.load(FABRIC)[0:2] == 0.0).all()
    assert placed.facts.moved_flows is not None
    assert 1 <= placed.facts.moved_flows <= 8
    assert np.isfinite([way.highest_load_ratio for way in placed.facts.ways]).all()
