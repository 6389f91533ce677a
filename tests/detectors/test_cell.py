"""The demo's faults, and what must stay silent, on a small synthetic cell."""

import math
from dataclasses import replace

import numpy as np
import pytest

from detectors.records import AlertState, Cause
from tests.detectors.world import SETTINGS, World, detector, job, run

WARM = 100


def told(alerts):
    return [(alert.component, alert.cause, alert.state) for alert in alerts]


def after_fault(seconds=60, *, world=None, **fault):
    """Return (detector, world, detections, alerts) of a fault that begins when all is warm."""
    made, world = detector(), world or World()
    assert run(made, world, WARM) == ([], [])
    for name, value in fault.items():
        setattr(world, name, value)
    return made, world, *run(made, world, seconds)


def heal(world):
    healthy = World()
    world.bad_link, world.hot_gpu = healthy.bad_link, healthy.hot_gpu
    world.long_answers, world.silent, world.frozen = 0.0, healthy.silent, healthy.frozen


def test_ten_quiet_minutes_are_silent():
    """C58."""
    assert run(detector(), World(seed=7), 600) == ([], [])


def test_a_degraded_link_is_accused_and_the_job_is_its_victim():
    _, _, _, alerts = after_fault(bad_link=0.5)
    assert told(alerts) == [("link/leaf1:up2", Cause.LINK_DEGRADED, AlertState.OPENED)]
    assert alerts[0].affected == ("job/pretrain",)
    assert 0 <= alerts[0].detected_ns - 101e9 <= 10e9


def test_a_hot_gpu_is_accused_and_the_other_ranks_are_its_victims():
    _, _, _, alerts = after_fault(hot_gpu=0.4)
    assert told(alerts) == [("gpu/h1:GPU-1", Cause.SLOW_GPU_THERMAL, AlertState.OPENED)]
    assert alerts[0].affected[0] == "job/pretrain"
    assert len(alerts[0].affected) == 8


def test_starved_decode_is_found_on_the_pool():
    _, _, _, alerts = after_fault(long_answers=1.0)
    assert told(alerts) == [("pool/chat:decode", Cause.DECODE_STARVED, AlertState.OPENED)]
    assert alerts[0].affected == ("service/chat",)
    assert [r.component for r in alerts[0].ruled_out] == ["pool/chat:prefill"]


@pytest.mark.parametrize("fault", [{"bad_link": 0.5}, {"hot_gpu": 0.4}, {"long_answers": 1.0}])
def test_a_fault_that_is_over_is_resolved_once(fault):
    made, world, _, opened = after_fault(**fault)
    heal(world)
    _, alerts = run(made, world, 120)
    assert told(alerts) == [(opened[0].component, opened[0].cause, AlertState.RESOLVED)]
    assert alerts[0].alert_id == opened[0].alert_id


@pytest.mark.parametrize("load", [0.6, 1.5])
def test_a_load_that_all_share_accuses_nobody(load):
    _, _, _, alerts = after_fault(load=load)
    assert alerts == []


def test_one_shift_is_one_detection():
    """C59."""
    _, _, detections, _ = after_fault(bad_link=0.5)
    assert len({(d.series, d.scope) for d in detections}) == len(detections)


def test_a_drained_link_is_not_accused():
    _, _, detections, alerts = after_fault(120, weights=(20, 20, 1, 20))
    assert (detections, alerts) == ([], [])


def moved(flows, *, told):
    made, world = detector(), World()
    run(made, world, WARM)
    world.flows = flows
    if told:
        made.job_event(replace(job(), source_ports=(50_000, 51_000)), "changed")
    return run(made, world, 120)


def test_flows_that_their_job_sends_another_way_accuse_no_link():
    assert moved((3, 3, 0, 2), told=True) == ([], [])
    # A hash that changes by itself is another matter.
    assert moved((3, 3, 0, 2), told=False)[0] != []


def test_draining_a_degraded_link_keeps_its_alert_open_while_errors_last():
    made, world, _, _ = after_fault(bad_link=0.5)
    world.weights = (20, 20, 1, 20)
    _, alerts = run(made, world, 120)
    assert [a for a in alerts if a.component != "link/leaf1:up2"] == []
    assert AlertState.RESOLVED not in [alert.state for alert in alerts]


def test_an_engine_that_changes_its_role_raises_no_alarm():
    roles = ("prefill", "prefill", "decode", "decode", "decode", "decode")
    _, _, detections, alerts = after_fault(120, roles=roles)
    assert (detections, alerts) == ([], [])


def test_a_silent_source_is_a_telemetry_fault():
    """C13, C22: never a device fault."""
    made, world, _, alerts = after_fault(silent=frozenset({"host/h1"}))
    assert told(alerts) == [("target/h1", Cause.TELEMETRY_FAULT, AlertState.OPENED)]
    heal(world)
    assert told(run(made, world, 90)[1]) == [
        ("target/h1", Cause.TELEMETRY_FAULT, AlertState.RESOLVED)
    ]


def test_a_collector_that_was_away_makes_no_source_silent():
    made, world = detector(), World()
    run(made, world, WARM)
    world.second += 600
    assert run(made, world, 30)[1] == []


def test_a_body_that_repeats_itself_is_a_telemetry_fault():
    """C23."""
    _, _, _, alerts = after_fault(frozen=frozenset({"h1"}))
    assert told(alerts) == [("target/h1", Cause.TELEMETRY_FAULT, AlertState.OPENED)]


def test_missing_values_change_nothing():
    """C56."""
    made, world = detector(), World()
    for second in range(WARM):
        for each in world.frames():
            values = each.values.copy()
            if second % 3 == 1:
                values[:, ::2] = math.nan
            assert made.update(replace(each, values=values)).alerts == ()
    world.hot_gpu = 0.4
    assert [a.component for a in run(made, world, 30)[1]] == ["gpu/h1:GPU-1"]


def test_the_same_shift_in_any_unit_gives_the_same_answer():
    """C57."""

    def onsets(scale):
        made, world = detector(), World()
        told = []
        for second in range(WARM + 30):
            world.hot_gpu = 0.4 if second >= WARM else 0.0
            for each in world.frames():
                scales = np.array(
                    [
                        scale if c.metric == "gpu_sm_clock_hertz" else 1.0
                        for c in each.layout.columns
                    ]
                )
                told += made.update(replace(each, values=each.values * scales)).detections
        return [
            (d.onset_ns, d.detected_ns) for d in told if d.series.metric == "gpu_sm_clock_hertz"
        ]

    assert onsets(1.0) == onsets(1e-9)
    assert len(onsets(1.0)) == 2


@pytest.mark.parametrize("at", [20, 102, 103, 150])
def test_a_restart_in_between_changes_no_alert(at):
    """C62, and the promise of DESIGN.md 5: after kill -9 the alerts are the same as without it."""
    straight, restarted = detector(), detector()
    worlds = World(), World()
    told = []
    for second in range(210):
        if second == at:
            snapshot = restarted.snapshot()
            restarted = detector()
            assert restarted.restore(snapshot) == ""
        pair = []
        for made, world in zip((straight, restarted), worlds, strict=True):
            world.bad_link = 0.5 if 100 <= second < 130 else 0.0
            pair.append(run(made, world, 1))
        assert pair[0] == pair[1]
        told += pair[0][1]
    assert len(told) == 2


def test_a_state_with_other_parameters_is_refused_with_a_note():
    """C62."""
    made = detector(SETTINGS.model_copy(update={"warmup_samples": 31}))
    note = made.restore(detector().snapshot())
    assert note.startswith("state is of 'state 1, river")


def test_a_state_that_names_anything_else_is_refused():
    made = detector()
    head = made.snapshot().partition(b"\n")[0]
    import pickle  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    evil = head + b"\n" + zlib.compress(pickle.dumps(print))
    assert made.restore(evil) == (
        "state cannot be read: builtins.print is no part of a detector's state"
    )
