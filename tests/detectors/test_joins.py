"""The small decisions that a diagnosis is made of."""

import math

import numpy as np
import pytest

from cluster.frame import Layout, SeriesKey
from detectors.gpus import cause_of
from detectors.links import link_of
from detectors.peers import Peers
from detectors.pools import POOL_METRICS, Pools
from detectors.records import Cause, Detection, Scope
from detectors.starvation import starved_role
from tests.detectors.world import job, topology

SECOND = 1_000_000_000


def shift(metric, *, component="gpu/h1:GPU-1", onset=0, sigmas=10.0):
    return Detection(
        detection_id=f"{component}-{metric}",
        cell="pod1",
        series=SeriesKey(component, metric),
        detector="page_hinkley",
        scope=Scope.SELF,
        onset_ns=onset * SECOND,
        detected_ns=onset * SECOND,
        shift_sigmas=sigmas,
        before=1.0,
        after=2.0,
    )


@pytest.mark.parametrize("port", ["port/leaf1:up2", "port/spine3:leaf1"])
def test_both_ends_of_a_link_are_the_link(port):
    assert link_of(topology(), port) == "link/leaf1:up2"


def test_a_port_that_topology_does_not_know_is_itself():
    assert link_of(topology(), "port/other:e1") == "port/other:e1"


@pytest.mark.parametrize(
    ("metrics", "cause"),
    [
        (["gpu_sm_clock_hertz"], Cause.SLOW_GPU_CLOCK),
        (["gpu_sm_clock_hertz", "gpu_temperature_celsius"], Cause.SLOW_GPU_THERMAL),
        (["gpu_power_violation_seconds_per_second"], Cause.SLOW_GPU_POWER),
        (["gpu_ecc_single_bit_errors_per_second"], Cause.SLOW_GPU_MEMORY_ERRORS),
    ],
)
def test_sensors_say_why_a_gpu_is_slow(metrics, cause):
    assert cause_of([shift(metric) for metric in metrics])[0] is cause


TWO = ("llm_requests_waiting", "llm_queue_seconds_mean")
THREE = (*TWO, "llm_tpot_seconds_mean")


@pytest.mark.parametrize(
    ("decode", "prefill", "role"),
    [
        ((TWO, 0), ((), 0), "decode"),
        (((), 0), (TWO, 0), "prefill"),
        ((TWO[:1], 0), ((), 0), ""),
        ((TWO, 0), (TWO, 20), "decode"),
        ((TWO, 20), (TWO, 0), "prefill"),
        ((THREE, 0), (TWO, 1), "decode"),
        ((TWO, 0), (TWO, 1), ""),
    ],
)
def test_the_pool_that_starves_first_or_more_is_the_one(decode, prefill, role):
    symptoms = {
        name: [shift(metric, component=f"pool/chat:{name}", onset=onset) for metric in metrics]
        for name, (metrics, onset) in (("decode", decode), ("prefill", prefill))
    }
    assert starved_role(symptoms, 10 * SECOND) == role


def peers_with_job():
    peers = Peers(topology())
    peers.set_jobs({"job/pretrain": job()})
    return peers


def ratios(peers, columns, values, at=0):
    plan = peers.plan(Layout(tuple(SeriesKey(*column) for column in columns)))
    return peers.ratios(plan, at * SECOND, np.array(values, dtype=float)).tolist()


CLOCKS = [(f"gpu/h1:GPU-{i}", "gpu_sm_clock_hertz") for i in range(4)]


def test_a_member_is_compared_with_the_median_of_the_others():
    assert ratios(peers_with_job(), CLOCKS, [100, 100, 50, 100]) == [1.0, 1.0, 0.5, 1.0]


def test_fewer_than_three_peers_tell_nothing():
    assert all(math.isnan(r) for r in ratios(peers_with_job(), CLOCKS[:3], [100, 100, 50]))


def test_peers_of_other_sources_count_while_they_are_fresh():
    peers = peers_with_job()
    ratios(peers, CLOCKS, [100, 100, 100, 100])
    other = [("gpu/h2:GPU-0", "gpu_sm_clock_hertz")]
    assert ratios(peers, other, [80], at=5) == [0.8]
    assert math.isnan(ratios(peers, other, [80], at=60)[0])


def test_an_idle_group_tells_nothing():
    peers = peers_with_job()
    ports = [(f"port/leaf1:up{i}", "net_if_out_octets_per_second") for i in range(4)]
    assert ratios(peers, ports, [1e9] * 4) == [1.0] * 4
    assert all(math.isnan(r) for r in ratios(peers, ports, [1e3, 2e3, 1e3, 5e3], at=1))


def test_a_component_without_a_group_has_no_peers():
    assert peers_with_job().group_of(SeriesKey("gpu/h9:X", "gpu_sm_clock_hertz")) == ""


def engine(name, role, waiting):
    labels = f'engine_type="{role}"'
    key = SeriesKey(f"engine/{name}", "llm_requests_waiting", labels)
    return Layout((key,)), np.array([waiting], dtype=float)


def take(pools, at, *engines):
    return [
        (row.pool, row.values[POOL_METRICS.index("llm_requests_waiting")])
        for each in engines
        for row in pools.take(each[0], at * SECOND, each[1])
    ]


def test_a_pool_row_is_the_median_of_a_round():
    pools = Pools(topology())
    first = [engine(f"chat-{i}", "decode", i) for i in range(3)]
    assert take(pools, 0, *first) == []
    assert take(pools, 1, first[0]) == [("pool/chat:decode", 1.0)]


def test_an_engine_that_changes_its_role_changes_both_pools():
    pools = Pools(topology())
    take(pools, 0, engine("chat-0", "prefill", 1), engine("chat-1", "prefill", 3))
    assert pools.take_changed() == []
    take(pools, 1, engine("chat-0", "decode", 5))
    assert pools.take_changed() == ["pool/chat:decode", "pool/chat:prefill"]
    assert pools.take_changed() == []
    assert pools.level("pool/chat:prefill", "llm_requests_waiting", SECOND) == 3.0


def test_a_pool_whose_engines_were_away_has_no_row_of_numbers():
    pools = Pools(topology())
    take(pools, 0, engine("chat-0", "decode", 1), engine("chat-1", "decode", 1))
    rows = take(pools, 600, engine("chat-0", "decode", 1))
    assert [math.isnan(value) for _, value in rows] == [True]
