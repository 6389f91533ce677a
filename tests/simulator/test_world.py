"""The world without servers: each fault hurts, and its cure helps."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from cluster.steptimes import FittedStepTimes
from simulator.http.control import truth
from simulator.inventory import topology
from simulator.scenario import SCENARIOS
from simulator.world.faults import FaultRefusedError, FaultRequest
from simulator.world.serving import RoleRefusedError
from simulator.world.world import World
from tests.simulator.worlds import START_NS, attainment, first_light, step_seconds

SPINE3 = 2
LEAF2 = 1


def test_equal_seeds_give_equal_worlds():
    one, other = first_light(seed=7), first_light(seed=7)
    one.advance(20.0)
    for _ in range(20):
        other.advance(1.0)
    assert truth(one) == truth(other)
    for name, values in one.fabric.counters.items():
        assert np.array_equal(values, other.fabric.counters[name]), name


def test_other_seeds_give_other_worlds():
    one, other = first_light(seed=1), first_light(seed=2)
    one.advance(5.0)
    other.advance(5.0)
    assert not np.array_equal(one.fabric.counters["in_octets"], other.fabric.counters["in_octets"])


@pytest.mark.parametrize(("leaves", "spines", "prefill_engines"), [(2, 2, 2), (8, 4, 12)])
def test_a_cluster_may_have_another_size(leaves, spines, prefill_engines):
    usual = SCENARIOS["first_light"]
    scenario = replace(
        usual,
        fabric=replace(usual.fabric, leaves=leaves, spines=spines),
        serving=replace(
            usual.serving,
            prefill_engines=prefill_engines,
            requests_per_second=8.0 * leaves,
        ),
    )
    world = World(scenario, 1, START_NS, FittedStepTimes())
    world.advance(10.0)
    assert world.training.last.step_seconds == pytest.approx(1.0, abs=0.03)
    assert world.serving.attainment_ratio > 0.99
    assert len(topology(world.names).links) == leaves * (16 + spines)


def test_a_world_read_back_goes_on_the_same():
    world = first_light()
    world.advance(10.0)
    copy = pickle.loads(pickle.dumps(world))
    world.advance(10.0)
    copy.advance(10.0)
    assert truth(copy) == truth(world)
    assert np.array_equal(
        copy.fabric.counters["fec_corrected"], world.fabric.counters["fec_corrected"]
    )


def test_a_healthy_cluster_keeps_its_objectives():
    world = first_light()
    world.advance(20.0)
    assert step_seconds(world, 20.0) == pytest.approx(1.0, abs=0.03)
    assert world.training.last.communication_seconds == pytest.approx(0.28, abs=0.02)
    assert attainment(world, 10.0) > 0.99


def test_a_degraded_link_slows_its_job_and_draining_it_cures():
    world = first_light()
    world.advance(5.0)
    healthy = step_seconds(world, 10.0)
    fault = world.inject(FaultRequest(kind="degraded_link"))
    assert (fault.component, fault.cause) == ("link/leaf2:Ethernet51", "link_degraded")
    world.advance(4.0)
    assert step_seconds(world, 10.0) > 1.3 * healthy
    for own, other, spine in world.fabric.weights:
        if spine == SPINE3 and LEAF2 in (own, other):
            world.fabric.weights[own, other, spine] = 1
    world.advance(2.0)
    assert step_seconds(world, 10.0) < 1.03 * healthy


def test_a_degraded_link_shows_on_its_receiving_ports_only_and_stays_up():
    world = first_light()
    world.advance(5.0)
    fabric = world.fabric
    ports = fabric.wiring.port_number
    bad = [ports["leaf2", "Ethernet51"], ports["spine3", "Ethernet2"]]
    before = fabric.bit_error_ratio.copy()
    world.inject(FaultRequest(kind="degraded_link"))
    world.advance(5.0)
    risen = fabric.bit_error_ratio / before
    assert (risen[bad] > 300.0).all()
    assert (np.delete(risen, bad) < 3.0).all()
    assert set(np.flatnonzero(fabric.counters["fec_uncorrectable"])) == set(bad)
    assert fabric.port_up().all()


def test_a_slow_gpu_drags_its_job_and_smaller_shares_cure():
    world = first_light()
    world.advance(5.0)
    healthy = step_seconds(world, 10.0)
    fault = world.inject(FaultRequest(kind="slow_gpu"))
    assert fault.cause == "slow_gpu_thermal"
    assert fault.component == "gpu/h3:GPU-00000003-5eed-4a10-8000-000000000005"
    world.advance(10.0)
    assert step_seconds(world, 10.0) > 1.4 * healthy
    gpus = world.gpus
    assert gpus.celsius[2, 5] == pytest.approx(91.0, abs=1.0)
    assert gpus.speed[2, 5] == pytest.approx(0.6)
    assert gpus.watts[2, 5] < gpus.watts[2, 4]  # it is hot, and yet draws less
    assert gpus.busy[2, 5] > gpus.busy[2, 4]  # the others wait for it
    assert gpus.throttled_ns[2, 5] > 5e9
    slow = 8 + 5
    assert world.training.assign({slow: 10, 0: 17, 1: 17, 2: 17, 3: 17, 4: 17, 5: 17}) == ""
    world.advance(2.0)
    assert step_seconds(world, 10.0) < 1.06 * healthy


@pytest.mark.parametrize("seed", [1, 2])
def test_long_answers_starve_decode_and_one_more_decode_engine_cures(seed):
    world = first_light(seed=seed)
    world.advance(15.0)
    fault = world.inject(FaultRequest(kind="long_answers"))
    assert (fault.component, fault.cause) == ("pool/chat:decode", "decode_starved")
    world.advance(13.0)
    assert attainment(world, 5.0) < 0.3
    engines = world.serving.engines
    decode = [e for e in engines if e.role == "decode"]
    assert all(len(e.running) >= e.limit - 2 and len(e.waiting) > 10 for e in decode)
    assert all(e.used_tokens / e.largest_tokens > 0.6 for e in decode)
    assert sum(len(e.queue) for e in engines) < 20  # prefill has room
    moved = engines[0]
    moved.draining = True
    while not moved.idle:
        world.advance(0.1)
    world.serving.switch(moved, "decode", world.seconds)
    moved.draining = False
    world.advance(20.0)
    assert attainment(world, 5.0) > 0.95


def test_an_ended_fault_leaves_nothing_behind():
    world = first_light()
    world.advance(10.0)
    healthy = step_seconds(world, 10.0)
    faults = [
        world.inject(FaultRequest(kind="degraded_link")),
        world.inject(FaultRequest(kind="slow_gpu")),
    ]
    world.advance(10.0)
    assert all(world.end(fault.fault_id) for fault in faults)
    assert not world.end(faults[0].fault_id)
    world.advance(25.0)
    assert step_seconds(world, 10.0) == pytest.approx(healthy, rel=0.02)
    assert world.faults == {}


@pytest.mark.parametrize(
    "request_",
    [
        FaultRequest(kind="degraded_link", target="leaf1:Ethernet1"),
        FaultRequest(kind="degraded_link", target="leaf9:Ethernet51"),
        FaultRequest(kind="slow_gpu", target="h1:8"),
        FaultRequest(kind="slow_gpu", target="h99:0"),
        FaultRequest(kind="slow_gpu", strength=1.5),
        FaultRequest(kind="long_answers", strength=0.5),
    ],
)
def test_an_impossible_fault_is_refused(request_):
    world = first_light()
    with pytest.raises(FaultRefusedError):
        world.inject(request_)
    assert world.faults == {}


def test_a_link_is_named_by_its_lower_end_whichever_end_is_asked_for():
    world = first_light()
    fault = world.inject(FaultRequest(kind="degraded_link", target="spine2:Ethernet4"))
    assert fault.component == "link/leaf4:Ethernet50"


def test_a_switched_off_uplink_moves_its_traffic():
    world = first_light()
    world.advance(3.0)
    healthy = step_seconds(world, 5.0)
    port = world.fabric.wiring.port_number["leaf2", "Ethernet51"]
    world.fabric.enabled[port] = False
    before = world.fabric.counters["out_octets"][port]
    assert step_seconds(world, 5.0) == pytest.approx(healthy, rel=0.03)
    assert world.fabric.counters["out_octets"][port] == before
    assert not world.fabric.port_up()[world.fabric.wiring.port_number["spine3", "Ethernet2"]]


def test_a_job_without_a_way_stands_still_and_goes_on_later():
    world = first_light()
    world.advance(3.0)
    for spine in range(4):
        world.fabric.enabled[world.fabric.wiring.port_number["leaf1", f"Ethernet{49 + spine}"]] = 0
    world.advance(1.0)
    number = world.training.number
    world.advance(5.0)
    assert world.training.number == number
    world.fabric.enabled[:] = True
    world.advance(5.0)
    assert world.training.number > number + 2


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({0: 17}, "the job's total would become 513, not 512"),
        ({40: 16}, "no rank 40, there are 32"),
        ({0: 0, 1: 32}, "rank 0: 0 micro-batches, at least 1"),
    ],
)
def test_shares_that_change_the_job_are_refused(values, why):
    world = first_light()
    assert world.training.assign(values) == why
    assert world.training.wanted.tolist() == [16] * 32


def test_only_an_idle_engine_changes_its_role():
    world = first_light()
    world.advance(10.0)
    decode = world.serving.by_name("chat-7")
    with pytest.raises(RoleRefusedError, match="not idle"):
        world.serving.switch(decode, "prefill", world.seconds)
    world.serving.switch(decode, "decode", world.seconds)
    assert (decode.role, decode.available_at) == ("decode", 0.0)


def test_a_service_without_decode_engines_keeps_no_request_for_ever():
    world = first_light()
    for engine in world.serving.engines:
        engine.role = "prefill"
    world.advance(15.0)
    assert attainment(world, 3.0) == 0.0
    assert len(world.serving.prefilled) < 200
