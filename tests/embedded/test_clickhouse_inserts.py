"""What the recorder relies on, through clickhouse-connect as against any ClickHouse server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from pipelines.embedded.database import EmbeddedDatabase

STAMP_NS = 1731005237777063541


@pytest.mark.parametrize("compress", ["lz4", "zstd", "gzip", False])
def test_native_insert_and_query_under_every_compression(
    database: EmbeddedDatabase, scratch_database: str, compress: str | bool
) -> None:
    """C68: nanoseconds come back as they went in."""
    client = clickhouse_connect.get_client(
        host=database.host, port=database.port, database=scratch_database, compress=compress
    )
    client.command(
        "CREATE TABLE t (at DateTime64(9, 'UTC') CODEC(Delta, ZSTD), name LowCardinality(String), "
        "value Float64 CODEC(Gorilla), labels Map(String, String), note Nullable(String)) "
        "ENGINE = MergeTree ORDER BY at TTL toDateTime(at) + INTERVAL 50 YEAR"
    )
    rows = [[STAMP_NS, "a", 0.1, {"k": "v"}, None], [STAMP_NS + 1, "b", 2.0, {}, "x"]]
    summary = client.insert("t", rows, column_names=["at", "name", "value", "labels", "note"])
    assert summary.written_rows == 2
    read = client.query("SELECT toUnixTimestamp64Nano(at), name, value, labels, note FROM t")
    assert [list(row) for row in read.result_rows] == rows
    client.close()


def test_parameters_settings_and_errors_through_the_client(client: Client) -> None:
    assert client.query("SELECT {x:Int32} * 2", parameters={"x": 21}).first_row == (42,)
    settings = {"max_threads": 3}
    assert client.query("SELECT getSetting('max_threads')", settings=settings).first_row == (3,)
    with pytest.raises(DatabaseError, match="UNKNOWN_TABLE"):
        client.query("SELECT * FROM nothing_here")


def test_sixteen_tasks_insert_and_query_at_once(
    database: EmbeddedDatabase, scratch_database: str
) -> None:
    """C63: one client without a session, shared by all."""
    client = clickhouse_connect.get_client(
        host=database.host,
        port=database.port,
        database=scratch_database,
        autogenerate_session_id=False,
    )
    client.command("CREATE TABLE t (task Int32, n Int32) ENGINE = MergeTree ORDER BY (task, n)")

    def work(task: int) -> int:
        for n in range(5):
            client.insert("t", [[task, n]], column_names=["task", "n"])
            client.query("SELECT count() FROM t")
        return int(client.query(f"SELECT count() FROM t WHERE task = {task}").first_row[0])

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(work, range(16))) == [5] * 16
    assert client.query("SELECT count() FROM t").first_row == (80,)
    client.close()


async def test_sixteen_tasks_on_the_async_client(
    database: EmbeddedDatabase, scratch_database: str
) -> None:
    """C63: the same on one event loop."""
    pytest.importorskip("aiohttp")
    client = await clickhouse_connect.get_async_client(
        host=database.host, port=database.port, database=scratch_database
    )
    await client.command("CREATE TABLE t (task Int32) ENGINE = MergeTree ORDER BY task")

    async def work(task: int) -> None:
        await client.insert("t", [[task]], column_names=["task"])
        await client.query("SELECT count() FROM t")

    await asyncio.gather(*(work(task) for task in range(16)))
    assert (await client.query("SELECT count() FROM t")).first_row == (16,)
    await client.close()


def test_retried_insert_is_stored_once_also_in_views(client: Client) -> None:
    client.command(
        "CREATE TABLE t (a Int32, v Float64) ENGINE = MergeTree ORDER BY a "
        "SETTINGS non_replicated_deduplication_window = 100"
    )
    client.command(
        "CREATE TABLE rolled (a Int32, total AggregateFunction(sum, Float64)) "
        "ENGINE = AggregatingMergeTree ORDER BY a "
        "SETTINGS non_replicated_deduplication_window = 100"
    )
    client.command(
        "CREATE MATERIALIZED VIEW roll TO rolled AS "
        "SELECT a, sumState(v) AS total FROM t GROUP BY a"
    )

    def insert(token: str) -> None:
        settings = {
            "insert_deduplication_token": token,
            "deduplicate_blocks_in_dependent_materialized_views": 1,
        }
        client.insert("t", [[1, 0.5], [2, 1.5]], column_names=["a", "v"], settings=settings)

    for token in ("first", "first", "second", "first"):
        insert(token)
    assert client.query("SELECT count(), sum(v) FROM t").first_row == (4, 4.0)
    rolled = client.query("SELECT a, sumMerge(total) FROM rolled GROUP BY a ORDER BY a")
    assert rolled.result_rows == [(1, 1.0), (2, 3.0)]


def test_replacing_table_shows_the_last_version(client: Client) -> None:
    client.command(
        "CREATE TABLE t (id String, state String, version UInt64) "
        "ENGINE = ReplacingMergeTree(version) ORDER BY id"
    )
    columns = ["id", "state", "version"]
    client.insert("t", [["d1", "planned", 1]], column_names=columns)
    client.insert("t", [["d1", "applied", 2]], column_names=columns)
    assert client.query("SELECT * FROM t FINAL").result_rows == [("d1", "applied", 2)]


def test_system_tables_describe_what_is_there(client: Client, scratch_database: str) -> None:
    client.command("CREATE TABLE t (a Int32) ENGINE = MergeTree ORDER BY a")
    tables = client.query(
        "SELECT name, engine FROM system.tables WHERE database = {d:String}",
        parameters={"d": scratch_database},
    )
    columns = client.query(
        "SELECT name, type FROM system.columns WHERE database = {d:String}",
        parameters={"d": scratch_database},
    )
    assert (tables.result_rows, columns.result_rows) == ([("t", "MergeTree")], [("a", "Int32")])


def test_malformed_native_insert_stores_nothing(client: Client) -> None:
    """C65: an error with a code, and none of the rows before the bad place."""
    client.command("CREATE TABLE t (number UInt64) ENGINE = MergeTree ORDER BY number")
    # Past a server's block of 1,048,449 rows: its first blocks would be in by then.
    native = client.raw_query("SELECT number FROM numbers(1500000)", fmt="Native")
    for body in (native[:-100], native + b"rubbish", b"rubbish" * 100):
        with pytest.raises(DatabaseError, match="DB::Exception"):
            client.raw_insert("t", insert_block=body, fmt="Native")
    assert client.query("SELECT count() FROM t").first_row == (0,)
    client.raw_insert("t", insert_block=native, fmt="Native")
    assert client.query("SELECT count() FROM t").first_row == (1_500_000,)


def test_malformed_text_insert_stores_nothing(client: Client) -> None:
    client.command("CREATE TABLE t (a Int32) ENGINE = MergeTree ORDER BY a")
    good = b"".join(b"%d\n" % number for number in range(100_000))
    with pytest.raises(DatabaseError, match="INCORRECT_DATA"):
        client.raw_insert("t", insert_block=good + b"rubbish\n", fmt="CSV")
    assert client.query("SELECT count() FROM t").first_row == (0,)


def test_parameters_too_long_for_a_url_are_bound_all_the_same(database: EmbeddedDatabase) -> None:
    client = clickhouse_connect.get_client(host=database.host, port=database.port)
    words = [f"replay-{number:08}" for number in range(2000)]
    counted = client.query(
        "SELECT length({words:Array(String)})", parameters={"words": words}
    ).result_rows
    client.close()
    assert counted == [(2000,)]
