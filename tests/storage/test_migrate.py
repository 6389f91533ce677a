from concurrent.futures import ThreadPoolExecutor

import pytest
from clickhouse_connect.driver.client import Client

from pipelines.config.services import DatabaseConfig
from pipelines.embedded.database import EmbeddedDatabase
from pipelines.storage.client import open_client
from pipelines.storage.migrate import MigrationError, migrate
from pipelines.storage.schema_files import SchemaFile, schema_files
from pipelines.storage.tables import FACT_TABLES


def days(client: Client, table: str) -> str:
    query = "SELECT extract(engine_full, 'toIntervalDay\\\\((\\\\d+)\\\\)') FROM system.tables "
    query += "WHERE database = currentDatabase() AND name = {t:String}"
    return str(client.query(query, parameters={"t": table}).first_row[0])


def test_files_are_numbered_once_and_in_order() -> None:
    versions = [file.version for file in schema_files()]
    assert versions == sorted(set(versions))


def test_second_run_applies_nothing(client: Client, scratch_database: str) -> None:
    assert migrate(client, DatabaseConfig(name=scratch_database)) == []


def test_two_processes_at_once_end_with_one_schema(
    database: EmbeddedDatabase, scratch_database: str
) -> None:
    config = DatabaseConfig(name=scratch_database)

    def run(_: int) -> list[str]:
        own = open_client(database.url, database=scratch_database)
        try:
            return migrate(own, config)
        finally:
            own.close()

    with ThreadPoolExecutor(2) as threads:
        applied = list(threads.map(run, range(2)))
    names = {file.name for file in schema_files()}
    assert set(applied[0]) | set(applied[1]) == names
    client = open_client(database.url, database=scratch_database)
    rows = client.query("SELECT name FROM schema_versions FINAL").result_rows
    client.close()
    assert sorted(row[0] for row in rows) == sorted(names)


def test_retention_follows_the_configuration(client: Client, scratch_database: str) -> None:
    assert (days(client, "samples"), days(client, "alerts")) == ("7", "400")
    migrate(client, DatabaseConfig(name=scratch_database, raw_days=3, audit_days=500))
    assert (days(client, "samples"), days(client, "alerts")) == ("3", "500")


def test_edited_migration_is_refused(client: Client, scratch_database: str) -> None:
    client.command(
        "ALTER TABLE schema_versions DELETE WHERE version = 5", settings={"mutations_sync": 1}
    )
    client.insert(
        "schema_versions",
        [[5, "005_samples", "other"]],
        column_names=["version", "name", "checksum"],
    )
    with pytest.raises(MigrationError, match="'005_samples' was changed after it was applied"):
        migrate(client, DatabaseConfig(name=scratch_database))


def test_database_of_a_newer_version_is_refused(client: Client, scratch_database: str) -> None:
    client.insert(
        "schema_versions", [[999, "999_later", "x"]], column_names=["version", "name", "checksum"]
    )
    with pytest.raises(MigrationError, match="'999_later', which this version lacks"):
        migrate(client, DatabaseConfig(name=scratch_database))


def test_rows_have_the_columns_of_their_tables(client: Client, scratch_database: str) -> None:
    for table in FACT_TABLES:
        rows = client.query(
            "SELECT name FROM system.columns WHERE database = {d:String} AND table = {t:String}",
            parameters={"d": scratch_database, "t": table.name},
        ).result_rows
        assert {row[0] for row in rows} == set(table.columns), table.name


def by_name(name: str) -> SchemaFile:
    return next(file for file in schema_files() if file.name == name)


def test_cluster_gets_local_and_distributed_tables() -> None:
    config = DatabaseConfig(engine="Replicated", cluster="prod")
    local, distributed, view = by_name("004_sources").statements(config)
    assert "CREATE TABLE IF NOT EXISTS sources_local ON CLUSTER 'prod'" in local
    assert "ENGINE = ReplicatedAggregatingMergeTree" in local
    assert "replicated_deduplication_window = 10000" in local
    assert "non_replicated" not in local
    assert distributed == (
        "CREATE TABLE IF NOT EXISTS sources ON CLUSTER 'prod' AS sources_local "
        "ENGINE = Distributed('prod', 'trimtab', 'sources_local', cityHash64(collector, source))"
    )
    assert "ON CLUSTER 'prod' TO sources_local AS" in view
    assert "FROM frames_local" in view


def test_replicas_without_a_cluster_have_no_distributed_tables() -> None:
    [table] = by_name("012_alerts").statements(DatabaseConfig(engine="Replicated"))
    assert "CREATE TABLE IF NOT EXISTS alerts \n" in table
    assert "ENGINE = ReplicatedReplacingMergeTree" in table


def test_every_table_says_what_it_is_and_what_it_is_sharded_by(
    client: Client, scratch_database: str
) -> None:
    cluster = DatabaseConfig(engine="Replicated", cluster="prod")
    tables = [file for file in schema_files() if file.table]
    for file in tables:
        assert len(file.statements(cluster)) >= 2
    rows = client.query(
        "SELECT name FROM system.tables WHERE database = {d:String} "
        "AND engine LIKE '%MergeTree' AND comment = ''",
        parameters={"d": scratch_database},
    ).result_rows
    assert rows == []
