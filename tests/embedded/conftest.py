from collections.abc import Iterator

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client

from pipelines.embedded.database import EmbeddedDatabase
from tests.embedded.http import Http
from tests.services import broker_bootstrap, clickhouse_url, database, scratch_database

__all__ = ["broker_bootstrap", "clickhouse_url", "database", "scratch_database"]


@pytest.fixture
def http(database: EmbeddedDatabase, scratch_database: str) -> Http:
    return Http(host=database.host, port=database.port, database=scratch_database)


@pytest.fixture
def client(database: EmbeddedDatabase, scratch_database: str) -> Iterator[Client]:
    made = clickhouse_connect.get_client(
        host=database.host, port=database.port, database=scratch_database
    )
    yield made
    made.close()
