"""Clients of the ClickHouse database, embedded or a server alike."""

from urllib.parse import urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client

from pipelines.config.load import Loaded, read_secret

_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 60


def connect(loaded: Loaded) -> Client:
    """Return a client of the deployment's database, which need not exist yet.

    It has no session, so threads may share it: ClickHouse locks a session to one query at a time.

    Raises
    ------
    clickhouse_connect.driver.exceptions.Error
        Nothing answers at the URL, or it refuses the account.
    ConfigError
        The password file cannot be read.
    """
    config = loaded.config.database
    password = ""
    if config.password_file is not None:
        password = read_secret(loaded.resolve(config.password_file))
    return open_client(
        config.url, database=config.name, username=config.username, password=password
    )


def open_client(
    url: str, *, database: str, username: str = "default", password: str = ""
) -> Client:
    """Return a client of the database at ``http(s)://host:port``."""
    parts = urlsplit(url)
    client = clickhouse_connect.get_client(
        host=parts.hostname or "127.0.0.1",
        port=parts.port or (8443 if parts.scheme == "https" else 8123),
        secure=parts.scheme == "https",
        username=username,
        password=password,
        # Its first question must not fail where migrations have yet to create the database.
        database="__default__",
        autogenerate_session_id=False,
        tz_mode="aware",
        connect_timeout=_CONNECT_SECONDS,
        send_receive_timeout=_ANSWER_SECONDS,
    )
    client.database = database
    return client
