"""``trimtab act`` as a process, on a real broker and real gNMI servers, and killed in between."""

import asyncio
import signal
import socket
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import numpy as np
import tomli_w
from gnmi_pb import gnmi_pb2_grpc
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from actuators.decision import chain_fault
from actuators.records import Event
from cluster.frame import Frame, Layout
from pipelines import topics
from pipelines.clock import SystemClock
from pipelines.config.services import BrokerConfig
from pipelines.drivers.gnmi_path import parse_path, path_key
from pipelines.messages.alerts import encode_alert
from pipelines.messages.decisions import decode_event, event_hash
from pipelines.messages.frames import encode_frame
from pipelines.topics_admin import create_topics, topic_specs
from tests.actuators.inputs import SECOND, alert, topology, weight_path
from tests.agents.act_world import SLOW, STEP
from tests.drivers.switch import Switch
from tests.services import broker_bootstrap  # noqa: F401 - a fixture

DEADLINE_SECONDS = 60.0
CLOCK = SystemClock()
KEYS = {leaf: path_key(parse_path(weight_path(leaf, "1"))) for leaf in ("leaf1", "leaf2")}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_config(folder, bootstrap, ports):
    (folder / "topology.toml").write_text(
        tomli_w.dumps(topology().model_dump(mode="json", exclude_none=True))
    )
    (folder / "job.token").write_text("secret\n")
    config = {
        "deployment": {
            "state_dir": "state",
            "health_ports": dict(
                zip(
                    ("collect", "detect", "act", "record"),
                    (free_port() for _ in range(4)),
                    strict=True,
                )
            ),
        },
        "broker": {"url": f"kafka://{bootstrap}", "partitions": 1, "session_timeout_seconds": 6.0},
        "database": {"url": "http://127.0.0.1:1"},
        "collect": {
            "subscriptions": {"all": {"paths": ["/interfaces"]}},
            "gnmi": [
                {
                    "name": leaf,
                    "address": f"127.0.0.1:{port}",
                    "cell": "pod1",
                    "subscriptions": ["all"],
                    "insecure": True,
                    "writable": True,
                }
                for leaf, port in ports.items()
            ],
            "job_channel": {"token_file": "job.token"},
        },
        "act": {
            "mode": "auto",
            "objectives": [{"component": "job/train", "metric": "train_step_seconds"}],
            "effect": {"settle_seconds": 1.0, "window_seconds": 6.0, "least_samples": 3},
        },
    }
    path = folder / "trimtab.toml"
    path.write_text(tomli_w.dumps(config))
    return path


class Job:
    """Reports a step every half second, of 2 s until the link is drained, then of 1.1 s."""

    def __init__(self, producer, switches):
        self.producer, self.switches, self.sequence = producer, switches, 0

    def history(self):
        now_ns = CLOCK.now_ns()
        for n in range(20):
            self._send(now_ns - (60 - n) * SECOND, 1.0, now_ns)
        for n in range(10):
            self._send(now_ns - (10 - n) * SECOND, 2.0, now_ns)
        return now_ns

    async def run(self):
        while True:
            drained = self.switches["leaf1"].values[KEYS["leaf1"]] == 1
            self._send(CLOCK.now_ns(), 1.1 if drained else 2.0, CLOCK.now_ns())
            await asyncio.sleep(0.5)

    def _send(self, time_ns, level, received_ns):
        self.sequence += 1
        value = level * (1 + 0.01 * (-1) ** self.sequence)
        frame = Frame(
            source="job/train",
            cell="pod1",
            layout=Layout((STEP,)),
            time_ns=np.array([time_ns]),
            values=np.array([[value]]),
            received_ns=received_ns,
        )
        self.producer.send(topics.FRAMES, key=b"pod1", value=encode_frame(frame, with_layout=True))


async def serve(switch):
    server = grpc.aio.server()
    gnmi_pb2_grpc.add_gNMIServicer_to_server(switch, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port


async def start(path):
    log = (path.parent / "act.log").open("ab")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pipelines.cli.main", "act", "--config", str(path), stderr=log
    )
    log.close()
    return process


def told(bootstrap):
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None)
    partition = TopicPartition(topics.DECISIONS, 0)
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    found = {}
    while polled := consumer.poll(timeout_ms=700):
        for message in polled[partition]:
            event = decode_event(message.value)
            found[event.sequence] = event
    consumer.close()
    return [found[n] for n in sorted(found)]


async def until(bootstrap, event):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        events = await asyncio.to_thread(told, bootstrap)
        if events and events[-1].event is event:
            return events
        await asyncio.sleep(0.3)
    return await asyncio.to_thread(told, bootstrap)


@asynccontextmanager
async def running(bootstrap, folder):
    """The cluster's switches and its reporting job; yields the job and the configuration."""
    create_topics(bootstrap, topic_specs(BrokerConfig(partitions=1)))
    switches = {
        leaf: Switch({path_key(parse_path(weight_path(leaf, index))): 20 for index in ("1", "2")})
        for leaf in ("leaf1", "leaf2")
    }
    served = {leaf: await serve(switch) for leaf, switch in switches.items()}
    path = write_config(folder, bootstrap, {leaf: port for leaf, (_, port) in served.items()})
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    job = Job(producer, switches)
    detected_ns = job.history() - 5 * SECOND
    reporting = asyncio.create_task(job.run())
    try:
        yield job, path, detected_ns
    finally:
        reporting.cancel()
        producer.close()
        for server, _ in served.values():
            await server.stop(None)


async def killed_and_started_again(bootstrap, job, path, detected_ns):
    """Let it act, kill it when the change is in force, and start it again until it has judged."""
    process = await start(path)
    try:
        degraded = replace(
            alert(evidence=(SLOW,)),
            onset_ns=detected_ns - 5 * SECOND,
            detected_ns=detected_ns,
        )
        await asyncio.sleep(8.0)
        job.producer.send(topics.ALERTS, key=b"pod1", value=encode_alert(degraded))
        await until(bootstrap, Event.VERIFIED)
        process.kill()
        await process.wait()
        process = await start(path)
        events = await until(bootstrap, Event.KEPT)
        process.send_signal(signal.SIGTERM)
        return events, await asyncio.wait_for(process.wait(), 30.0)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_killed_in_the_middle_it_still_ends_with_one_action_and_its_effect(
    broker_bootstrap,  # noqa: F811 - the fixture
    tmp_path,
):
    async with running(broker_bootstrap, tmp_path) as (job, path, detected_ns):
        events, code = await killed_and_started_again(broker_bootstrap, job, path, detected_ns)
    assert [event.event for event in events] == [
        Event.PROPOSED,
        Event.INVOKED,
        Event.SUCCEEDED,
        Event.VERIFIED,
        Event.MEASURED,
        Event.KEPT,
    ], (tmp_path / "act.log").read_text()[-4000:]
    assert events[-1].effect.verdict == "improved"
    assert chain_fault(events, event_hash) is None
    assert [job.switches[leaf].values[KEYS[leaf]] for leaf in KEYS] == [1, 1]
    assert code == 0
