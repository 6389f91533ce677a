"""Brings a database's schema up to this version; forward only."""

import re

import structlog
from clickhouse_connect.driver.client import Client

from pipelines.config.services import DatabaseConfig
from pipelines.errors import ConfigError
from pipelines.storage.schema_files import (
    SchemaFile,
    local_suffix,
    retention_days,
    schema_files,
)

log = structlog.get_logger(__name__)

_VERSIONS = """
CREATE TABLE IF NOT EXISTS schema_versions {on_cluster}
(
    version    UInt32,
    name       String,
    checksum   String                 COMMENT 'SHA-256 of the file as it was applied',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'database clock'
)
ENGINE = {engine}
ORDER BY version
COMMENT 'Migrations applied'
"""
_TTL = re.compile(r"\$(raw_days|ten_second_days|minute_days|hour_days|audit_days)\)")
_DAYS = re.compile(r"TTL .*?toIntervalDay\((\d+)\)", re.DOTALL)
_TTL_EXPRESSION = re.compile(r"^TTL (.+)$", re.MULTILINE)


class MigrationError(ConfigError):
    """The database does not fit this version's schema; the message says where."""


def migrate(client: Client, config: DatabaseConfig) -> list[str]:
    """Apply what is due and return its names; retention follows the configuration.

    Safe to repeat and to run in several processes at once: every statement leaves what exists as
    it is, and a migration is noted after it was applied.

    Raises
    ------
    MigrationError
        A file was changed after it was applied, or the database was migrated by a newer version.
    clickhouse_connect.driver.exceptions.Error
        The database is away, or refuses.
    """
    cluster = f"ON CLUSTER '{config.cluster}'" if config.cluster else ""
    client.command(f"CREATE DATABASE IF NOT EXISTS {config.name} {cluster}", use_database=False)
    replicated = "Replicated" if config.engine == "Replicated" else ""
    engine = f"{replicated}ReplacingMergeTree"
    client.command(_VERSIONS.format(on_cluster=cluster, engine=engine))
    due = _due(client, schema_files())
    for file in due:
        for statement in file.statements(config):
            client.command(statement)
        client.insert(
            "schema_versions",
            [[file.version, file.name, file.checksum]],
            column_names=["version", "name", "checksum"],
        )
        log.info("migration applied", name=file.name)
    log.info("retention in days", **_follow_retention(client, config))
    return [file.name for file in due]


def _due(client: Client, known: list[SchemaFile]) -> list[SchemaFile]:
    rows = client.query("SELECT DISTINCT version, name, checksum FROM schema_versions").result_rows
    applied = {version: (name, checksum) for version, name, checksum in rows}
    by_version = {file.version: file for file in known}
    for version, (name, checksum) in sorted(applied.items()):
        file = by_version.get(version)
        if file is None:
            raise MigrationError(f"database has migration {name!r}, which this version lacks")
        if file.checksum != checksum:
            raise MigrationError(f"migration {file.name!r} was changed after it was applied")
    return [file for file in known if file.version not in applied]


def _follow_retention(client: Client, config: DatabaseConfig) -> dict[str, int]:
    """Return days by table, after changing those that the configuration changed."""
    wanted = retention_days(config)
    kept: dict[str, int] = {}
    for file in schema_files():
        match, table = _TTL.search(file.text), file.table
        if match is None or table is None:
            continue
        days = kept[table] = wanted[match[1]]
        local = table + local_suffix(config)
        if _days(client, local) != days:
            cluster = f"ON CLUSTER '{config.cluster}'" if config.cluster else ""
            ttl = next(line for s in file.statements(config) for line in _TTL_EXPRESSION.findall(s))
            client.command(f"ALTER TABLE {local} {cluster} MODIFY TTL {ttl}")
            log.info("retention changed", table=table, days=days)
    return kept


def _days(client: Client, table: str) -> int | None:
    rows = client.query(
        "SELECT engine_full FROM system.tables "
        "WHERE database = currentDatabase() AND name = {t:String}",
        parameters={"t": table},
    ).result_rows
    found = _DAYS.search(rows[0][0]) if rows else None
    return int(found[1]) if found else None
