"""The stated bound on alarms by chance, checked by simulation; what it is made of."""

import math

import numpy as np
import pytest

from detectors.false_alarms import Assurance, Evidence, accepted, log_e_value, tail

SECOND = 1_000_000_000


def heaviest(rng, shape):
    """Return draws whose distances are exactly as far as the bound allows, signs by chance."""
    p = rng.uniform(0.0, 1.0, shape)
    distance = 2.0 * np.sqrt(p ** (-1.0 / 3.0) - 1.0)
    return distance * rng.choice([-1.0, 1.0], shape)


def ever_reached(draw, log_limit, *, series=400, values=1000, seed=1):
    """Return how often the evidence of any series first reaches a limit, then begins anew."""
    rng = np.random.default_rng(seed)
    evidence, ids, reached = Evidence(), np.arange(series), 0
    evidence.add(ids)
    for i in range(values):
        evidence.take(ids, (i + 1) * SECOND, draw(rng, series))
        over = ids[evidence.largest_of(ids) >= log_limit]
        reached += len(over)
        evidence.reset(over)
    return reached, series * values


def test_the_mean_of_an_e_value_is_at_most_one():
    rng = np.random.default_rng(2)
    assert np.exp(log_e_value(heaviest(rng, 2_000_000))).mean() < 1.05


@pytest.mark.parametrize("log_limit", [math.log(200.0), math.log(2000.0)])
@pytest.mark.parametrize(
    "draw",
    [
        heaviest,
        lambda rng, n: rng.standard_normal(n),
        lambda rng, n: 1.5 * rng.standard_normal(n),
        lambda rng, n: rng.standard_t(5, n),
    ],
)
def test_chance_reaches_a_limit_no_more_often_than_is_stated(draw, log_limit):
    """One in `exp(log_limit)` judged values, for the worst distances allowed and for usual ones."""
    reached, judged = ever_reached(draw, log_limit)
    stated = judged / math.exp(log_limit)
    assert reached <= stated + 3.0 * math.sqrt(stated)


def test_a_shift_of_ten_sigmas_reaches_any_limit_within_ten_values():
    evidence, ids = Evidence(), np.arange(1)
    evidence.add(ids)
    for i in range(10):
        evidence.take(ids, i * SECOND, np.array([10.0]))
    assert evidence.largest_of(ids)[0] > math.log(1e12)


def test_missing_values_are_not_judged():
    evidence, ids = Evidence(), np.arange(2)
    evidence.add(ids)
    evidence.take(ids, SECOND, np.array([math.nan, 1.0]))
    evidence.take(ids, 2 * SECOND, np.array([math.nan, 1.0]))
    assert evidence.judged_a_day == pytest.approx(2 * 86_400.0)
    assert evidence.largest_of(ids).tolist() == [0.0, pytest.approx(evidence.largest_of(ids)[1])]


def test_one_value_alone_never_opens_an_alert_of_a_large_cell():
    assert log_e_value(np.array([1e9]))[0] == pytest.approx(10.0)


def test_the_tail_falls_with_distance():
    assert (np.diff(tail(np.linspace(0.0, 50.0, 100))) < 0).all()


@pytest.mark.parametrize(
    ("logs", "told"),
    [
        ([], []),
        ([9.9], [False]),
        ([10.0], [True]),
        ([9.5, 9.5], [True, True]),
        ([9.0, 12.0], [False, True]),
    ],
)
def test_several_that_stand_out_need_less_each(logs, told):
    assert accepted(logs, log_limit=10.0) == told


def test_false_discoveries_are_few_among_what_is_told():
    """e-BH: of what is told at a level, no more than that share is chance, on the mean."""
    rng = np.random.default_rng(4)
    level, shares = 0.1, []
    for _ in range(300):
        logs = log_e_value(heaviest(rng, 100))
        logs[:10] += 6.0
        told = accepted(logs.tolist(), log_limit=math.log(len(logs) / level))
        shares.append(sum(told[10:]) / max(sum(told), 1))
    assert np.mean(shares) <= level


def test_an_alert_states_its_bound():
    sure = Assurance(
        log_evidence={"a": math.log(1e6), "b": 1.0}, judged_a_day=1e5, false_alarms_per_day=1.0
    )
    assert sure.bound(["a", "b"]) == pytest.approx(0.1)
    assert sure.bound(["b"]) == math.inf
    assert sure.bound(["fact"]) == 0.0
