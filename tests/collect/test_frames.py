"""Readings in, frames out, as a reader of the topic sees them."""

import pytest

from cluster.frame import SeriesKey
from pipelines import topics
from pipelines.collect.frames import Frames
from pipelines.errors import DecodeError
from pipelines.messages.frames import FrameDecoder
from tests.collect.fakes import SECOND_NS, Sent, SetClock

INF = float("inf")


def key(port, metric="net_if_in_octets_total"):
    return SeriesKey(f"port/leaf1:Ethernet{port}", metric)


@pytest.fixture
def scene():
    return Scene()


class Scene:
    def __init__(self, **settings):
        self.clock, self.sent = SetClock(), Sent()
        self.frames = Frames(send=self.sent, clock=self.clock, **settings)

    def take(self, time_ns, *readings):
        return self.frames.take("switch/leaf1", "pod1", time_ns, readings)

    def flush(self):
        before = len(self.sent.frames)
        self.frames.flush()
        return self.sent.frames[before:]


def test_samples_of_a_window_travel_in_one_frame_in_order_of_device_time(scene):
    scene.take(20, (key(1), 2.0), (key(2), 5.0))
    scene.take(10, (key(1), 1.0))
    taken_ns = scene.clock.ns
    scene.clock.ns += SECOND_NS
    (frame,) = scene.flush()
    assert (frame.source, frame.cell, frame.sequence) == ("switch/leaf1", "pod1", 1)
    assert frame.received_ns == taken_ns
    assert frame.time_ns.tolist() == [10, 20]
    assert scene.sent.readings() == {key(1): [(10, 1.0), (20, 2.0)], key(2): [(20, 5.0)]}
    assert scene.flush() == []


def _is_whole(message):
    """Whether a reader that starts with this message understands it."""
    try:
        FrameDecoder().decode(message.value)
    except DecodeError:
        return False
    return True


def test_layout_is_stable_and_travels_when_new_and_then_every_so_often():
    scene = Scene(layout_every_frames=3)
    ids = []
    for time_ns in range(1, 8):
        scene.take(time_ns, (key(1), 1.0))
        ids += [frame.layout.layout_id for frame in scene.flush()]
    assert len(set(ids)) == 1
    carried = [_is_whole(message) for message in scene.sent.messages]
    assert carried == [True, False, False, True, False, False, True]
    assert [frame.sequence for frame in scene.sent.frames] == list(range(1, 8))
    assert len({dict(m.headers)["ce_id"] for m in scene.sent.messages}) == 7


def test_layouts_come_again_after_a_frame_was_lost(scene):
    for time_ns in (1, 2):
        scene.take(time_ns, (key(1), 1.0))
        scene.flush()
        scene.frames.repeat_layouts()
    FrameDecoder().decode(scene.sent.messages[1].value)


def test_ports_with_times_of_their_own_do_not_travel_as_a_matrix_of_blanks(scene):
    """Some routers stamp each interface separately."""
    for port in range(100):
        readings = [(key(port, f"m{n}"), float(n)) for n in range(20)]
        assert scene.take(1000 + port, *readings) == 20
    frames = scene.flush()
    assert sum(frame.samples for frame in frames) == 2000
    assert sum(frame.values.size for frame in frames) == 2000


def test_same_time_and_value_is_one_sample_and_another_value_is_refused(scene):
    """C11: it comes again in each window, so the series is not silent."""
    for _ in range(2):
        scene.take(5, (key(1), 1.0))
        scene.take(5, (key(1), 1.0))
        scene.flush()
    scene.take(5, (key(1), 2.0))
    scene.flush()
    assert scene.sent.readings() == {key(1): [(5, 1.0), (5, 1.0)]}
    assert scene.frames.refused == {"repeated": 2, "same_series_other_value": 1}


@pytest.mark.parametrize(
    ("metric", "value", "reason"),
    [
        ("net_if_in_octets_total", float("nan"), "not_finite"),
        ("own_metric", INF, "not_finite"),
        ("gpu_utilization_ratio", -INF, "not_finite"),
        ("gpu_utilization_ratio", 42949672.95, "out_of_range"),
        ("gpu_utilization_ratio", -0.1, "out_of_range"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_impossible_value_never_enters(scene, metric, value, reason, first):
    """C18: whether the series is new or known."""
    series = key(1, metric)
    if not first:
        scene.take(1, (series, 0.5))
    assert scene.take(2, (series, value)) == 0
    scene.flush()
    assert scene.sent.readings() == ({} if first else {series: [(1, 0.5)]})
    assert scene.frames.refused == {reason: 1}


def test_time_that_no_store_can_hold_is_refused(scene):
    for time_ns in (0, -5, 2**32 * SECOND_NS):
        assert scene.take(time_ns, (key(1), 1.0)) == 0
    assert scene.frames.refused == {"bad_time": 3}


def test_ended_series_is_told_once_and_starts_as_a_new_column(scene):
    """C12."""
    scene.take(1, (key(1), 1.0), (key(2), 1.0))
    scene.frames.end("switch/leaf1", "pod1", [key(1), key(9)])
    scene.take(2, (key(2), 2.0), (key(1), 0.0))
    scene.flush()
    told = [
        ([c.component[-1] for c in f.layout.columns], f.time_ns.tolist(), f.ended_columns)
        for f in scene.sent.frames
    ]
    assert told == [(["1", "2"], [1], ()), (["1"], [], (0,)), (["2", "1"], [2], ())]


def test_series_that_come_and_go_cost_no_memory_in_the_end():
    """C16: 200 new names a minute, old ones gone without a delete."""
    scene = Scene(idle_seconds=300.0)
    for minute in range(60):
        scene.clock.ns += 60 * SECOND_NS
        for n in range(200):
            scene.take(scene.clock.ns, (key(f"{minute}.{n}"), 1.0))
        scene.flush()
        scene.frames.evict()
    (readings,) = scene.frames._sources.values()
    assert readings.series <= 200 * 6


def test_series_beyond_the_cap_are_refused_and_counted():
    """C30."""
    scene = Scene(most_series=100)
    scene.take(1, *[(key(n), 1.0) for n in range(170)])
    scene.take(2, *[(key(n), 2.0) for n in range(170)])
    (frame,) = scene.flush()
    assert (frame.samples, scene.frames.refused) == (200, {"too_many_series": 140})


def test_large_windows_are_cut_into_messages_that_fit(scene):
    for time_ns in range(1, 401):
        scene.take(time_ns, *[(key(n), float(time_ns)) for n in range(1000)])
    scene.flush()
    assert sum(frame.samples for frame in scene.sent.frames) == 400_000
    assert max(len(m.value) for m in scene.sent.messages) < 600_000
    assert {m.topic for m in scene.sent.messages} == {topics.FRAMES}
