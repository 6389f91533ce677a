from actuators.settings import EffectConfig, ObjectiveConfig
from actuators.steadiness import waits_for

_STEP = ObjectiveConfig(component="job/pretrain", metric="train_step_seconds")
_CHAT = ObjectiveConfig(component="service/chat", metric="slo_attainment_ratio")
_CONFIG = EffectConfig(worst_loss_ratio=0.05, steady_ratio=0.05)


def test_action_waits_for_readings():
    assert waits_for([1.4] * 5, 1.0, _STEP, _CONFIG) == (
        "job/pretrain has 5 readings since the onset"
    )


def test_action_waits_while_the_objective_still_slides():
    assert waits_for([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], 1.0, _STEP, _CONFIG) == (
        "job/pretrain train_step_seconds still moves"
    )


def test_action_waits_until_the_objective_has_suffered():
    assert waits_for([0.99] * 6, 1.0, _CHAT, _CONFIG) == (
        "service/chat slo_attainment_ratio has not suffered yet"
    )


def test_objective_that_got_better_has_not_suffered():
    assert "has not suffered" in waits_for([0.5] * 6, 1.0, _STEP, _CONFIG)


def test_objective_that_suffered_and_rests_is_acted_on():
    assert waits_for([1.0, 1.2, 1.4, 1.4, 1.41, 1.4, 1.4, 1.39, 1.4], 1.0, _STEP, _CONFIG) == ""
    assert waits_for([0.9, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0, _CHAT, _CONFIG) == ""


def test_unknown_healthy_level_asks_only_for_rest():
    assert waits_for([1.4] * 6, None, _STEP, _CONFIG) == ""
    assert "still moves" in waits_for([1.0, 1.0, 1.0, 1.4, 1.4, 1.4], None, _STEP, _CONFIG)
