"""Readings by column against a plain model of what a source's readings are."""

from collections import Counter
from math import isnan

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.catalogue import series_metric
from cluster.frame import SeriesKey
from pipelines.collect.checked import BAD_TIME, COLLISION, REPEATED, TOO_MANY_SERIES, refusal
from pipelines.collect.shapes import Readings
from pipelines.collect.slots import Slots
from pipelines.collect.source import SourceReadings

MOST = 90
KEYS = [SeriesKey(f"port/leaf1:{n % 40}", f"m{n}") for n in range(100)]
KEYS += [SeriesKey(f"gpu/h1:{n}", "gpu_utilization_ratio") for n in range(10)]
FAR = 2**32 * 10**9


class Model:
    """One reading after the other, in dictionaries."""

    def __init__(self):
        self.refused = Counter()
        self.last, self.received, self.waiting = {}, {}, {}

    def take(self, time_ns, readings, received_ns):
        accepted = 0
        for key, value in readings:
            why = self._why(time_ns, key, value)
            if why:
                self.refused[why] += 1
                continue
            self.waiting[time_ns, key] = value
            self.last[key], self.received[key] = (time_ns, value), received_ns
            accepted += 1
        return accepted

    def _why(self, time_ns, key, value):
        if not 0 < time_ns < FAR - 10**9 + 1:
            return BAD_TIME
        reason = refusal(series_metric(key.metric), value)
        if reason or (key not in self.last and len(self.last) >= MOST):
            return reason or TOO_MANY_SERIES
        last = self.last.setdefault(key, None)
        if last is not None and last[0] == time_ns and last[1] != value:
            return COLLISION
        return REPEATED if (time_ns, key) in self.waiting else ""

    def hand_out(self):
        waiting, self.waiting = self.waiting, {}
        return waiting

    def end(self, keys):
        ended = {key for key in keys if key in self.last}
        for key in ended:
            del self.last[key]
        return self.hand_out(), ended

    def evict(self, older_than_ns):
        waiting = {key for _, key in self.waiting}
        idle = [k for k in self.last if self.received.get(k, 0) < older_than_ns]
        for key in set(idle) - waiting:
            del self.last[key]


def handed_out(blocks):
    found, ended = {}, set()
    for block in blocks:
        assert list(block.time_ns) == sorted(set(block.time_ns.tolist()))
        ended |= {block.layout.columns[n] for n in block.ended_columns}
        for row, time_ns in enumerate(block.time_ns.tolist()):
            for key, value in zip(block.layout.columns, block.values[row].tolist(), strict=True):
                if not isnan(value):
                    assert (time_ns, key) not in found
                    found[time_ns, key] = value
    return found, ended


times = st.sampled_from([-5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, FAR])
numbers = st.lists(st.integers(0, len(KEYS) - 1), unique=True, max_size=8) | st.sampled_from(
    [list(range(80)), list(range(30, 110)), list(range(60))]
)
values = st.sampled_from([0.0, 0.5, 0.25, -1.0, 7.0, float("nan"), float("inf")])
takes = st.tuples(st.just("take"), times, numbers, values)
columns = st.tuples(
    st.just("columns"), st.lists(st.tuples(times, numbers, values), min_size=1, max_size=4)
)
steps = st.one_of(
    takes,
    columns,
    columns,
    st.tuples(st.just("blocks")),
    st.tuples(st.just("end"), numbers),
    st.tuples(st.just("evict"), st.integers(0, 30)),
    st.tuples(st.just("new slots")),
)


class Both:
    def __init__(self):
        self.refused = Counter()
        self.source = SourceReadings(most_series=MOST, refused=self.refused)
        self.model = Model()
        self.slots = Slots()
        self.now_ns = 0

    def step(self, name, *args):
        self.now_ns += 1
        getattr(self, name.replace(" ", "_"))(*args)
        assert self.refused == self.model.refused
        assert self.source.series == len(self.model.last)
        assert self.source.waiting == len(self.model.waiting)

    def take(self, time_ns, which, value):
        readings = [(KEYS[n], value + n % 2) for n in which]
        assert self.source.take(time_ns, readings, self.now_ns) == self.model.take(
            time_ns, readings, self.now_ns
        )

    def columns(self, messages):
        seen = set()
        chosen = []
        for time_ns, which, value in messages:
            chosen.append((time_ns, [n for n in which if n not in seen], value))
            seen.update(which)
        told = Readings(
            np.array([time_ns for time_ns, _, _ in chosen]),
            np.array([len(which) for _, which, _ in chosen]),
            np.array([self.slots.of(KEYS[n]) for _, which, _ in chosen for n in which], np.int64),
            np.array([value + n % 2 for _, which, value in chosen for n in which], np.float64),
        )
        expected = sum(
            self.model.take(time_ns, [(KEYS[n], value + n % 2) for n in which], self.now_ns)
            for time_ns, which, value in chosen
        )
        assert self.source.take_columns(self.slots, told, self.now_ns) == expected

    def blocks(self):
        assert handed_out(self.source.blocks()) == (self.model.hand_out(), set())

    def end(self, which):
        keys = [KEYS[n] for n in which]
        assert handed_out(self.source.end(keys)) == self.model.end(keys)

    def evict(self, age):
        older_than_ns = self.now_ns - age
        self.source.evict(older_than_ns)
        self.model.evict(older_than_ns)

    def new_slots(self):
        self.slots = Slots()


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=30))
def test_readings_are_taken_refused_and_handed_out_as_one_by_one(script):
    both = Both()
    for step in script:
        both.step(*step)
    both.step("blocks")


def test_a_thousand_ports_with_times_of_their_own_travel_without_blanks():
    source = SourceReadings(most_series=50_000, refused=Counter())
    slots = Slots()
    keys = [SeriesKey(f"port/leaf1:{n // 20}", f"m{n % 20}") for n in range(20_000)]
    told = Readings(
        1 + np.arange(1000),
        np.full(1000, 20),
        np.array([slots.of(key) for key in keys]),
        np.arange(20_000.0),
    )
    assert source.take_columns(slots, told, 1) == 20_000
    blocks = list(source.blocks())
    assert sum(block.values.size for block in blocks) == 20_000
    assert sum(len(block.layout.columns) for block in blocks) == 20_000
