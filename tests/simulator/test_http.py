"""What the simulated hosts, engines, gateway and router say over HTTP."""

import asyncio

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from cluster.catalogue import by_source
from simulator.http.dcgm import dcgm_text
from simulator.http.node import node_text
from simulator.http.serving_text import engine_text, gateway_text
from simulator.world.faults import FaultRequest
from tests.simulator.running import TOKEN, running
from tests.simulator.worlds import first_light

BEARER = {"Authorization": f"Bearer {TOKEN}"}


def samples(text: str) -> dict[str, list]:
    """Return samples by name; the parser adds ``_total`` to a counter that lacks it."""
    families = list(text_string_to_metric_families(text))
    assert all(family.type != "unknown" and family.documentation for family in families)
    by_name: dict[str, list] = {}
    for family in families:
        for sample in family.samples:
            by_name.setdefault(sample.name, []).append(sample)
    return by_name


def test_dcgm_exporter_names_what_the_catalogue_looks_for():
    world = first_light()
    world.advance(5.0)
    found = samples(dcgm_text(world, 2))
    told = {name.removesuffix("_total") for name in found}
    assert {
        "DCGM_FI_DEV_SM_CLOCK",
        "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "DCGM_FI_DEV_POWER_VIOLATION",
        "DCGM_FI_PROF_SM_ACTIVE",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    } <= told & set(by_source("dcgm"))
    watts = found["DCGM_FI_DEV_POWER_USAGE"]
    assert len(watts) == 8
    assert watts[5].labels == {
        "gpu": "5",
        "UUID": "GPU-00000003-5eed-4a10-8000-000000000005",
        "pci_bus_id": "00000000:1F:00.0",
        "device": "nvidia5",
        "modelName": "NVIDIA H200",
        "Hostname": "h3",
        "DCGM_FI_DRIVER_VERSION": "580.105.08",
    }


def test_a_throttled_gpu_shows_in_its_host_s_scrape():
    world = first_light()
    world.inject(FaultRequest(kind="slow_gpu"))
    world.advance(15.0)
    found = samples(dcgm_text(world, 2))
    clocks = [sample.value for sample in found["DCGM_FI_DEV_SM_CLOCK"]]
    assert clocks == [1980.0] * 5 + [1185.0] + [1980.0] * 2
    assert found["DCGM_FI_DEV_THERMAL_VIOLATION_total"][5].value > 5e9
    assert found["DCGM_FI_DEV_THERMAL_VIOLATION_total"][4].value == 0.0
    assert found["DCGM_FI_DEV_GPU_TEMP"][5].value >= 90.0


def test_node_exporter_counts_a_nic_s_traffic():
    world = first_light()
    world.advance(10.0)
    found = samples(node_text(world, 0))
    sent = found["node_infiniband_port_data_transmitted_bytes_total"]
    assert [s.labels for s in sent] == [{"device": f"mlx5_{n}", "port": "1"} for n in range(8)]
    assert all(s.value == pytest.approx(10 * 13.3e9, rel=0.1) for s in sent)
    assert {
        "node_infiniband_port_data_received_bytes_total",
        "node_infiniband_port_transmit_wait_total",
        "node_infiniband_np_cnp_sent_total",
        "node_infiniband_rp_cnp_handled_total",
        "node_infiniband_out_of_sequence_total",
    } <= set(found) & set(by_source("node_exporter"))


def test_engines_speak_as_sglang_and_tell_their_role():
    world = first_light()
    world.advance(20.0)
    prefill, decode = world.serving.engines[0], world.serving.engines[-1]
    told = samples(engine_text(world, decode))
    known = set(by_source("sglang"))
    assert {
        "sglang:num_queue_reqs",
        "sglang:token_usage",
        "sglang:max_running_requests",
        "sglang:num_prefill_inflight_queue_reqs",
        "sglang:num_decode_prealloc_queue_reqs",
        "sglang:generation_tokens_total",
    } <= set(told) & known
    histograms = {name.removesuffix("_bucket") for name in told if name.endswith("_bucket")}
    assert histograms == {
        "sglang:time_to_first_token_seconds",
        "sglang:inter_token_latency_seconds",
        "sglang:e2e_request_latency_seconds",
        "sglang:queue_time_seconds",
    }
    assert histograms <= known
    assert told["sglang:num_running_reqs"][0].labels["engine_type"] == "decode"
    assert told["sglang:num_running_reqs"][0].value == len(decode.running) > 5
    assert told["sglang:generation_tokens_total"][0].value > 1000
    told = samples(engine_text(world, prefill))
    assert told["sglang:num_running_reqs"][0].labels["engine_type"] == "prefill"
    assert told["sglang:prompt_tokens_total"][0].value > 1000
    assert told["sglang:generation_tokens_total"][0].value == 0


def test_the_gateway_speaks_as_dynamo_with_the_limits_as_bounds():
    world = first_light()
    world.advance(20.0)
    told = samples(gateway_text(world))
    name = "dynamo_frontend_time_to_first_token_seconds"
    below = {float(s.labels["le"]): s.value for s in told[f"{name}_bucket"]}
    assert {world.scenario.serving.ttft_limit_seconds, 2.0} <= set(below)
    assert below[float("inf")] == told[f"{name}_count"][0].value > 400
    tokens = "dynamo_frontend_inter_token_latency_seconds_bucket"
    assert 0.05 in {float(s.labels["le"]) for s in told[tokens]}
    assert told["dynamo_frontend_inflight_requests"][0].value > 10
    assert "dynamo_frontend_request_duration_seconds_count" in told
    assert {"dynamo_frontend_queued_requests", name} <= set(by_source("dynamo"))


async def get(session, url, **parts):
    async with session.get(url, **parts) as response:
        return response.status, await response.json()


async def post(session, url, body, *, headers=BEARER):
    async with session.post(url, json=body, headers=headers) as response:
        return response.status, await response.json(content_type=None)


async def test_every_scraped_endpoint_answers():
    async with running() as sim, aiohttp.ClientSession() as session:
        names = [n for n in sim.state.ports if n.split("/")[0] in {"dcgm", "node", "engine"}]
        assert len(names) == 24
        for name in (*names, "gateway"):
            async with session.get(f"{sim.url(name)}/metrics") as response:
                text = await response.text()
            assert response.content_type == "text/plain"
            stamped = [s for s in text.splitlines() if not s.startswith("#")]
            # Time passes ten times as fast: values carry the devices' stamps.
            assert all(len(line.rpartition(" ")[2]) == 13 for line in stamped)


async def test_a_worker_moves_to_the_other_role_when_it_has_drained():
    async with running() as sim, aiohttp.ClientSession() as session:
        url = sim.url("engine/chat-0")
        body = {"worker_url": url, "new_role": "decode", "drain_timeout_secs": 30}
        moving = asyncio.create_task(post(session, f"{sim.url('router')}/pd_role_switch", body))
        status, told = await asyncio.wait_for(moving, 10.0)
        assert (status, told) == (
            200,
            {"success": True, "message": "", "old_role": "prefill", "new_role": "decode"},
        )
        _, told = await get(session, f"{sim.url('router')}/workers")
        worker = told["workers"][0]
        assert (worker["url"], worker["role"], worker["healthy"]) == (url, "decode", True)
        assert not worker["draining"]
        assert sim.saved
        status, told = await post(session, f"{sim.url('router')}/pd_role_switch", body)
        assert (status, told["old_role"], told["success"]) == (200, "decode", True)


async def test_a_worker_that_does_not_drain_keeps_its_role():
    async with running() as sim, aiohttp.ClientSession() as session:
        sim.world.advance(10.0)
        body = {"worker_url": sim.url("engine/chat-7"), "new_role": "prefill"}
        body["drain_timeout_secs"] = 0
        status, told = await post(session, f"{sim.url('router')}/pd_role_switch", body)
        assert (status, told["success"]) == (409, False)
        assert told["message"] == "chat-7 did not drain within 0 s"
        engine = sim.world.serving.by_name("chat-7")
        assert (engine.role, engine.draining) == ("decode", False)


async def test_the_last_worker_of_a_role_stays():
    async with running() as sim, aiohttp.ClientSession() as session:
        sim.world.serving.engines[6].role = "prefill"
        body = {"worker_url": sim.url("engine/chat-7"), "new_role": "prefill"}
        status, told = await post(session, f"{sim.url('router')}/pd_role_switch", body)
    assert (status, told["message"]) == (409, "chat-7 is the last decode worker")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"worker_url": "http://127.0.0.1:1", "new_role": "decode"}, 404),
        ({"new_role": "both"}, 400),
        ({"new_role": "decode", "drain_timeout_secs": "soon"}, 400),
        ([], 400),
    ],
)
async def test_an_odd_role_switch_is_refused(body, status):
    async with (
        running() as sim,
        aiohttp.ClientSession() as session,
        session.post(f"{sim.url('router')}/pd_role_switch", json=body, headers=BEARER) as response,
    ):
        assert response.status == status


async def test_an_engine_switches_only_while_idle():
    async with running() as sim, aiohttp.ClientSession() as session:
        sim.world.advance(10.0)
        url = f"{sim.url('engine/chat-7')}/pd_role_switch"
        status, told = await post(session, url, {"new_role": "prefill"})
        assert (status, told["message"]) == (400, "chat-7 is not idle")
        status, told = await post(session, url, {"new_role": "decode"})
        assert (status, told["success"], told["old_role"]) == (200, True, "decode")
        status, _ = await post(session, url, {"new_role": "both"})
        assert status == 400


async def test_an_engine_takes_a_smaller_limit_and_tells_it():
    async with running() as sim, aiohttp.ClientSession() as session:
        base = sim.url("engine/chat-7")
        for limit, expected in ((16, 200), (0, 400), (65, 400), ("8", 400), (True, 400)):
            body = {"server_args": {"max_running_requests": limit}}
            status, told = await post(session, f"{base}/set_internal_state", body)
            assert (status, told["updated"]) == (expected, expected == 200)
        status, _ = await post(session, f"{base}/set_internal_state", {"server_args": {"x": 1}})
        assert status == 400
        _, told = await get(session, f"{base}/get_server_info")
        assert told["internal_states"] == [{"max_running_requests": 16}]
        assert told["disaggregation_mode"] == "decode"
        sim.world.advance(20.0)
        assert len(sim.world.serving.by_name("chat-7").running) <= 16


async def test_without_the_token_nothing_changes():
    async with running() as sim, aiohttp.ClientSession() as session:
        engine = sim.url("engine/chat-0")
        for url in (
            f"{sim.url('router')}/pd_role_switch",
            f"{engine}/pd_role_switch",
            f"{engine}/set_internal_state",
        ):
            for headers in ({}, {"Authorization": "Bearer guess"}):
                async with session.post(url, json={}, headers=headers) as response:
                    assert response.status == 401


async def test_the_control_interface_tells_the_truth():
    async with running() as sim, aiohttp.ClientSession() as session:
        control = sim.url("control")
        async with session.post(f"{control}/faults", json={"kind": "slow_gpu"}) as response:
            fault = await response.json()
        _, told = await get(session, f"{control}/state")
        assert told["faults"] == [fault]
        assert fault["component"] == "gpu/h3:GPU-00000003-5eed-4a10-8000-000000000005"
        assert fault["started_ns"] >= sim.world.start_ns
        assert told["weights"]["leaf1 10.0.2.0/24 spine4"] == 20
        async with session.delete(f"{control}/faults/{fault['fault_id']}") as response:
            assert response.status == 200
        async with session.delete(f"{control}/faults/{fault['fault_id']}") as response:
            assert response.status == 404
        _, told = await get(session, f"{control}/clock")
        assert told["speed"] == 10.0
        for odd in ({"kind": "meteor"}, {"kind": "slow_gpu", "strength": "much"}, []):
            async with session.post(f"{control}/faults", json=odd) as response:
                assert response.status == 400
