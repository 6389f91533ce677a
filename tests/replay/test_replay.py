"""Recorded files through the real broker: samples in = samples out, the rest has a reason."""

import asyncio
import gzip
from collections import Counter
from math import isnan
from pathlib import Path

import pytest
from kafka import KafkaConsumer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families

from pipelines import topics
from pipelines.config.load import load
from pipelines.messages.frames import FrameDecoder
from pipelines.replay.run import replay
from pipelines.topics_admin import create_topics, topic_specs
from pipelines.wire import telemetry_pb2 as pb
from tests.collect.fakes import SetClock
from tests.paths import data_path

INPUTS = Path(__file__).parent / "inputs"
NOW_NS = SetClock().now_ns()


class Scene:
    """Replays files and reads back what this replay, and no other, put on the topics."""

    def __init__(self, bootstrap, folder):
        (folder / "topology.toml").write_text("")
        config = folder / "trimtab.toml"
        config.write_text(f'[broker]\nurl = "kafka://{bootstrap}"\npartitions = 1\n')
        self.loaded = load(config)
        self.bootstrap = bootstrap
        create_topics(bootstrap, topic_specs(self.loaded.config.broker))

    async def replay(self, *names, folder=INPUTS, **settings):
        report = await replay(
            self.loaded,
            [folder / name for name in names],
            cell="pod1",
            clock=SetClock(),
            **settings,
        )
        ours = {file.collector for file in report.files}
        frames = [f for f in await asyncio.to_thread(self._frames) if f.collector in ours]
        self.ended = [
            frame.layout.columns[column] for frame in frames for column in frame.ended_columns
        ]
        assert sum(frame.samples for frame in frames) == report.samples
        assert (len(frames), report.unsent) == (report.frames, 0)
        return report, _readings(frames)

    def _frames(self):
        decoder = FrameDecoder()
        return [decoder.decode(value) for value in self._read(topics.FRAMES)]

    def letters(self, file):
        letters = [pb.DeadLetter.FromString(value) for value in self._read(topics.DEAD_LETTERS)]
        return {x.reason: (x.samples, x.payload) for x in letters if x.source == file}

    def _read(self, topic):
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, auto_offset_reset="earliest")
        consumer.assign([TopicPartition(topic, 0)])
        values, misses = [], 0
        while misses < 2:
            records = [r for batch in consumer.poll(timeout_ms=200).values() for r in batch]
            misses = 0 if records else misses + 1
            values += [record.value for record in records]
        consumer.close()
        return values


def _readings(frames):
    found = {}
    for frame in frames:
        for row, time_ns in enumerate(frame.time_ns.tolist()):
            for column, key in enumerate(frame.layout.columns):
                value = float(frame.values[row, column])
                if not isnan(value):
                    found.setdefault((frame.source, *key), []).append((time_ns, value))
    return found


@pytest.fixture
def scene(broker_bootstrap, tmp_path):
    return Scene(broker_bootstrap, tmp_path)


async def test_router_tables_are_merged_by_device_time_and_refusals_have_letters(scene):
    report, readings = await scene.replay("shutdown")
    port = ("switch/leaf7", "port/leaf7:HundredGigE0/0/0/0")
    other = ("switch/leaf7", "port/leaf7:HundredGigE0/0/0/1")
    first, second, card = 1579593907_780000000, 1579593917_780000000, 1579593906_686000000
    assert readings == {
        (*port, "net_if_in_octets_total", ""): [(first, 1000.0), (second, 1500.0)],
        (*port, "net_if_out_octets_total", ""): [(first, 2000.0), (second, 2600.0)],
        (*port, "net_if_carrier_transitions_total", ""): [(first, 3.0), (second, 3.0)],
        (*other, "net_if_out_octets_total", ""): [(1579593907_790000000, 2001.0)],
        (*port, "net_if_in_bits_per_second", ""): [(1579593907_500000000, 1087000.0)],
        (*port, "net_if_in_load_ratio", ""): [
            (1579593907_500000000, 51 * (1 / 255)),
            (1579593917_500000000, 0.0),
        ],
        (*port, "net_if_reliability_ratio", ""): [(1579593907_500000000, 1.0)],
        (
            "switch/leaf7",
            "switch/leaf7",
            "net_pipeline_no_route_drops_total",
            'node="0/0/CPU0"',
        ): [(card, 1.0)],
    }
    told = {file.path.name: (file.samples, dict(file.refused)) for file in report.files}
    assert told == {
        "leaf7.counters.csv.gz": (7, {"not_finite": 1}),
        "leaf7.fibdrops.csv.gz": (1, {}),
        "leaf7.rate.csv.gz": (4, {"not_numeric": 1, "out_of_range": 1}),
    }
    firsts, lasts = zip(*[(f.first_ns, f.last_ns) for f in report.files], strict=True)
    assert (min(firsts), max(lasts)) == (card, second)
    letters = scene.letters("leaf7.rate.csv.gz")
    assert letters["not_numeric"] == (1, b"in_kbps=oops")
    assert letters["out_of_range"][0] == 1


async def test_gpu_infiniband_and_bmc_tables_are_those_of_their_node(scene):
    names = [f"t99_node1_{kind}.csv.gz" for kind in ("telemetry", "ib", "bmc")]
    report, readings = await scene.replay(*names)
    gpu, ib, bmc = 1775333003_425000000, 1775333003_500000000, 1775333004_000000000
    host = "host/t99-node1"
    assert readings == {
        (host, "gpu/t99-node1:0", "gpu_power_watts", ""): [(gpu, 70.2)],
        (host, "gpu/t99-node1:0", "gpu_utilization_ratio", ""): [(gpu, 0.5)],
        (host, "gpu/t99-node1:0", "gpu_energy_joules_total", ""): [(gpu, 2.0)],
        (host, "gpu/t99-node1:1", "gpu_power_watts", ""): [(gpu, 104.9)],
        (host, "nic/t99-node1:ib0", "rdma_port_reported_transmit_bytes_per_second", ""): [
            (ib, 10.0)
        ],
        (host, "nic/t99-node1:ib0", "rdma_port_reported_receive_packets_per_second", ""): [
            (ib, 20.0)
        ],
        (host, host, "total_tx_bytes_s", ""): [(ib, 30.0)],
        (host, host, "host_power_watts", ""): [(bmc, 2550.0)],
        (host, "gpu/t99-node1:1", "gpu_bmc_temperature_celsius", ""): [(bmc, 29.0)],
    }
    assert report.refused == {"out_of_range": 1}


async def test_gnmi_responses_take_the_path_of_live_collection(scene):
    """C12 in a recording; a line that is no notification costs itself."""
    report, readings = await scene.replay("responses.jsonl")
    key = ("switch/responses", "port/responses:Ethernet35", "net_if_in_octets_total", "")
    assert readings == {key: [(1704442117721474264, 5.0), (1704442119721474264, 9.0)]}
    assert scene.ended == [key[1:]]
    assert report.refused == {"not_a_notification": 1}


async def test_gnmic_messages_are_read_in_both_formats(scene):
    report, readings = await scene.replay("events.jsonl", "gnmic.json")
    assert readings == {
        ("switch/leaf1", "port/leaf1:Ethernet1", "net_if_in_octets_total", ""): [
            (1607678293684962443, 100.0)
        ],
        ("switch/leaf1", "switch/leaf1", "bgp_messages", 'neighbor_peer-address="2001:db8::1"'): [
            (1607678293684962444, 7.0)
        ],
        (
            "switch/leaf1",
            "switch/leaf1",
            "/components/component/power-supply/state/output-current",
            'component="PowerSupply2"',
        ): [(1730298260456059632, 3.09375)],
    }
    assert report.refused == {"not_numeric": 1, "not_an_event": 2, "event_delete": 1}


async def test_sonic_ids_become_names_where_a_map_tells(scene):
    report, readings = await scene.replay("sonic.json")
    assert readings == {
        ("switch/sonic", "port/sonic:Ethernet0", "RX_BPS", ""): [(NOW_NS, 2e9)],
        ("switch/sonic", "port/sonic:oid:0x99", "net_if_in_octets_total", ""): [(NOW_NS, 7.0)],
    }
    assert report.refused == {"not_numeric": 1}


async def test_dump_and_what_is_no_recording(scene):
    report, readings = await scene.replay("engine.prom", "notes.log")
    assert readings == {
        ("engine/engine", "engine/engine", "llm_requests_running", ""): [(NOW_NS, 3.0)]
    }
    told = {file.path.name: (file.format, dict(file.refused)) for file in report.files}
    assert told == {
        "engine.prom": ("prometheus", {"created_time": 1, "bad_line": 1}),
        "notes.log": ("", {"unreadable_file": 1}),
    }
    assert report.files[1].error == "notes.log is no format that is read"
    assert report.letters == 3


async def test_speed_holds_the_replay_back_and_stop_ends_it(scene):
    began = asyncio.get_running_loop().time()
    report, _ = await scene.replay("shutdown", speed=50.0)
    assert asyncio.get_running_loop().time() - began > 11.0 / 50.0 * 0.9
    assert report.samples == 12

    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(0.05, stop.set)
    report, _ = await scene.replay("shutdown", speed=0.001, stop=stop)
    assert 0 < report.samples < 12


async def test_every_recorded_dump_is_accounted_for(scene):
    """Every sample that the official parser finds is a reading or has a reason."""
    root = data_path("samples")
    dumps = sorted(root.rglob("*.prom"))
    report, _ = await scene.replay(*dumps, folder=root)
    official = {
        path.name: sum(
            len(family.samples) for family in text_string_to_metric_families(path.read_text())
        )
        for path in dumps
    }
    ours = {file.path.name: file.samples + file.refused.total() for file in report.files}
    assert ours == official
    assert report.refused == {"blank": 2, "created_time": 38}


async def test_recorded_devices_are_read_and_their_texts_counted(scene):
    report, _ = await scene.replay("gnmi", "sonic", folder=data_path("samples"))
    errors = [file.path.name for file in report.files if file.error]
    assert errors == ["gnmic_output_format_2_yaml.txt"]
    assert report.samples > 900
    assert set(report.refused) == {
        "not_numeric",
        "identity",
        "repeated",
        "same_series_other_value",
        "unreadable_file",
    }


async def test_router_capture_has_as_many_readings_as_its_tables_have_cells(scene):
    folder = data_path("cisco-mdt/200121_0803_ecmp")
    names = ["leaf7.fibdrops.csv.gz", "leaf7.counters.csv.gz"]
    report, _ = await scene.replay(*names, folder=folder)
    cells = Counter()
    for name in names:
        with gzip.open(folder / name, "rt") as lines:
            _, *rows = [line.rstrip("\n").split(",") for line in lines]
        cells[name] = sum(1 for row in rows for cell in row[2:] if cell)
    assert {f.path.name: f.samples + f.refused.total() for f in report.files} == cells
    assert report.refused == {}
