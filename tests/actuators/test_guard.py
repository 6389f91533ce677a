from dataclasses import replace

import pytest

from actuators import guard
from actuators.proposal import Proposal
from actuators.records import Action, ActionKind, Change, Event, Mode, ReasonCode
from actuators.settings import GuardConfig, RuleConfig

NOW = 10_000_000_000_000
SECOND = 1_000_000_000

ACTION = Action(
    action_id="x",
    kind=ActionKind.REROUTE,
    target="link/leaf1:e49",
    parameter="weight_share",
    from_value="1.00",
    to_value="0.05",
    changes=(Change(target="switch/leaf1", path="/w", from_value="20", to_value="1"),),
    expected_gain_ratio=0.4,
    expected_cost_seconds=1.0,
    driver="gnmi",
)
PROPOSAL = Proposal(
    action=ACTION, scope=("link/leaf1:e49",), touched=("switch/leaf1",), reason="slow"
)
CALM = guard.Situation(
    now_ns=NOW,
    alert_sent_ns=NOW - SECOND,
    objective="job/train",
    objective_received_ns=NOW - 2 * SECOND,
)
AUTO = GuardConfig(mode=Mode.AUTO)


def test_everything_checked_is_told_with_its_numbers():
    permit = guard.check(PROPOSAL, CALM, AUTO)
    assert permit == guard.Permit(
        mode=Mode.AUTO,
        reason_code=ReasonCode.WITHIN_POLICY,
        reason="mode is auto",
        checked=(
            "mode of reroute on link/leaf1:e49: auto",
            "kill switch: not pulled",
            "alert is 1.0 s old, at most 30 s",
            "job/train is 2.0 s old, at most 30 s",
            "no open action on the same components",
            "1 targets under action at once, at most 8",
            "cool-down: no action before",
            "0 actions in the last hour, at most 12",
        ),
    )


@pytest.mark.parametrize(
    ("changed", "config", "event", "code"),
    [
        ({}, {"enabled": False}, Event.SKIPPED_BREAKER, ReasonCode.KILL_SWITCH),
        ({}, {"mode": Mode.OFF}, Event.NOTHING, ReasonCode.MODE_OFF),
        (
            {"alert_sent_ns": NOW - 31 * SECOND},
            {},
            Event.SKIPPED_STALE,
            ReasonCode.STALE_ALERT,
        ),
        (
            {"objective_received_ns": NOW - 31 * SECOND},
            {},
            Event.SKIPPED_STALE,
            ReasonCode.STALE_DATA,
        ),
        ({"objective_received_ns": None}, {}, Event.SKIPPED_STALE, ReasonCode.STALE_DATA),
        (
            {"open_scopes": {"d9": frozenset({"job/train"})}},
            {},
            Event.SKIPPED_CONFLICT,
            ReasonCode.ACTION_IN_FLIGHT,
        ),
        (
            {"open_touched": frozenset({"switch/a", "switch/b"})},
            {"blast_radius": 2},
            Event.SKIPPED_BREAKER,
            ReasonCode.BLAST_RADIUS,
        ),
        (
            {"acted_ns": {"link/leaf1:e49": NOW - 299 * SECOND}},
            {},
            Event.SKIPPED_COOLDOWN,
            ReasonCode.COOLDOWN,
        ),
    ],
)
def test_limit_that_does_not_hold_stops_the_action(changed, config, event, code):
    permit = guard.check(PROPOSAL, replace(CALM, **changed), AUTO.model_copy(update=config))
    assert (permit.refused, permit.reason_code) == (event, code)


def test_cooled_down_target_may_be_changed_again():
    situation = replace(CALM, acted_ns={"link/leaf1:e49": NOW - 300 * SECOND})
    assert guard.check(PROPOSAL, situation, AUTO).refused is None


def test_flapping_ends_with_a_person():
    """C76: beyond the budget of an hour nothing acts by itself."""
    situation = replace(CALM, actions_ns=tuple(NOW - n * SECOND for n in range(12)))
    permit = guard.check(PROPOSAL, situation, AUTO)
    assert (permit.mode, permit.reason_code) == (Mode.APPROVE, ReasonCode.FLAP_BUDGET)


def test_actions_older_than_an_hour_do_not_count():
    situation = replace(CALM, actions_ns=(NOW - 3601 * SECOND,) * 12)
    assert guard.check(PROPOSAL, situation, AUTO).mode is Mode.AUTO


@pytest.mark.parametrize(
    ("rules", "mode"),
    [
        ((), Mode.ADVISE),
        ((RuleConfig(kind=ActionKind.REROUTE, mode=Mode.AUTO),), Mode.AUTO),
        ((RuleConfig(target="link/leaf9:*", mode=Mode.AUTO),), Mode.ADVISE),
        (
            (
                RuleConfig(kind=ActionKind.REASSIGN, mode=Mode.OFF),
                RuleConfig(target="link/leaf1:*", mode=Mode.APPROVE),
                RuleConfig(mode=Mode.AUTO),
            ),
            Mode.APPROVE,
        ),
    ],
)
def test_first_rule_that_fits_gives_the_mode(rules, mode):
    assert guard.check(PROPOSAL, CALM, GuardConfig(rules=rules)).mode is mode


def test_approval_is_checked_again_when_it_runs():
    config = GuardConfig(mode=Mode.APPROVE)
    assert guard.recheck(PROPOSAL, CALM, config).refused is None
    stale = replace(CALM, objective_received_ns=NOW - 60 * SECOND)
    assert guard.recheck(PROPOSAL, stale, config).refused is Event.SKIPPED_STALE
