"""The bank of all series against one detector a series, value by value; compiled and not."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors import hot
from detectors.adwin import AdwinConfig
from detectors.bank import DetectorBank
from detectors.cusum import CusumConfig
from detectors.page_hinkley import PageHinkleyConfig
from detectors.series import Rows
from detectors.standardise import Standardise
from detectors.traits import Traits
from detectors.variance import VarianceConfig

CONFIGS = [
    PageHinkleyConfig(tolerance_sigmas=0.25, threshold_sigmas=6.0),
    CusumConfig(threshold_sigmas=4.0),
    VarianceConfig(threshold_sigmas=6.0),
    AdwinConfig(),
]
WARMUP = 10


@pytest.fixture(params=["compiled", "numpy"])
def arithmetic(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(hot, "loops", lambda: None)
    elif hot.loops() is None:
        pytest.skip("numba is not installed")
    return request.param


def bank_of(config, ids):
    bank = DetectorBank([config])
    bank.add(ids)
    bank.warm(ids, np.empty((len(ids), 0)))
    return bank


def noisy(seed, *, series, values=1500):
    """Return rows of standard normal values with shifts of mean and spread, and gaps."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(values, series))
    rows[values // 3 :, ::2] += 1.5
    rows[values // 2 :, 1::2] *= 3.0
    rows[random.random(rows.shape) < 0.02] = np.nan
    return rows


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.kind)
@pytest.mark.parametrize("ids", [[0, 1, 2, 3, 4], [7, 2, 9, 0]], ids=["in a row", "scattered"])
def test_the_bank_tells_what_a_detector_of_each_series_tells(arithmetic, config, ids):
    ids = np.array(ids)
    bank, alone = bank_of(config, ids), [config.build() for _ in ids]
    told = 0
    for row in noisy(3, series=len(ids)):
        expected = {
            place: config.kind
            for place, (detector, value) in enumerate(zip(alone, row.tolist(), strict=True))
            if not math.isnan(value) and detector.update(value) is not None
        }
        assert bank.update(Rows(ids), row) == expected
        told += len(expected)
    assert told >= len(ids)


def test_a_pickled_bank_goes_on_where_it_stood(arithmetic):
    """C62."""
    ids, rows = np.arange(6), noisy(5, series=6)
    for config in CONFIGS:
        bank = bank_of(config, ids)
        for row in rows[:700]:
            bank.update(Rows(ids), row)
        copy = pickle.loads(pickle.dumps(bank))
        for row in rows[700:]:
            assert copy.update(Rows(ids), row) == bank.update(Rows(ids), row)


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 1000),
    level=st.sampled_from([0.0, 1e-6, 1e5, -3.0]),
    is_log=st.booleans(),
)
def test_compiled_and_not_are_equal_to_the_last_bit(seed, level, is_log):
    fast = hot.loops()
    if fast is None:
        pytest.skip("numba is not installed")
    outcomes = []
    for loops in (fast, None):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(hot, "loops", lambda loops=loops: loops)
            outcomes.append(outcome(seed, level, is_log))
    for one, other in zip(*outcomes, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def outcome(seed, level, is_log):
    ids = np.array([4, 1, 2])
    made = Standardise(WARMUP)
    made.add(ids, [Traits(1e-9 if is_log else math.nan, 0.1, 0.01, 0)] * 3)
    bank = DetectorBank(CONFIGS[:3])
    bank.add(ids)
    rows, told = Rows(ids), []
    for values in level + noisy(seed, series=3, values=200) * max(abs(level), 1.0) * 0.1:
        scaled = made.scaled(rows, values)
        sigmas = made.sigmas(rows, scaled)
        told += [sigmas, np.array(sorted(bank.update(rows, sigmas)))]
        warm = made.learn(rows, scaled, np.abs(sigmas) < 3.0)
        bank.warm(warm, made.take_windows(warm) if len(warm) else np.empty((0, 0)))
    return told


def test_a_warm_series_costs_less_than_a_hundred_bytes():
    bank = DetectorBank([PageHinkleyConfig(), VarianceConfig()])
    assert Standardise(60).bytes_a_series + bank.bytes_a_series <= 100
