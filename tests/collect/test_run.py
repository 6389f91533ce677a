"""The whole process: a switch, an exporter and a job in, frames on a real broker out."""

import asyncio
import socket

import pytest
from aiohttp import web
from kafka import KafkaConsumer, TopicPartition

from pipelines import topics
from pipelines.clock import SystemClock
from pipelines.collect.run import run
from pipelines.config.load import load
from pipelines.errors import ConfigError
from pipelines.job_client import JobClient
from pipelines.messages.frames import FrameDecoder
from pipelines.wire import jobs_pb2
from tests.collect.test_gnmi import PATH, SYNC, Switch, notification, serving
from tests.collect.test_job_channel import announcement, refuse

CONFIG = """
[broker]
url = "kafka://{broker}"
partitions = 1
[deployment.health_ports]
collect = 0
[collect]
flush_seconds = 0.05
[collect.subscriptions.ports]
paths = ["/interfaces/interface/state/counters"]
[[collect.gnmi]]
name = "leaf1"
address = "127.0.0.1:{gnmi}"
cell = "pod1"
subscriptions = ["ports"]
insecure = true
[[collect.scrape]]
name = "h1-dcgm"
url = "http://127.0.0.1:{http}/metrics"
cell = "pod1"
component = "host/h1"
kind = "dcgm"
interval_seconds = 0.2
timeout_seconds = 0.1
[collect.job_channel]
address = "127.0.0.1:{jobs}"
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(folder, **ports):
    (folder / "topology.toml").write_text("")
    path = folder / "trimtab.toml"
    path.write_text(CONFIG.format(**ports))
    return load(path)


@pytest.fixture
async def exporter():
    async def metrics(_):
        return web.Response(text='DCGM_FI_DEV_SM_CLOCK{UUID="GPU-1"} 1500\n')

    app = web.Application()
    app.add_routes([web.get("/metrics", metrics)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


class Reader:
    """Reads frames until it has seen every source."""

    def __init__(self, bootstrap):
        self._consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
        self._consumer.assign([TopicPartition(topics.FRAMES, 0)])
        self._decoder = FrameDecoder()
        self.frames = []

    def read(self):
        for records in self._consumer.poll(timeout_ms=200).values():
            self.frames += [self._decoder.decode(record.value) for record in records]

    def sources(self):
        return {frame.source for frame in self.frames}

    def close(self):
        self._consumer.close()


async def test_a_switch_an_exporter_and_a_job_reach_kafka(broker_bootstrap, exporter, tmp_path):
    jobs, stop = free_port(), asyncio.Event()
    async with serving(Switch([notification(7_000_000_000, 1, PATH), SYNC])) as gnmi_port:
        loaded = write(tmp_path, broker=broker_bootstrap, gnmi=gnmi_port, http=exporter, jobs=jobs)
        running = asyncio.create_task(run(loaded, clock=SystemClock(), stop=stop))
        async with JobClient(f"127.0.0.1:{jobs}", announcement(), refuse) as job:
            job.step(jobs_pb2.StepReport(step=1, at_ns=9_000_000_000, step_seconds=1.5))
            reader = Reader(broker_bootstrap)
            async with asyncio.timeout(30):
                while reader.sources() != {"switch/leaf1", "host/h1", "job/pretrain"}:
                    await asyncio.to_thread(reader.read)
        stop.set()
        await running
    reader.close()
    found = {
        (key.component, key.metric, float(frame.values[0, column]))
        for frame in reader.frames
        for column, key in enumerate(frame.layout.columns)
    }
    assert found == {
        ("port/leaf1:Ethernet1", "net_if_in_octets_total", 1.0),
        ("gpu/h1:GPU-1", "gpu_sm_clock_hertz", 1.5e9),
        ("job/pretrain", "train_step_seconds", 1.5),
        ("job/pretrain", "train_communication_seconds", 0.0),
    }
    sequences = [f.sequence for f in reader.frames if f.source == "host/h1"]
    assert sequences == list(range(1, len(sequences) + 1))


async def test_no_broker_is_waited_for_and_stop_ends_in_time(tmp_path):
    stop = asyncio.Event()
    loaded = write(tmp_path, broker="127.0.0.1:1", gnmi=1, http=1, jobs=free_port())
    running = asyncio.create_task(run(loaded, clock=SystemClock(), stop=stop))
    await asyncio.sleep(0.3)
    assert not running.done()
    stop.set()
    async with asyncio.timeout(20):
        await running


async def test_address_in_use_is_a_wrong_configuration(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        loaded = write(tmp_path, broker="127.0.0.1:1", gnmi=1, http=1, jobs=port)
        with pytest.raises(ConfigError, match=f"cannot listen on '127.0.0.1:{port}'"):
            await run(loaded, clock=SystemClock(), stop=asyncio.Event())
