"""The detect worker on a real broker, killed in the middle."""

import json

from kafka import KafkaAdminClient

from detectors.records import AlertState
from pipelines import topics
from pipelines.embedded.broker import start_broker
from pipelines.messages.alerts import decode_alert
from pipelines.messages.frames import encode_frame
from pipelines.wire import jobs_pb2
from pipelines.wire import telemetry_pb2 as pb
from tests.agents.detect_support import consume, deployment, kill, produce, start
from tests.detectors.world import CELL, World, detector, job


def joined():
    ranks = [jobs_pb2.Rank(rank=rank.rank, gpu=rank.gpu) for rank in job().ranks]
    return jobs_pb2.JobEvent(
        job_id="pretrain",
        cell=CELL,
        event="joined",
        announcement=jobs_pb2.JobAnnouncement(job_id="pretrain", cell=CELL, ranks=ranks),
    ).SerializeToString()


def encoded(world, made, seconds, known):
    """Return messages of the next seconds, and the alerts that belong to them."""
    messages, alerts = [], []
    for _ in range(seconds):
        for frame in world.frames():
            new = frame.layout.layout_id not in known
            known.add(frame.layout.layout_id)
            messages.append(encode_frame(frame, with_layout=new))
            alerts += made.update(frame).alerts
    return messages, alerts


def is_resolved(data):
    return decode_alert(data).state is AlertState.RESOLVED


def told_across_kill(loaded, bootstrap):
    """Kill the worker between two alerts; return (expected alerts, told alerts, dead letters)."""
    world, made, known = World(), detector(), set()
    worker = start(loaded)
    try:
        produce(bootstrap, topics.FRAMES, [b"\xff\xff\xff"])
        healthy, _ = encoded(world, made, 100, known)
        produce(bootstrap, topics.FRAMES, healthy)
        assert consume(bootstrap, topics.BASELINES)
        world.bad_link = 0.5
        degraded, opened = encoded(world, made, 30, known)
        produce(bootstrap, topics.FRAMES, degraded)
        assert consume(bootstrap, topics.ALERTS)
        kill(worker)
        worker = start(loaded)
        world.bad_link = 0.0
        healed, resolved = encoded(world, made, 100, known)
        produce(bootstrap, topics.FRAMES, healed)
        told = consume(bootstrap, topics.ALERTS, is_resolved)
        return opened + resolved, told, consume(bootstrap, topics.DEAD_LETTERS)
    finally:
        kill(worker)


def test_after_kill_9_the_alerts_are_the_same_as_without_it(tmp_path):
    """C44 too: what does not decode goes to the dead letters with its offset, the rest goes on."""
    broker = start_broker(log_path=tmp_path / "broker.log")
    try:
        loaded = deployment(tmp_path, broker.bootstrap, snapshot_seconds=1.0)
        produce(broker.bootstrap, topics.JOBS, [joined()])
        expected, told, letters = told_across_kill(loaded, broker.bootstrap)
    finally:
        broker.stop()
    by_id = {(a.alert_id, a.revision): a for a in expected}
    assert {(a.alert_id, a.revision): a for a in map(decode_alert, told)} == by_id
    assert len(by_id) == 2
    assert [
        (letter.reason, letter.topic, letter.offset)
        for letter in map(pb.DeadLetter.FromString, letters)
    ] == [("not_a_frame", topics.FRAMES, 0)]
    log = [json.loads(line) for line in (tmp_path / "detect.log").read_text().splitlines()]
    assert [line["event"] for line in log if line["event"].startswith("cell ")] == [
        "cell starts cold",
        "cell goes on from its snapshot",
    ]


def committed(loaded, bootstrap):
    group = f"{loaded.config.deployment.name}-detect"
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        offsets = admin.list_group_offsets([group])[group]
    finally:
        admin.close()
    return {(tp.topic, tp.partition): found.offset for tp, found in offsets.items()}


def test_sigterm_stores_a_snapshot_and_commits_what_it_covers(tmp_path):
    """C51: nothing that was read has to be read again after a stop in good order."""
    broker = start_broker(log_path=tmp_path / "broker.log")
    try:
        loaded = deployment(tmp_path, broker.bootstrap, snapshot_seconds=600.0)
        messages, _ = encoded(World(), detector(), 5, set())
        produce(broker.bootstrap, topics.FRAMES, [*messages, b"\xff\xff\xff"])
        worker = start(loaded)
        assert consume(broker.bootstrap, topics.DEAD_LETTERS)  # the last message was read
        worker.terminate()
        assert worker.wait(30) == 0
        snapshots = consume(broker.bootstrap, topics.BASELINES)
        offsets = committed(loaded, broker.bootstrap)
    finally:
        broker.stop()
    stored = pb.BaselineSnapshot.FromString(snapshots[0])
    (log, next_offset), *_ = stored.next_offsets.items()
    partition = int(log.rpartition(":")[2])
    assert (next_offset, offsets) == (
        len(messages),
        {(topics.FRAMES, partition): len(messages) + 1},
    )
