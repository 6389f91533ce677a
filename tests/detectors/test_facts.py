"""What sources state outright, traffic that moved, rails that leave their peers."""

import random

import pytest

from cluster.topology import Link, Switch, Topology
from detectors.cell import CellDetector
from detectors.records import AlertState, Cause, Severity
from detectors.settings import DetectSettings
from tests.detectors.frames import frame

SETTINGS = DetectSettings(warmup_samples=20, join_seconds=1.0)


def opened(frames, topology=None):
    made = CellDetector("pod1", topology or Topology(), SETTINGS)
    told = [(n, a) for n, each in enumerate(frames) for a in made.update(each).alerts]
    return [(n, a) for n, a in told if a.state is AlertState.OPENED]


def gauge(component, metric, values, source="switch/s1"):
    return [
        frame([(component, metric)], [(i + 1, [v])], source=source) for i, v in enumerate(values)
    ]


def test_no_light_is_told_at_its_first_reading():
    values = [38.5, 38.6] * 15 + [0.0] * 5
    found = opened(gauge("port/s1:e1", "net_optics_osnr_decibels", values))
    assert [(n, a.component, a.cause, a.severity) for n, a in found] == [
        (30, "port/s1:e1", Cause.LINK_DEGRADED, Severity.CRITICAL)
    ]
    assert found[0][1].false_alarms_per_day == 0.0


def test_a_port_that_never_had_light_lost_none():
    assert opened(gauge("port/s1:e1", "net_optics_osnr_decibels", [0.0] * 40)) == []


@pytest.mark.parametrize(
    ("code", "cause"), [(48, Cause.SLOW_GPU_MEMORY_ERRORS), (79, Cause.UNEXPLAINED), (13, None)]
)
def test_a_driver_code_speaks_for_the_gpu_or_for_its_program(code, cause):
    values = [0.0] * 5 + [float(code)] * 5
    found = opened(gauge("gpu/h1:G1", "gpu_xid_last_code", values, source="host/h1"))
    assert [(n, a.cause) for n, a in found] == ([] if cause is None else [(5, cause)])


def test_a_code_that_was_there_before_is_history():
    assert opened(gauge("gpu/h1:G1", "gpu_xid_last_code", [79.0] * 10, source="host/h1")) == []


def ports(seconds, rate_of, seed=1, count=8):
    """Return frames of a switch's ports every 10 s, rates by (second, port)."""
    rng = random.Random(seed)
    totals = [0.0] * count
    columns = [(f"port/s1:e{i}", "net_if_out_octets_total") for i in range(count)]
    frames = []
    for at in range(10, seconds, 10):
        totals = [t + 10 * rate_of(at, i) * rng.gauss(1.0, 0.02) for i, t in enumerate(totals)]
        frames.append(frame(columns, [(at, totals)]))
    return frames


def test_a_port_that_carries_nothing_is_told_while_the_others_go_on():
    found = opened(ports(600, lambda at, i: 0.0 if i == 3 and at > 400 else 1e9))
    assert [a.component for _, a in found] == ["port/s1:e3"]
    assert 40 <= found[0][0] <= 42


def test_a_load_that_ends_everywhere_is_no_alert():
    assert opened(ports(600, lambda at, i: 0.0 if at > 400 else 1e9)) == []


def test_a_port_that_flapped_while_it_was_learned_is_silent():
    def rate(at, port):
        return 0.0 if port == 3 and at // 50 % 2 else 1e9

    assert opened(ports(900, rate)) == []


def test_traffic_that_moved_between_ports_is_one_alert():
    share = (1.6, 1.5, 0.4, 0.5, 1.6, 1.5, 0.4, 0.5)
    found = opened(ports(600, lambda at, i: 1e9 * (share[i] if at > 400 else 1.0)))
    assert [a.component for _, a in found] == ["switch/s1"]


def rails(count, rate_of, seed=1):
    rng = random.Random(seed)
    metric = "rdma_port_reported_transmit_bytes_per_second"
    columns = [(f"nic/h1:ib{i}", metric) for i in range(8)]
    return [
        frame(
            columns,
            [(n / 10 + 1, [rate_of(n, i) * rng.gauss(1.0, 0.01) for i in range(8)])],
            source="host/h1",
        )
        for n in range(count)
    ]


def test_the_rail_that_leaves_the_others_is_named():
    found = opened(rails(900, lambda n, i: 4e9 * (0.95 if i == 5 and n >= 700 else 1.0)))
    assert [a.component for _, a in found] == ["nic/h1:ib5"]
    assert found[0][0] <= 735


def test_what_all_rails_share_is_load():
    assert opened(rails(900, lambda n, i: 4e9 * (0.5 if n >= 700 else 1.0))) == []


def many_links():
    return Topology(
        switches=tuple(
            Switch(name=name, cell="pod1", tier=tier) for name, tier in (("s1", 1), ("s2", 2))
        ),
        links=tuple(
            Link(lower=f"s1:e{i}", upper=f"s2:e{i}", capacity_bits_per_second=4e11)
            for i in range(12)
        ),
    )


@pytest.mark.parametrize(("bad", "told"), [(range(12), 0), (range(1), 1)])
def test_what_many_links_tell_at_once_accuses_none(bad, told):
    rng = random.Random(1)
    columns = [(f"port/s1:e{i}", "net_if_pre_fec_ber_ratio") for i in range(12)]
    frames = [
        frame(
            columns,
            [
                (
                    n + 1,
                    [
                        1e-8 * rng.lognormvariate(0, 0.1) * (50 if i in bad and n > 60 else 1)
                        for i in range(12)
                    ],
                )
            ],
        )
        for n in range(90)
    ]
    assert len(opened(frames, many_links())) == told


def alerts_of(frames, killed_at=None):
    """Return all alert revisions; at a moment the detector is replaced by one restored."""
    made = CellDetector("pod1", Topology(), SETTINGS)
    told = []
    for number, each in enumerate(frames):
        if number == killed_at:
            saved = made.snapshot()
            made = CellDetector("pod1", Topology(), SETTINGS)
            assert made.restore(saved) == ""
        told += made.update(each).alerts
    return told


@pytest.mark.parametrize("killed_at", [3, 19, 39, 41, 42, 43, 55])
def test_a_kill_changes_nothing_of_what_is_told_of_moved_traffic(killed_at):
    frames = ports(700, lambda at, i: 0.0 if i == 3 and at > 400 else 1e9)
    straight = alerts_of(frames)
    assert straight != []
    assert alerts_of(frames, killed_at) == straight


@pytest.mark.parametrize("killed_at", [5, 29, 30, 31, 33])
def test_a_kill_changes_nothing_of_what_sources_state(killed_at):
    values = [38.5, 38.6] * 15 + [0.0] * 3 + [38.5] * 100
    frames = gauge("port/s1:e1", "net_optics_osnr_decibels", values)
    straight = alerts_of(frames)
    assert straight[0].state is AlertState.OPENED
    assert straight[-1].state is AlertState.RESOLVED
    assert alerts_of(frames, killed_at) == straight
