"""Frames into the ClickHouse engine over HTTP, against clickhouse-connect's insert of rows."""

import tempfile
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
from clickhouse_connect.driver.client import Client

from benchmarks.row import Row, rate
from cluster.frame import Frame, Layout, SeriesKey
from pipelines.agents.record_samples import Recorded, samples_block
from pipelines.config.services import DatabaseConfig
from pipelines.embedded.database import start_database
from pipelines.storage.client import open_client
from pipelines.storage.migrate import migrate
from pipelines.storage.store import Store

_STORED = date(2026, 11, 30)
_START_NS = 1_796_040_000_000_000_000
_COLUMNS, _ROWS = 500, 400


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        database = start_database(Path(folder) / "data", log_path=Path(folder) / "log")
        try:
            client = open_client(database.url, database="trimtab")
            migrate(client, DatabaseConfig())
            return _measured(client)
        finally:
            database.stop()


def _measured(client: Client) -> list[Row]:
    recorded = [Recorded(frame=_frame(), partition=0, offset=0)]
    store, tokens = Store(client), iter(range(10**9))

    def blocks() -> int:
        block, samples = samples_block(recorded, stored=_STORED)
        store.insert_block("samples", block, rows=samples, token=f"bench-{next(tokens)}")
        return samples

    value = rate(blocks, seconds=3.0, repeats=2)
    size = client.command(
        "SELECT sum(data_compressed_bytes) / sum(rows) FROM system.parts"
        " WHERE database = 'trimtab' AND table = 'samples' AND active"
    )
    client.command("CREATE TABLE plain AS samples ENGINE = MergeTree ORDER BY time")
    names = ["metric", "component", "attributes", "time", "value", "stored"]
    moment = datetime(2026, 11, 30, tzinfo=UTC)
    plain = [["m", f"port/leaf1:{i}", "", moment, float(i), _STORED] for i in range(20_000)]

    def plainly() -> int:
        client.insert("plain", plain, column_names=names)
        return len(plain)

    return [
        Row(
            id="I5-rows",
            what="samples inserted from frames; baseline: clickhouse-connect with rows",
            value=value,
            baseline=rate(plainly, seconds=2.0, repeats=2),
            target=1e6,
            holds=value >= 1e6,
            unit="rows/s",
        ),
        Row(
            id="I5-bytes",
            what="bytes a sample on disk: counters every second, random walks",
            value=float(str(size)),
            target=2.5,
            holds=float(str(size)) <= 2.5,
            unit="bytes",
        ),
    ]


def _frame() -> Frame:
    random = np.random.default_rng(1)
    keys = (SeriesKey(f"port/leaf1:{i}", "net_if_out_octets_total") for i in range(_COLUMNS))
    return Frame(
        source="switch/leaf1",
        cell="pod1",
        layout=Layout(tuple(keys)),
        time_ns=_START_NS + 10**9 * np.arange(_ROWS, dtype=np.int64),
        values=np.cumsum(random.integers(0, 10**6, (_ROWS, _COLUMNS)), axis=0).astype(np.float64),
        received_ns=_START_NS,
    )
