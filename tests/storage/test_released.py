"""A database of the first released version becomes today's, with what is in it."""

import hashlib
from datetime import date

import numpy as np
from clickhouse_connect.driver.client import Client

from pipelines.agents.record_samples import Recorded, samples_block
from pipelines.config.services import DatabaseConfig
from pipelines.embedded.database import EmbeddedDatabase
from pipelines.storage.client import open_client
from pipelines.storage.migrate import migrate
from pipelines.storage.schema_files import SchemaFile, schema_files
from pipelines.storage.store import Store
from tests.record.messages import frame

FIRST = {*range(1, 20), *range(101, 111)}
# Of the first release's files: whoever edits one of them finds it here.
FIRST_CHECKSUM = "9bab477de356f896dbc3122a01efb490ab76056b6e3ce52cdaa0dea76efadedc"
DAY = date(2026, 11, 30)


def released() -> list[SchemaFile]:
    return [file for file in schema_files() if file.version in FIRST]


def rows_of(client: Client, table: str) -> int:
    return int(client.query(f"SELECT sum(samples) FROM {table}").first_row[0])


def store(client: Client, *, token: str) -> int:
    values = np.arange(30, dtype=np.float64).reshape(10, 3).tolist()
    recorded = [Recorded(frame=frame(values, sequence=1), partition=0, offset=0)]
    block, rows = samples_block(recorded, stored=DAY)
    Store(client).insert_block("samples", block, rows=rows, token=token)
    return rows


def test_released_files_were_never_edited() -> None:
    text = "".join(file.checksum for file in released())
    assert hashlib.sha256(text.encode()).hexdigest() == FIRST_CHECKSUM


def test_first_release_migrates_twice_and_loses_nothing(
    database: EmbeddedDatabase, scratch_database: str
) -> None:
    config = DatabaseConfig(name=scratch_database)
    client = open_client(database.url, database=scratch_database)
    client.command(
        "CREATE TABLE schema_versions (version UInt32, name String, checksum String, "
        "applied_at DateTime64(3, 'UTC') DEFAULT now64(3)) "
        "ENGINE = ReplacingMergeTree ORDER BY version COMMENT 'Migrations applied'"
    )
    for file in released():
        for statement in file.statements(config):
            client.command(statement)
        client.insert(
            "schema_versions",
            [[file.version, file.name, file.checksum]],
            column_names=["version", "name", "checksum"],
        )
    before = store(client, token="before")
    applied = migrate(client, config)
    assert applied == [file.name for file in schema_files() if file.version not in FIRST]
    assert migrate(client, config) == []
    after = store(client, token="after")
    assert store(client, token="after") == after
    assert client.query("SELECT count() FROM samples").first_row == (before + after,)
    assert rows_of(client, "minutes") == before + after
    # Roll-ups begin with the version that brought them.
    assert (rows_of(client, "ten_seconds"), rows_of(client, "hours")) == (after, after)
    codec = "SELECT compression_codec FROM system.columns WHERE database = {d:String} "
    codec += "AND table = 'samples' AND name = 'time'"
    found = client.query(codec, parameters={"d": scratch_database}).first_row[0]
    client.close()
    assert found == "CODEC(Delta(8), ZSTD(1))"
