from detectors.score import Found, Labelled, Score, Told, read_events, score, score_table

SECOND = 1_000_000_000
EVENTS = """scenario,timestamp,event,duration,device,interface,comment,is_injected_change
a,100.5,set_loopback,,leaf1,,,True
a,90.0,clear_telemetry,,leaf1,,,False
b,100.0,add_blackhole,,leaf2,,,True
"""


def told(component, onset, detected):
    return Told(component=component, onset_ns=onset * SECOND, detected_ns=detected * SECOND)


def test_only_injected_changes_of_the_scenario_are_events():
    assert read_events(EVENTS.splitlines(), "a") == [
        Labelled(at_ns=100_500_000_000, event="set_loopback", device="leaf1")
    ]


def test_a_timely_alert_fits_and_a_late_or_early_one_does_not():
    events = [
        Labelled(at_ns=100 * SECOND, event="x", device="leaf1"),
        Labelled(at_ns=500 * SECOND, event="y", device="leaf2"),
    ]
    alerts = [
        told("port/leaf1:e1", 101, 110),
        told("port/leaf9:e1", 50, 120),
        told("port/leaf2:e1", 501, 561),
    ]
    result = score(events, alerts)
    assert result == Score(
        found=(
            Found(event=events[0], delay_seconds=10.0, on_device=True),
            Found(event=events[1], delay_seconds=None, on_device=False),
        ),
        told=3,
        fitting=1,
    )
    assert (result.recall, result.precision, result.median_delay_seconds) == (0.5, 1 / 3, 10.0)
    assert score_table(result).splitlines() == [
        "event                   device        told after  on the device",
        "x                       leaf1             10.0 s  yes",
        "y                       leaf2             missed  no",
        "recall 0.50 of 2 events, precision 0.33 of 3 told, median delay 10.0 s",
    ]


def test_nothing_told_is_a_score_too():
    result = score([], [])
    assert (result.recall, result.precision, result.median_delay_seconds) == (None, None, None)
