"""Writes to ClickHouse so that doing it twice equals doing it once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import lz4.frame
from clickhouse_connect.driver.client import Client

from cluster.frame import Layout, SeriesKey
from pipelines.metrics import ROWS_INSERTED
from pipelines.storage.tables import FactTable

# One block whatever its size, so one part: it is stored whole or not at all, and one token stands
# for it. The tables that its views feed know the token too.
_ONE_BLOCK = {
    "async_insert": 0,
    "insert_deduplicate": 1,
    "deduplicate_blocks_in_dependent_materialized_views": 1,
    "min_insert_block_size_rows": 1 << 24,
    "min_insert_block_size_bytes": 1 << 30,
    "max_insert_block_size": 1 << 24,
    "distributed_foreground_insert": 1,
}
# A list of ids travels in the text of the query, which ClickHouse limits to 256 KiB.
_IDS_TEXT_LENGTH = 100_000

_CLAIM = """
SELECT until, stored FROM record_claims
WHERE topic = {topic:String} AND partition = {partition:Int32} AND epoch = {epoch:String}
  AND first = {first:Int64}
ORDER BY claimed_at LIMIT 1
"""
_LAYOUT = """
SELECT component, metric, attributes FROM layouts WHERE layout_id = {id:UInt64} LIMIT 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Offsets [first, until) of a partition that are written as one block.

    Attributes
    ----------
    epoch
        One life of a topic: offsets start again in another.
    stored
        Day that the block's rows carry.
    """

    epoch: str
    topic: str
    partition: int
    first: int
    until: int
    stored: date

    @property
    def token(self) -> str:
        return f"{self.epoch}/{self.topic}/{self.partition}/{self.first}-{self.until}"


class Store:
    """The recorder's side of the database.

    Every method may be repeated after any error; errors are clickhouse-connect's.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._column_types: dict[str, Any] = {}

    def claim(
        self, *, epoch: str, topic: str, partition: int, first: int, until: int, now_ns: int
    ) -> Claim:
        """Return who-ever-came-first's claim from ``first`` on; ``until`` is what we would take.

        The claim is inserted under a token of its own, so of several that claim at once the
        first one's is stored, and all of them read it back.
        """
        key = {"epoch": epoch, "topic": topic, "partition": partition, "first": first}
        found = self._client.query(_CLAIM, parameters=key).result_rows
        if not found:
            at_ms = now_ns // 1_000_000
            stored = datetime.fromtimestamp(at_ms / 1000, UTC).date()
            self._insert(
                "record_claims",
                (*key, "until", "stored", "claimed_at"),
                [(*key.values(), until, stored, at_ms)],
                token=f"claim/{epoch}/{topic}/{partition}/{first}",
            )
            found = self._client.query(_CLAIM, parameters=key).result_rows
        chosen_until, chosen_stored = found[0]
        return Claim(
            epoch=epoch,
            topic=topic,
            partition=partition,
            first=first,
            until=chosen_until,
            stored=chosen_stored,
        )

    def insert_block(self, table: str, block: bytes, *, rows: int, token: str) -> None:
        """Store a block in Native form, once per token."""
        self._client.raw_insert(
            table,
            insert_block=lz4.frame.compress(block),
            fmt="Native",
            compression="lz4",
            settings=_ONE_BLOCK | {"insert_deduplication_token": f"{token}/{table}"},
        )
        ROWS_INSERTED.labels(table).inc(rows)

    def insert_rows(
        self, table: str, columns: tuple[str, ...], rows: list[tuple[object, ...]], *, token: str
    ) -> None:
        """Store rows as one block, once per token; times are nanoseconds since the Unix epoch."""
        if rows:
            self._insert(table, columns, rows, token=f"{token}/{table}")
            ROWS_INSERTED.labels(table).inc(len(rows))

    def insert_facts(self, table: FactTable, rows: list[tuple[object, ...]], *, token: str) -> None:
        """Store the facts that are not in yet; one that was sent again is in another block."""
        new: dict[tuple[object, ...], tuple[object, ...]] = {}
        known = self._known(table, [table.key_of(row) for row in rows])
        for row in rows:
            key = table.key_of(row)
            if key not in known:
                new.setdefault(key, row)
        self.insert_rows(table.name, table.columns, list(new.values()), token=token)

    def layout(self, layout_id: int) -> Layout | None:
        """Return a layout that some recorder met before."""
        found = self._client.query(_LAYOUT, parameters={"id": layout_id}).result_rows
        if not found:
            return None
        columns = zip(*found[0], strict=True)
        return Layout(tuple(SeriesKey(*map(str, column)) for column in columns))

    def insert_layouts(self, layouts: Iterable[Layout], *, token: str) -> None:
        rows: list[tuple[object, ...]] = [
            (
                layout.layout_id,
                [c.component for c in layout.columns],
                [c.metric for c in layout.columns],
                [c.attributes for c in layout.columns],
            )
            for layout in layouts
        ]
        columns = ("layout_id", "component", "metric", "attributes")
        self.insert_rows("layouts", columns, rows, token=token)

    def _known(self, table: FactTable, keys: list[tuple[object, ...]]) -> set[tuple[object, ...]]:
        key_sql = ", ".join(
            "toUnixTimestamp64Nano(at)" if name == "at" else name for name in table.key
        )
        known: set[tuple[object, ...]] = set()
        for ids in _groups(dict.fromkeys(str(key[0]) for key in keys)):
            query = f"SELECT {key_sql} FROM {table.name} WHERE {table.key[0]} IN %(ids)s"  # noqa: S608
            rows = self._client.query(query, parameters={"ids": ids}).result_rows
            known.update(tuple(row) for row in rows)
        return known

    def _insert(
        self, table: str, columns: tuple[str, ...], rows: list[tuple[object, ...]], *, token: str
    ) -> None:
        if table not in self._column_types:
            context = self._client.create_insert_context(table, column_names=columns)
            self._column_types[table] = context.column_types
        self._client.insert(
            table,
            [list(column) for column in zip(*rows, strict=True)],
            column_names=columns,
            column_types=self._column_types[table],
            column_oriented=True,
            settings=_ONE_BLOCK | {"insert_deduplication_token": token},
        )


def _groups(ids: Iterable[str]) -> Iterator[list[str]]:
    group: list[str] = []
    length = 0
    for text in ids:
        if group and length + len(text) > _IDS_TEXT_LENGTH:
            yield group
            group, length = [], 0
        group.append(text)
        length += len(text) + 4
    if group:
        yield group
