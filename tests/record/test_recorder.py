"""The recorder on the real embedded broker and database."""

import base64
import math
from datetime import UTC, datetime

import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import OperationalError

from pipelines import topics
from pipelines.messages.alerts import encode_alert, encode_detection
from pipelines.messages.decisions import encode_approval, encode_event
from pipelines.messages.frames import encode_frame
from pipelines.storage.store import Claim, Store
from tests.record.conftest import Bench
from tests.record.messages import ALERT, APPROVAL, DETECTION, NOW_NS, decision_events, frame

NAN = math.nan


class KilledError(BaseException):
    """The process ends here."""


class DyingStore(Store):
    """Ends its process at the nth insert of a table, before or after the rows are in."""

    def __init__(self, client: Client, *, table: str, after: bool) -> None:
        super().__init__(client)
        self._table, self._after = table, after

    def insert_block(self, table: str, block: bytes, *, rows: int, token: str) -> None:
        if table == self._table and not self._after:
            raise KilledError
        super().insert_block(table, block, rows=rows, token=token)
        if table == self._table:
            raise KilledError


class AwayStore(Store):
    """A database that is away until told otherwise."""

    away = True

    def claim(self, **place: object) -> Claim:  # type: ignore[override]
        if self.away:
            raise OperationalError("connection refused")
        return super().claim(**place)  # type: ignore[arg-type]


def frames(first: int, last: int) -> list[bytes]:
    return [
        encode_frame(
            frame([[1.0 * n, 2.0, NAN], [3.0, NAN, 4.0]], sequence=n, start_ns=NOW_NS + n),
            with_layout=n == first,
        )
        for n in range(first, last + 1)
    ]


def test_every_topic_becomes_rows(bench: Bench) -> None:
    events = decision_events()
    bench.send(topics.FRAMES, *frames(1, 3))
    bench.send(topics.DETECTIONS, encode_detection(DETECTION))
    bench.send(topics.ALERTS, encode_alert(ALERT))
    bench.send(topics.DECISIONS, *map(encode_event, events))
    bench.send(topics.APPROVALS, encode_approval(APPROVAL))
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("frames") == 3 and bench.count("decisions") == 5)
    recorder.drain()
    recorder.close()
    tables = ("samples", "frames", "detections", "alerts", "decisions", "actions", "effects")
    counts = {table: bench.count(table) for table in (*tables, "approvals", "dead_letters")}
    assert counts == {
        "samples": 12,
        "frames": 3,
        "detections": 1,
        "alerts": 1,
        "decisions": 5,
        "actions": 5,
        "effects": 2,
        "approvals": 1,
        "dead_letters": 0,
    }
    message = bench.client.query("SELECT base64Encode(message) FROM alerts").first_row[0]
    assert base64.b64decode(message) == encode_alert(ALERT)


@pytest.mark.parametrize("after", [False, True], ids=["before the insert", "after the insert"])
def test_kill_around_an_insert_changes_no_count(bench: Bench, after: bool) -> None:
    """C37-like: what was claimed is read again as the very same block."""
    bench.send(topics.FRAMES, *frames(1, 4))
    dying = bench.recorder(DyingStore(bench.client, table="samples", after=after))
    with pytest.raises(KilledError):
        bench.until(dying, lambda: False)
    dying.close()
    # More has come: without the claim the next block would be another one.
    bench.send(topics.FRAMES, *frames(5, 9))
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("frames") == 9)
    recorder.close()
    assert (bench.count("samples"), bench.count("frames")) == (36, 9)
    rolled = bench.client.query("SELECT sum(samples) FROM samples_1m").first_row[0]
    series = bench.client.query("SELECT sum(samples) FROM series").first_row[0]
    assert (rolled, series) == (36, 36)


def test_facts_sent_again_are_one_row(bench: Bench) -> None:
    """The same facts at other offsets: a producer's retry, a replayed file."""
    events = list(map(encode_event, decision_events()))
    bench.send(topics.DECISIONS, *events, *events)
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("decisions") >= 5)
    bench.send(topics.DECISIONS, *events)
    bench.send(topics.APPROVALS, encode_approval(APPROVAL))
    bench.until(recorder, lambda: bench.count("approvals") == 1)
    recorder.step(timeout_ms=300)
    recorder.drain()
    recorder.close()
    assert [bench.count(table) for table in ("decisions", "actions", "effects")] == [5, 5, 2]


def test_database_away_then_back_loses_nothing(bench: Bench) -> None:
    store = AwayStore(bench.client)
    recorder = bench.recorder(store)
    bench.send(topics.FRAMES, *frames(1, 2))
    bench.until(recorder, lambda: recorder.is_waiting)
    bench.send(topics.FRAMES, *frames(3, 6))
    store.away = False
    bench.until(recorder, lambda: bench.count("frames") == 6)
    recorder.close()
    assert (bench.count("samples"), recorder.is_waiting) == (24, False)


def test_poison_frame_is_a_dead_letter_and_the_rest_is_stored(bench: Bench) -> None:
    """C65: what is bad goes aside with its reason and offset."""
    good = frames(1, 3)
    old = encode_frame(frame([[1.0, 2.0, 3.0]], sequence=4, start_ns=-5), with_layout=False)
    bench.send(topics.FRAMES, good[0], b"rubbish", *good[1:], old)
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("frames") == 4)
    recorder.close()
    letters = bench.client.query(
        "SELECT reason, topic, partition, offset, samples, payload, cell "
        "FROM dead_letters ORDER BY offset"
    ).result_rows
    assert [tuple(row) for row in letters] == [
        ("not_a_frame", topics.FRAMES, 0, 1, 0, "rubbish", "pod1"),
        ("bad_time", topics.FRAMES, 0, 4, 3, letters[1][5], "pod1"),
    ]
    assert bench.count("samples") == 12


def test_restart_knows_the_layouts_that_frames_do_not_bring(bench: Bench) -> None:
    first, *others = frames(1, 4)
    bench.send(topics.FRAMES, first)
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("frames") == 1)
    recorder.close()
    bench.send(topics.FRAMES, *others)
    restarted = bench.recorder()
    bench.until(restarted, lambda: bench.count("frames") == 4)
    restarted.close()
    assert (bench.count("samples"), bench.count("dead_letters")) == (16, 0)


def test_lost_frames_are_gaps(bench: Bench) -> None:
    sent = frames(3, 9)
    bench.send(topics.FRAMES, *sent[:2], *sent[4:6])  # 3 4 7 8
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("frames") == 4)
    recorder.close()
    gaps = bench.client.query(
        "SELECT collector, source, first_missing, last_missing, frames FROM telemetry_gaps "
        "ORDER BY first_missing"
    ).result_rows
    assert [tuple(gap) for gap in gaps] == [
        ("collect-1", "switch/leaf1", 1, 2, 2),
        ("collect-1", "switch/leaf1", 5, 6, 2),
    ]


def test_device_times_come_back_to_the_nanosecond(bench: Bench) -> None:
    """C68, and times of other decades stay."""
    stamps = [1_371_000_000_123_456_789, 1_731_005_237_777_063_541, 2_000_000_000_000_000_001]
    sent = [
        encode_frame(frame([[1.0, NAN, NAN]], sequence=n, start_ns=at), with_layout=True)
        for n, at in enumerate(stamps, start=1)
    ]
    bench.send(topics.FRAMES, *sent)
    recorder = bench.recorder()
    bench.until(recorder, lambda: bench.count("frames") == 3)
    recorder.close()
    bench.client.command("OPTIMIZE TABLE samples FINAL")
    rows = bench.client.query(
        "SELECT toUnixTimestamp64Nano(time), time FROM samples ORDER BY time"
    ).result_rows
    assert [row[0] for row in rows] == stamps
    assert rows[1][1] == datetime(2024, 11, 7, 18, 47, 17, 777063, tzinfo=UTC)
