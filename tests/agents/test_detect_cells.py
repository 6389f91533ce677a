"""What a detect worker keeps: cells, what their snapshots cover, and where these are."""

import pytest

from detectors.cell import Output
from pipelines import topics
from pipelines.agents.detect_cells import Cells, Place
from pipelines.agents.detect_snapshots import SnapshotFiles, Snapshots
from pipelines.errors import DecodeError
from pipelines.messages.frames import FrameDecoder, encode_frame
from pipelines.wire import telemetry_pb2 as pb
from tests.detectors.world import CELL, SETTINGS, World, topology


@pytest.fixture
def snapshots(tmp_path):
    return Snapshots(SnapshotFiles(tmp_path / "baselines"))


def cells(snapshots, *, epoch="broker-1", settings=SETTINGS):
    return Cells(
        topology=topology(),
        settings=settings,
        decoder=FrameDecoder(),
        newest_snapshot=snapshots.newest,
        broker_epoch=epoch,
    )


def place(offset, partition=0):
    return Place(topic=topics.FRAMES, partition=partition, offset=offset)


def messages(seconds, *, with_layout=True):
    world = World()
    return [
        encode_frame(frame, with_layout=with_layout)
        for _ in range(seconds)
        for frame in world.frames()
    ]


def stored(snapshots, made, at_ns=1):
    taken = made.snapshots(at_ns)
    for snapshot in taken:
        snapshots.files.write(snapshot)
    return taken


def test_a_snapshot_covers_what_was_read_and_only_then_is_taken(snapshots):
    made = cells(snapshots)
    for offset, data in enumerate(messages(1)):
        made.frame(data, CELL, place(offset))
    taken = stored(snapshots, made)
    assert [(s.cell, dict(s.next_offsets), s.broker_epoch) for s in taken] == [
        (CELL, {"telemetry.frames:0": offset + 1}, "broker-1")
    ]
    assert made.snapshots(2) == []


def test_covered_messages_bring_nothing_after_a_restart(snapshots):
    made = cells(snapshots)
    first, second = messages(1)[:2]
    made.frame(first, CELL, place(0))
    stored(snapshots, made)
    again = cells(snapshots)
    assert again.frame(b"not even a frame", CELL, place(0)) == Output()
    assert again.snapshots(2) == []
    again.frame(second, CELL, place(1))
    assert len(again.snapshots(2)) == 1


def test_layouts_are_known_after_a_restart(snapshots):
    made = cells(snapshots)
    for offset, data in enumerate(messages(1)):
        made.frame(data, CELL, place(offset))
    stored(snapshots, made)
    again = cells(snapshots)
    assert again.frame(messages(2, with_layout=False)[-1], CELL, place(99)) == Output()


def test_a_layout_never_seen_is_refused(snapshots):
    with pytest.raises(DecodeError) as refused:
        cells(snapshots).frame(messages(1, with_layout=False)[0], CELL, place(0))
    assert refused.value.reason == "unknown_layout"


def test_in_another_log_offsets_mean_nothing_and_the_state_is_kept(snapshots):
    made = cells(snapshots)
    first = messages(1)[0]
    made.frame(first, CELL, place(7))
    stored(snapshots, made)
    again = cells(snapshots, epoch="broker-2")
    again.frame(messages(1, with_layout=False)[0], CELL, place(0))
    assert dict(again.snapshots(2)[0].next_offsets) == {"telemetry.frames:0": 1}


def test_a_snapshot_with_other_parameters_is_not_used(snapshots):
    """C62."""
    made = cells(snapshots)
    made.frame(messages(1)[0], CELL, place(7))
    stored(snapshots, made)
    again = cells(snapshots, settings=SETTINGS.model_copy(update={"warmup_samples": 99}))
    again.frame(messages(1)[0], CELL, place(0))
    assert dict(again.snapshots(2)[0].next_offsets) == {"telemetry.frames:0": 1}


def test_the_newer_of_file_and_topic_is_taken(snapshots):
    def snapshot(at_ns):
        return pb.BaselineSnapshot(cell=CELL, at_ns=at_ns)

    snapshots.files.write(snapshot(5))
    snapshots.take({CELL: snapshot(3)})
    assert snapshots.newest(CELL).at_ns == 5
    snapshots.take({CELL: snapshot(8)})
    assert snapshots.newest(CELL).at_ns == 8
    assert snapshots.newest("other") is None


def test_a_torn_file_is_no_snapshot(snapshots, tmp_path):
    folder = tmp_path / "baselines"
    folder.mkdir()
    (folder / f"{CELL}.snapshot").write_bytes(b"\xff\xff\xff")
    assert snapshots.newest(CELL) is None


def test_a_cell_name_makes_no_path(snapshots, tmp_path):
    snapshots.files.write(pb.BaselineSnapshot(cell="../../evil", at_ns=1))
    assert [path.name for path in (tmp_path / "baselines").iterdir()] == ["..%2F..%2Fevil.snapshot"]


def test_cells_of_partitions_that_went_elsewhere_are_forgotten(snapshots):
    made = cells(snapshots)
    first, second = messages(1)[:2]
    made.frame(first, "a", place(0, partition=0))
    made.frame(second, "b", place(0, partition=1))
    assert [s.cell for s in made.snapshots(1, {1})] == ["b"]
    made.drop({0})
    assert made.snapshots(2) == []


def test_open_alerts_are_told_again_only_by_a_cell_that_hears(snapshots):
    made = cells(snapshots)
    world = World()
    offset = 0
    told: list = []
    while not any(alert.state == "opened" for alert in told):
        world.bad_link = 0.5 if world.second > 80 else 0.0
        for frame in world.frames():
            told += made.frame(encode_frame(frame, with_layout=True), CELL, place(offset)).alerts
            offset += 1
    opened = [alert.alert_id for alert in told]
    assert [alert.alert_id for alert in made.standing()] == opened
    assert made.standing() == []
