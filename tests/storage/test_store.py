"""What is stored twice is stored once; a block is what NumPy says it is."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from itertools import pairwise

import numpy as np
import pytest
from clickhouse_connect.driver.client import Client

from pipelines.agents.record_facts import fact_rows
from pipelines.agents.record_samples import Recorded, samples_block
from pipelines.messages.alerts import encode_alert
from pipelines.storage.native import Numbers, Words, native_block
from pipelines.storage.store import Store
from pipelines.storage.tables import ALERTS
from pipelines.topics import ALERTS as ALERTS_TOPIC
from tests.record.messages import ALERT, NOW_NS, PORT_LAYOUT, SECOND_NS, frame

DAY = date(2026, 11, 30)
PLACE = {"epoch": "e1", "topic": "t", "partition": 0}


def many_frames(count: int, *, rows: int = 40) -> list[Recorded]:
    random = np.random.default_rng(7)
    made = []
    for n in range(count):
        values = random.normal(100.0, 10.0, size=(rows, 3))
        values[random.random(values.shape) < 0.2] = np.nan
        start_ns = NOW_NS + n * rows * SECOND_NS
        one = frame(values.tolist(), sequence=n + 1, start_ns=start_ns)
        made.append(Recorded(frame=one, partition=0, offset=n))
    return made


def test_block_sent_twice_changes_no_count(client: Client) -> None:
    store = Store(client)
    block, rows = samples_block(many_frames(5), stored=DAY)
    for token in ("first", "first", "second", "first"):
        store.insert_block("samples", block, rows=rows, token=token)
    counts = client.query(
        "SELECT (SELECT count() FROM samples), (SELECT sum(samples) FROM samples_1m), "
        "(SELECT sum(samples) FROM series)"
    ).first_row
    assert counts == (2 * rows, 2 * rows, 2 * rows)


def test_roll_up_equals_raw(client: Client) -> None:
    """Also when a minute comes in several blocks, of two days of recording."""
    store = Store(client)
    frames = many_frames(12)
    for number, (part, stored) in enumerate(
        [(frames[:5], DAY), (frames[5:6], date(2026, 12, 1)), (frames[6:], DAY)]
    ):
        block, rows = samples_block(part, stored=stored)
        store.insert_block("samples", block, rows=rows, token=str(number))
    raw = client.query(
        "SELECT component, metric, attributes, toStartOfMinute(time) AS minute, count(), "
        "min(value), max(value), round(avg(value), 9), argMax(value, time) FROM samples "
        "GROUP BY component, metric, attributes, minute ORDER BY ALL"
    ).result_rows
    rolled = client.query(
        "SELECT component, metric, attributes, minute, samples, least, most, round(mean, 9), last "
        "FROM minutes ORDER BY ALL"
    ).result_rows
    assert len(raw) == 3 * 8
    assert raw == rolled


def test_large_block_is_one_part_of_every_table(client: Client) -> None:
    """A million-row block is not split, however many series it has: one token, one part each."""
    rows = 1_200_000
    codes = np.arange(rows, dtype=np.uint32)
    same = np.zeros(rows, dtype=np.uint32)
    words = [f"port/leaf{n // 64}:Ethernet{n % 64}" for n in range(70_000)]
    block = native_block(
        {
            "metric": Words(keys=["m"], codes=same),
            "component": Words(keys=words, codes=codes % 70_000),
            "attributes": Words(keys=[""], codes=same),
            "time": Numbers(
                type_name="DateTime64(9, 'UTC')", values=codes.astype(np.int64) + NOW_NS
            ),
            "value": Numbers(type_name="Float64", values=codes.astype(np.float64)),
            "cell": Words(keys=["pod1"], codes=same),
            "source": Words(keys=["switch/leaf1"], codes=same),
            "received": Numbers(type_name="DateTime64(9, 'UTC')", values=codes.astype(np.int64)),
            "stored": Numbers(type_name="Date", values=np.full(rows, 20_787, dtype=np.uint16)),
        }
    )
    store = Store(client)
    client.command("SYSTEM STOP MERGES samples")
    for _ in range(2):
        store.insert_block("samples", block, rows=rows, token="large")
    parts = client.query(
        "SELECT count(), sum(rows) FROM system.parts "
        "WHERE active AND database = currentDatabase() AND table = 'samples'"
    ).first_row
    rolled = client.query("SELECT sum(samples), uniqExact(component) FROM samples_1m").first_row
    assert (parts, rolled) == ((1, rows), (rows, 70_000))


def test_words_need_as_many_bytes_as_there_are(client: Client) -> None:
    for count in (1, 255, 256, 257, 65_536, 65_537):
        client.command("CREATE OR REPLACE TABLE w (w LowCardinality(String)) ENGINE = Memory")
        keys = [f"k{n}" for n in range(count)]
        codes = np.arange(count, dtype=np.uint32)[::-1]
        block = native_block({"w": Words(keys=keys, codes=codes)})
        client.raw_insert("w", insert_block=block, fmt="Native")
        assert list(client.query("SELECT w FROM w").result_columns[0]) == keys[::-1]


def test_columns_of_different_length_make_no_block() -> None:
    short = Numbers(type_name="Float64", values=np.zeros(2))
    long = Numbers(type_name="Float64", values=np.zeros(3))
    with pytest.raises(ValueError, match=r"columns have \[2, 3\] rows"):
        native_block({"a": short, "b": long})


def test_of_claims_on_one_offset_the_first_holds(client: Client) -> None:
    store = Store(client)
    first = store.claim(**PLACE, first=10, until=50, now_ns=NOW_NS)  # type: ignore[arg-type]
    later = store.claim(**PLACE, first=10, until=90, now_ns=NOW_NS + 10**15)  # type: ignore[arg-type]
    other = store.claim(**{**PLACE, "epoch": "e2"}, first=10, until=90, now_ns=NOW_NS)  # type: ignore[arg-type]
    assert first == later
    assert (first.until, first.stored, other.until) == (50, DAY, 90)


def test_claims_at_once_agree(client: Client) -> None:
    """Two recorders that both think a partition is theirs write the same block."""

    def claim(until: int) -> int:
        store = Store(client)
        return store.claim(**PLACE, first=0, until=until, now_ns=NOW_NS).until  # type: ignore[arg-type]

    with ThreadPoolExecutor(8) as threads:
        chosen = list(threads.map(claim, range(10, 18)))
    assert all(a == b for a, b in pairwise(chosen))


def test_sixteen_threads_share_a_client(client: Client) -> None:
    """C63."""
    store = Store(client)

    def work(task: int) -> None:
        block, rows = samples_block(many_frames(1), stored=DAY)
        store.insert_block("samples", block, rows=rows, token=f"task-{task}")
        client.query("SELECT count() FROM samples")

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(work, range(16)))
    _, rows = samples_block(many_frames(1), stored=DAY)
    assert client.query("SELECT count() FROM samples").first_row == (16 * rows,)


def test_fact_in_another_block_is_one_row(client: Client) -> None:
    store = Store(client)
    rows = [row for _, row in fact_rows(ALERTS_TOPIC, encode_alert(ALERT), DAY)]
    store.insert_facts(ALERTS, [*rows, *rows], token="a")
    store.insert_facts(ALERTS, rows, token="b")
    assert client.query("SELECT count() FROM alerts").first_row == (1,)


def test_layout_comes_back(client: Client) -> None:
    store = Store(client)
    store.insert_layouts([PORT_LAYOUT], token="l")
    assert store.layout(PORT_LAYOUT.layout_id) == PORT_LAYOUT
    assert store.layout(12345) is None
