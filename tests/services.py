"""Real embedded services for any suite: import the fixtures into its conftest.

::

    from tests.services import broker_bootstrap, clickhouse_url, database, scratch_database
"""

from collections.abc import Iterator

import clickhouse_connect
import pytest

from pipelines.embedded.broker import start_broker
from pipelines.embedded.database import EmbeddedDatabase, start_database


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedDatabase]:
    home = tmp_path_factory.mktemp("clickhouse")
    running = start_database(home / "data", log_path=home / "database.log")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def clickhouse_url(database: EmbeddedDatabase) -> str:
    return database.url


@pytest.fixture(scope="session")
def broker_bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    broker = start_broker(log_path=tmp_path_factory.mktemp("tansu") / "broker.log")
    yield broker.bootstrap
    broker.stop()


@pytest.fixture
def scratch_database(database: EmbeddedDatabase, request: pytest.FixtureRequest) -> Iterator[str]:
    """Name of an empty database that only this test uses."""
    name = f"scratch_{abs(hash(request.node.nodeid)):x}"
    client = clickhouse_connect.get_client(host=database.host, port=database.port)
    client.command(f"CREATE DATABASE {name}")
    yield name
    client.command(f"DROP DATABASE {name} SYNC")
    client.close()
