"""The schema's numbered files, and what they become with a deployment's engine and retention."""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from pipelines.config.services import DatabaseConfig

_STATEMENT_END = re.compile(r";[ \t]*$", re.MULTILINE)
_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)\$local")
_SHARD = re.compile(r"^-- shard by (.+)$", re.MULTILINE)
# How many of its last inserts a table knows again. The recorder needs the last per partition.
_INSERTS_KNOWN = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """One migration: applied once, in order of ``version``, never edited after release."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def table(self) -> str | None:
        """Name of the table it creates; None when it creates views only."""
        match = _TABLE.search(self.text)
        return match[1] if match else None

    def statements(self, config: DatabaseConfig) -> list[str]:
        """Return its statements for a deployment, in order.

        In a cluster each table is a local one on every shard and a distributed one over them; its
        first line says by what rows are spread.
        """
        text = Template(self.text).substitute(_words(config))
        statements = [part.strip() for part in _STATEMENT_END.split(text)]
        statements = [part for part in statements if _without_comments(part)]
        if config.cluster and self.table is not None:
            statements.insert(1, self._distributed(config, self.table))
        return statements

    def _distributed(self, config: DatabaseConfig, table: str) -> str:
        shard = _SHARD.search(self.text)
        if shard is None:
            raise ValueError(f"{self.name} does not say what it is sharded by")
        return (
            f"CREATE TABLE IF NOT EXISTS {table} {_on_cluster(config)} AS {table}_local "
            f"ENGINE = Distributed('{config.cluster}', '{config.name}', '{table}_local', "
            f"{shard[1]})"
        )


def schema_files() -> list[SchemaFile]:
    """Return the migrations in order."""
    paths = sorted(
        (path for path in files("pipelines.storage").joinpath("schema").iterdir()),
        key=lambda path: path.name,
    )
    return [
        SchemaFile(version=int(path.name[:3]), name=path.name[:-4], text=path.read_text())
        for path in paths
        if path.name.endswith(".sql")
    ]


def local_suffix(config: DatabaseConfig) -> str:
    return "_local" if config.cluster else ""


def _on_cluster(config: DatabaseConfig) -> str:
    return f"ON CLUSTER '{config.cluster}'" if config.cluster else ""


def _words(config: DatabaseConfig) -> dict[str, str]:
    replicated = config.engine == "Replicated"
    window = f"replicated_deduplication_window = {_INSERTS_KNOWN}"
    if replicated:
        week_seconds = 7 * 24 * 3600
        window += f", replicated_deduplication_window_seconds = {week_seconds}"
    return {
        "local": local_suffix(config),
        "on_cluster": _on_cluster(config),
        "replicated": "Replicated" if replicated else "",
        "deduplication": window if replicated else f"non_{window}",
        **{name: str(days) for name, days in retention_days(config).items()},
    }


def retention_days(config: DatabaseConfig) -> dict[str, int]:
    """Return how long is kept what the files name by these words."""
    return {
        "raw_days": config.raw_days,
        "ten_second_days": config.ten_second_days,
        "minute_days": config.minute_days,
        "hour_days": config.hour_days,
        "audit_days": config.audit_days,
    }


def _without_comments(statement: str) -> str:
    lines = (line for line in statement.splitlines() if not line.lstrip().startswith("--"))
    return "\n".join(lines).strip()
