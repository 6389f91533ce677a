"""What jobs put on the network, and when."""

import re

import numpy as np
import pytest

from cluster.collectives import Collective
from cluster.fabric import Fabric
from cluster.topology import Host, Link, Switch, Topology
from cluster.traffic import Job, Phase, idle_stretches, leaf_matrix, phases_of, together

HOSTS = 4
GBIT = 1e9


def topology() -> Topology:
    """Return two leaves and two spines; four hosts, two to a leaf, two NICs of 400 Gbit/s each."""
    return Topology(
        switches=(
            *(Switch(name=f"leaf{n}", cell="c", tier=1) for n in (1, 2)),
            *(Switch(name=f"spine{n}", cell="c", tier=2) for n in (1, 2)),
        ),
        hosts=tuple(Host(name=f"h{n}", cell="c") for n in range(HOSTS)),
        links=(
            *(
                Link(
                    lower=f"h{n}:nic{k}",
                    upper=f"leaf{n // 2 + 1}:e{2 * (n % 2) + k}",
                    capacity_bits_per_second=400 * GBIT,
                )
                for n in range(HOSTS)
                for k in range(2)
            ),
            *(
                Link(
                    lower=f"leaf{n}:up{s}",
                    upper=f"spine{s}:e{n}",
                    capacity_bits_per_second=800 * GBIT,
                )
                for n in (1, 2)
                for s in (1, 2)
            ),
        ),
    )


FABRIC = Fabric.of(topology())
# A rank on the first NIC of each host.
ONE_EACH = {n: f"h{n}:nic0" for n in range(HOSTS)}
# Two ranks a host, as GPUs are numbered.
TWO_EACH = {2 * n + k: f"h{n}:nic{k}" for n in range(HOSTS) for k in range(2)}


def job(*collectives: Collective, nics=ONE_EACH, **more) -> Job:
    return Job(job_id="pretrain", nics=nics, collectives=collectives, **more)


def flows(phase: Phase) -> dict[tuple[str, str], float]:
    """Return wanted Gbit/s by (source, target)."""
    ends = zip(phase.flows.source, phase.flows.target, strict=True)
    pairs = [(FABRIC.endpoints[a], FABRIC.endpoints[b]) for a, b in ends]
    rates = (float(rate) / GBIT for rate in phase.flows.bits_per_second)
    return dict(zip(pairs, rates, strict=True))


def collective(kind: str, size: float = 5e9, **more) -> Collective:
    return Collective(kind=kind, **({"bytes": size, "period_seconds": 1.0} | more))


def test_a_ring_wants_the_whole_nic_for_as_long_as_its_bytes_take():
    (phase,) = phases_of([job(collective("all_reduce"))], FABRIC)
    assert flows(phase) == {
        ("h0:nic0", "h1:nic0"): 400.0,
        ("h1:nic0", "h2:nic0"): 400.0,
        ("h2:nic0", "h3:nic0"): 400.0,
        ("h3:nic0", "h0:nic0"): 400.0,
    }
    assert (phase.start_seconds, phase.duration_seconds, phase.period_seconds) == (0.0, 0.1, 1.0)


def test_an_all_to_all_shares_the_nic_among_the_others():
    (phase,) = phases_of([job(collective("all_to_all"))], FABRIC)
    assert flows(phase) == pytest.approx(
        {(a, b): 400.0 / 3 for a in ONE_EACH.values() for b in ONE_EACH.values() if a != b}
    )


def test_a_tree_wants_the_nic_of_its_busiest_rank():
    (phase,) = phases_of([job(collective("all_reduce", algorithm="tree", size=12.0))], FABRIC)
    # Ranks 1 and 2 send 16 bytes, the others 8.
    assert flows(phase) == pytest.approx(
        {
            ("h0:nic0", "h2:nic0"): 100.0,
            ("h2:nic0", "h0:nic0"): 100.0,
            ("h1:nic0", "h2:nic0"): 200.0,
            ("h2:nic0", "h1:nic0"): 200.0,
            ("h2:nic0", "h3:nic0"): 100.0,
            ("h3:nic0", "h2:nic0"): 100.0,
            ("h1:nic0", "h3:nic0"): 100.0,
            ("h3:nic0", "h1:nic0"): 100.0,
            ("h0:nic0", "h1:nic0"): 100.0,
            ("h1:nic0", "h0:nic0"): 100.0,
        }
    )


def test_a_pipeline_sends_forward_and_back():
    (phase,) = phases_of([job(collective("send_recv", algorithm="pipeline"))], FABRIC)
    # An inner stage sends both ways on one NIC.
    assert flows(phase) == {
        (f"h{a}:nic0", f"h{b}:nic0"): 200.0
        for a, b in [(0, 1), (1, 2), (2, 3), (1, 0), (2, 1), (3, 2)]
    }


def test_a_parameter_server_is_as_slow_as_the_servers_nic():
    (phase,) = phases_of([job(collective("parameter_server", servers=(0,)))], FABRIC)
    workers = [f"h{n}:nic0" for n in (1, 2, 3)]
    assert flows(phase) == pytest.approx(
        {(w, "h0:nic0"): 400.0 / 3 for w in workers} | {("h0:nic0", w): 400.0 / 3 for w in workers}
    )
    assert phase.duration_seconds == pytest.approx(0.3)


def test_ranks_of_one_host_do_not_use_the_network():
    (phase,) = phases_of([job(collective("all_reduce"), nics=TWO_EACH)], FABRIC)
    assert flows(phase) == {(f"h{n}:nic1", f"h{(n + 1) % 4}:nic0"): 400.0 for n in range(4)}
    assert phases_of([job(collective("all_reduce", ranks=(0, 1)), nics=TWO_EACH)], FABRIC) == []


def test_an_announced_duration_is_kept_where_the_nic_allows_it():
    slow, fast = (
        phases_of([job(collective("all_reduce", duration_seconds=seconds))], FABRIC)[0]
        for seconds in (0.4, 0.01)
    )
    assert (set(flows(slow).values()), slow.duration_seconds) == ({100.0}, 0.4)
    assert (set(flows(fast).values()), fast.duration_seconds) == ({400.0}, 0.1)


def test_priority_job_and_steerability_go_with_the_flows():
    other = Job(
        job_id="other",
        nics=ONE_EACH,
        collectives=(collective("all_reduce"),),
        priority=7,
        is_steerable=False,
    )
    first, second = phases_of([job(collective("all_reduce")), other], FABRIC)
    assert (first.job, first.job_id, set(first.flows.priority)) == (0, "pretrain", {0})
    assert (second.job, set(second.flows.job), set(second.flows.priority)) == (1, {1}, {7})
    assert (all(first.flows.steerable), any(second.flows.steerable)) == (True, False)


def spans(*collectives: Collective) -> list[tuple[float, float, tuple[int, ...]]]:
    """Return start, length and collectives of each phase of one job."""
    return [
        (round(p.start_seconds, 6), round(p.duration_seconds, 6), p.collectives)
        for p in phases_of([job(*collectives)], FABRIC)
    ]


def test_what_overlaps_is_one_phase_and_what_does_not_is_another():
    assert spans(
        collective("all_reduce", phase_seconds=0.5),  # until 0.6
        collective("all_to_all", phase_seconds=0.0),  # until 0.1
        collective("all_reduce", phase_seconds=0.55),  # until 0.65
    ) == [(0.0, 0.1, (1,)), (0.5, 0.15, (0, 2))]


def test_a_phase_may_run_over_the_end_of_the_period():
    assert spans(
        collective("all_reduce", phase_seconds=0.05),
        collective("all_reduce", phase_seconds=0.98),
        collective("all_reduce", phase_seconds=0.4),
    ) == [(0.4, 0.1, (2,)), (0.98, 0.17, (0, 1))]


def test_collectives_of_other_periods_are_not_in_step():
    assert spans(
        collective("all_reduce"),
        collective("all_reduce", period_seconds=30.0),
        collective("all_reduce", period_seconds=0.0),
    ) == [(0.0, 0.1, (0,)), (0.0, 0.1, (1,)), (0.0, 0.1, (2,))]


def test_pauses_are_told_by_period():
    phases = phases_of(
        [
            job(
                collective("all_reduce", phase_seconds=0.2),
                collective("all_reduce", phase_seconds=0.6),
                collective("all_reduce", period_seconds=0.05),  # longer than its period
            )
        ],
        FABRIC,
    )
    told = idle_stretches(phases, job=0)
    assert set(told) == {1.0, 0.05}
    assert told[0.05] == []
    assert np.allclose(told[1.0], [(0.3, 0.6), (0.7, 1.2)])


def test_phases_of_one_job_are_never_placed_together():
    two = job(collective("all_reduce"), collective("all_to_all", phase_seconds=0.5, size=1e9))
    small = job(collective("all_reduce", ranks=(0, 2)))
    phases = phases_of([two, small], FABRIC)
    told = [[(p.job, p.collectives) for p in one] for one in together(phases)]
    assert told == [[(0, (0,)), (1, (0,))], [(0, (1,))]]


def test_the_leaf_matrix_adds_up_pairs_of_leaves():
    (phase,) = phases_of([job(collective("all_reduce"))], FABRIC)
    assert (leaf_matrix(FABRIC, phase.flows) / GBIT).tolist() == [[400.0, 400.0], [400.0, 400.0]]


def test_a_job_that_cannot_be_used_is_told_with_every_reason():
    lost = job(collective("all_reduce", ranks=(0, 9)), nics={0: "h0:nic0", 1: "h9:nic0"})
    reasons = (
        "job 'pretrain' rank 1: the fabric has no NIC 'h9:nic0'; "
        "job 'pretrain': collective 'all_reduce' names ranks [9] that are not announced"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(reasons)}$"):
        phases_of([lost], FABRIC)


def test_more_flows_than_can_be_held_are_refused():
    many = dict.fromkeys(range(5000), "h0:nic0")
    with pytest.raises(ValueError, match="all_to_all over 5000 ranks makes more than 20,000,000"):
        phases_of([job(collective("all_to_all"), nics=many)], FABRIC)
