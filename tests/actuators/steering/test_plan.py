from dataclasses import replace

import pytest

from actuators.records import Change
from actuators.steering import paths
from actuators.steering.capability import Rung
from actuators.steering.change_set import Phase
from actuators.steering.plan import change_set
from actuators.steering.site import Assignment, Site, Uplink, numbered
from tests.actuators.steering.sites import (
    HOPS,
    INTERFACES,
    JOB,
    TARGET,
    WEIGHT_PATHS,
    assignment,
    flow,
    means,
    rule_state,
    site,
)

A, B, C, D = INTERFACES


def text(number, hop):
    return next(iter(rule_state(assignment([hop], [flow(number)]), site()).values()))


def test_moved_flow_gets_its_rule_changed_and_no_other():
    planned = change_set(assignment([A, B, C]), assignment([A, D, C]), means(Rung.POLICY_RULES))
    assert planned.changes == (
        Change(
            target=TARGET,
            path=paths.rule_path(2),
            from_value=text(2, B),
            to_value=text(2, D),
        ),
    )
    assert planned.rungs == {TARGET: Rung.POLICY_RULES}
    assert planned.advice == ()


def test_first_rules_follow_the_policy_and_ended_flows_rules_go_last():
    old = assignment([A], [flow(1)])
    new = assignment([B], [flow(2)])
    planned = change_set(old, new, means(Rung.POLICY_RULES, at=site(is_ready=False)))
    assert [(step.phase, [c.path for c in step.changes]) for step in planned.steps] == [
        (Phase.PREPARE, [paths.policy_name_path(), paths.binding_path("Ethernet1")]),
        (Phase.MOVE, [paths.rule_path(2)]),
        (Phase.REMOVE, [paths.rule_path(1)]),
    ]


def test_taking_back_unbinds_before_the_policy_goes():
    new = assignment([B], [flow(2)])
    planned = change_set(Assignment(), new, means(Rung.POLICY_RULES, at=site(is_ready=False)))
    assert [(s.phase, [c.path for c in s.changes]) for s in planned.inverse().steps] == [
        (
            Phase.REMOVE,
            [paths.binding_path("Ethernet1"), paths.rule_path(2), paths.policy_name_path()],
        ),
    ]


def test_job_that_can_is_told_ports_and_the_switch_is_left_alone():
    flows = [flow(1, source_port=49153), flow(2, source_port=0)]
    planned = change_set(
        assignment([A, None], flows),
        assignment([C, D], flows),
        means(Rung.POLICY_RULES, job=True),
    )
    assert planned.changes == (
        Change(target=JOB, path=paths.source_port_path(1, 0), from_value="49153", to_value="51201"),
        Change(target=JOB, path=paths.source_port_path(2, 0), from_value="0", to_value="52226"),
    )
    assert planned.rungs == {JOB: Rung.SOURCE_PORTS}


def test_connection_that_sends_from_the_right_class_keeps_its_port():
    flows = [flow(1, source_port=49999)]
    placed = assignment([A], flows)
    assert change_set(placed, placed, means(job=True)).changes == ()


def test_uplink_without_a_class_is_reached_by_a_rule():
    at = site()
    at = replace(at, uplinks=tuple(replace(u, port_class=None) for u in at.uplinks))
    planned = change_set(
        assignment([None]), assignment([B]), means(Rung.POLICY_RULES, at=at, job=True)
    )
    assert planned.rungs == {TARGET: Rung.POLICY_RULES}


def test_weights_say_what_is_placed_where_nothing_finer_can():
    new = assignment([A, A, B, C])
    planned = change_set(assignment([None] * 4), new, means(Rung.WEIGHTS))
    told = {c.path: (c.from_value, c.to_value) for c in planned.changes}
    assert told == dict(
        zip(WEIGHT_PATHS, [("", "2"), ("", "1"), ("", "1"), ("", "0")], strict=True)
    )
    assert planned.changes[-1].to_value == "0"


def test_degraded_uplink_is_drained_where_nothing_finer_can():
    at = site(avoided=(B,))
    planned = change_set(assignment([B]), assignment([A]), means(Rung.DRAIN, at=at))
    assert planned.changes == (
        Change(target=TARGET, path=paths.enabled_path(B), from_value="true", to_value="false"),
    )
    assert planned.steps[0].phase is Phase.REMOVE


def test_last_way_out_is_never_drained():
    at = site(avoided=(B,), down=(A, C, D))
    planned = change_set(assignment([B]), assignment([B]), means(Rung.DRAIN, at=at))
    assert planned.changes == ()
    assert "no way out" in planned.advice[0]


def test_drained_uplink_comes_back_before_others_go():
    at = site(avoided=(B,), off=(A,))
    planned = change_set(Assignment(), assignment([C]), means(Rung.DRAIN, at=at))
    assert [(s.phase, s.changes[0].to_value) for s in planned.steps] == [
        (Phase.PREPARE, "true"),
        (Phase.REMOVE, "false"),
    ]


def test_where_nothing_can_be_done_a_person_is_told_what_and_why():
    planned = change_set(assignment([A]), assignment([B]), means())
    assert planned.changes == ()
    assert planned.advice[0].startswith("pretrain rank 1 at leaf1")
    assert f"should leave by {B}" in planned.advice[0]


def test_largest_flows_get_the_rules_there_is_room_for():
    flows = [flow(n, bits_per_second=n * 1e9) for n in (1, 2, 3)]
    planned = change_set(
        assignment([None] * 3, flows),
        assignment([A, B, C], flows),
        means(Rung.POLICY_RULES, most_rules=2),
    )
    numbers = [paths.rule_number(change.path) for change in planned.changes]
    assert numbers == [2, 3]
    assert len(planned.advice) == 1


def test_flow_placed_on_a_dead_uplink_is_refused():
    with pytest.raises(ValueError, match="Ethernet50, which is down"):
        change_set(Assignment(), assignment([B]), means(Rung.POLICY_RULES, at=site(down=(B,))))


def test_unknown_switch_and_uplink_are_refused():
    with pytest.raises(ValueError, match="no uplink 'Ethernet7'"):
        change_set(Assignment(), assignment(["Ethernet7"]), means(Rung.POLICY_RULES))
    stranger = replace(flow(1), switch="leaf9")
    with pytest.raises(ValueError, match="'leaf9'"):
        change_set(Assignment(), assignment([A], [stranger]), means())


def test_policy_needs_an_edge_interface():
    at = site(is_ready=False, edge=())
    with pytest.raises(ValueError, match="no edge interface"):
        change_set(Assignment(), assignment([A]), means(Rung.POLICY_RULES, at=at))


def test_uplinks_that_cannot_be_told_apart_are_refused():
    twins = (Uplink(interface=A, next_hop=HOPS[0]), Uplink(interface=B, next_hop=HOPS[0]))
    with pytest.raises(ValueError, match="one next hop"):
        Site(switch="leaf1", uplinks=twins)


def test_flow_keeps_its_number_and_new_ones_fill_the_gaps():
    matches = [flow(n).match for n in (4, 5, 6)]
    assert numbered(matches, {matches[1]: 1}) == {matches[0]: 2, matches[1]: 1, matches[2]: 3}
