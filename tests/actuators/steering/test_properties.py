"""What holds of every change set, whatever it is planned from."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from actuators.steering import paths
from actuators.steering.capability import Rung
from actuators.steering.change_set import applied
from actuators.steering.classes import PortClasses
from actuators.steering.install import install_classes
from actuators.steering.plan import change_set
from actuators.steering.rules import rule_of_text
from actuators.steering.weights import weights_for
from tests.actuators.steering.sites import (
    INTERFACES,
    JOB,
    TARGET,
    WEIGHT_PATHS,
    assignment,
    flow,
    means,
    rule_state,
    site,
    weight_state,
    with_weights,
)

CLASSES = PortClasses()
places = st.sampled_from([*INTERFACES, None])


@st.composite
def placements(draw):
    """Draw two assignments; flows end, begin, move and stay."""
    numbers = draw(st.lists(st.integers(1, 12), unique=True, min_size=1, max_size=8))
    both = []
    for _ in range(2):
        kept = [n for n in numbers if draw(st.booleans())]
        both.append(assignment([draw(places) for _ in kept], [flow(n) for n in kept] or None))
    return both


@given(placements(), st.booleans())
def test_rules_end_as_placed_and_planning_again_plans_nothing(both, is_ready):
    old, new = both
    at = site(is_ready=is_ready)
    state = rule_state(old, at)
    planned = change_set(old, new, means(Rung.POLICY_RULES, at=at))
    once = applied(state, planned.changes)
    rules = {key: value for key, value in once.items() if paths.rule_number(key[1]) is not None}
    assert rules == rule_state(new, at)
    assert applied(once, planned.changes) == once
    assert applied(once, planned.inverse().changes) == state
    again = change_set(new, new, means(Rung.POLICY_RULES, at=replace(at, is_ready=True)))
    assert again.changes == ()


@given(placements(), st.sets(st.sampled_from(INTERFACES), max_size=3))
def test_no_rule_ever_sends_to_a_dead_uplink_or_leaves_a_staying_flow_without_one(both, down):
    at = site(down=down)
    old, new = (
        assignment([None if i in down else i for i in told.interfaces], list(told.flows) or None)
        for told in both
    )
    planned = change_set(old, new, means(Rung.POLICY_RULES, at=at))
    state = rule_state(old, at)
    staying = {
        (TARGET, paths.rule_path(key[1]))
        for key, (_, interface) in old.by_key.items()
        if interface is not None and new.by_key.get(key, (None, None))[1] is not None
    }
    dead = {at.uplink(interface).next_hop for interface in down}
    for change in planned.changes:
        state = applied(state, [change])
        assert staying <= state.keys()
        for (_, path), value in state.items():
            number = paths.rule_number(path)
            if number is not None:
                assert rule_of_text(number, value).next_hop not in dead


@given(placements())
def test_steps_are_ordered_by_phase_and_one_a_target(both):
    planned = change_set(*both, means(Rung.POLICY_RULES, at=site(is_ready=False)))
    phases = [step.phase for step in planned.steps]
    assert phases == sorted(phases)
    assert len({(step.phase, step.target) for step in planned.steps}) == len(planned.steps)


@given(st.lists(places, min_size=1, max_size=8), st.lists(places, min_size=1, max_size=8))
def test_weights_never_leave_a_route_without_a_way_at_any_point(first, second):
    at = site(weights=dict.fromkeys(WEIGHT_PATHS, 1))
    for interfaces in (first, second):
        new = assignment(interfaces)
        planned = change_set(new, new, means(Rung.WEIGHTS, at=at))
        state = weight_state(at)
        for change in planned.changes:
            state = applied(state, [change])
            assert any(int(weight) > 0 for weight in state.values())
        assert applied(state, planned.changes) == state
        at = with_weights(at, state)
        assert change_set(new, new, means(Rung.WEIGHTS, at=at)).changes == ()
        for back in planned.inverse().changes:
            state = applied(state, [back])
            assert any(int(weight) > 0 for weight in state.values())


@given(st.sets(st.sampled_from(INTERFACES)), st.sets(st.sampled_from(INTERFACES)), placements())
def test_last_way_out_is_never_drained_at_any_point(avoided, off, both):
    at = site(avoided=avoided, off=off)
    new = assignment([None] * len(both[1].flows), list(both[1].flows) or None)
    planned = change_set(both[0], new, means(Rung.DRAIN, at=at))
    enabled = {interface: interface not in off for interface in INTERFACES}
    had_way = any(enabled.values())
    for change in planned.changes:
        enabled[paths.enabled_interface(change.path)] = change.to_value == "true"
        assert any(enabled.values()) or not had_way
    if planned.changes:
        assert any(enabled.values())


@given(st.lists(st.tuples(places, st.integers(0, 65535)), min_size=1, max_size=8))
def test_told_ports_are_of_the_class_of_the_uplink_and_telling_again_tells_nothing(told):
    flows = [flow(n, source_port=port) for n, (_, port) in enumerate(told, 1)]
    interfaces = [interface for interface, _ in told]
    plan = change_set(
        assignment([None] * len(told), flows), assignment(interfaces, flows), means(job=True)
    )
    ports = {(JOB, paths.source_port_path(f.rank, 0)): str(f.source_port) for f in flows}
    after = applied(ports, plan.changes)
    moved = [
        replace(f, source_port=int(after[JOB, paths.source_port_path(f.rank, 0)])) for f in flows
    ]
    wanted = [None if i is None else INTERFACES.index(i) for i in interfaces]
    assert [CLASSES.class_of(f.source_port) for f in moved] == wanted
    again = assignment(interfaces, moved)
    assert change_set(again, again, means(job=True)).changes == ()
    assert applied(after, plan.inverse().changes) == ports


@given(st.sets(st.sampled_from(INTERFACES)), st.sets(st.sampled_from(INTERFACES)))
def test_class_rules_follow_the_uplinks_that_are_up(down_before, down_after):
    state = {}
    at = site(is_ready=False)
    for down in (down_before, down_after):
        at = site(down=down, is_ready=at.is_ready or bool(state))
        present = {
            paths.rule_number(path): rule_of_text(paths.rule_number(path), value)
            for (_, path), value in state.items()
            if paths.rule_number(path) is not None
        }
        planned = install_classes(at, CLASSES, present=present)
        state = applied(state, planned.changes)
        hops = {
            rule_of_text(paths.rule_number(path), value).next_hop
            for (_, path), value in state.items()
            if paths.rule_number(path) is not None
        }
        assert hops == {u.next_hop for u in at.uplinks if u.is_up}


@given(
    st.dictionaries(st.text(min_size=1), st.floats(0, 1e12), min_size=1, max_size=9),
    st.integers(9, 300),
)
def test_weights_are_near_the_loads_and_never_all_zero(loads, total):
    if not any(loads.values()):
        return
    weights = weights_for(loads, total=total)
    assert any(weights.values())
    assert sum(weights.values()) <= total + len(loads)
    for name, load in loads.items():
        assert (weights[name] > 0) == (load > 0)
