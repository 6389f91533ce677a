"""Starts the embedded database as a child process."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pipelines.children import spawn, terminate
from pipelines.embedded.places import free_port, log_tail

_PROBE_INTERVAL_SECONDS = 0.1


class DatabaseStartError(Exception):
    """The database could not be started; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedDatabase:
    """A database that answers ClickHouse's HTTP protocol until `stop` is called."""

    host: str
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def stop(self, timeout_seconds: float = 15.0) -> int:
        return terminate(self.process, timeout_seconds)


def start_database(
    data_path: Path,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    password: str = "",
    log_path: Path | None = None,
    timeout_seconds: float = 60.0,
    extra_arguments: tuple[str, ...] = (),
) -> EmbeddedDatabase:
    """Database that has answered a ping.

    Parameters
    ----------
    port
        0 picks a free one.
    password
        Of the user `default`; handed on in the environment, where no process list shows it.
    timeout_seconds
        The engine is half a gigabyte: on a cold disk its first start takes a while.

    Raises
    ------
    DatabaseStartError
        The package is not installed, the port is taken, another process uses the data, or no
        answer came in time.
    """
    if find_spec("chdb") is None:
        raise DatabaseStartError(
            "the embedded database needs the package 'chdb': "
            "pip install 'trimtab[embedded]', or set database.url to a ClickHouse server"
        )
    try:
        port = free_port(host, port)
    except OSError as error:
        raise DatabaseStartError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    log_path = log_path or Path(tempfile.mkdtemp(prefix="trimtab-database-")) / "database.log"
    argv = [sys.executable, "-m", "pipelines.embedded.clickhouse", "--data", str(data_path)]
    argv += ["--host", host, "--port", str(port), *extra_arguments]
    env = dict(os.environ) | {"TRIMTAB_DATABASE_PASSWORD": password}
    database = EmbeddedDatabase(
        host=host, port=port, process=spawn(argv, env=env, log_path=log_path)
    )
    try:
        _wait_until_it_answers(database, timeout_seconds=timeout_seconds, log_path=log_path)
    except BaseException:
        database.stop()
        raise
    return database


def _wait_until_it_answers(
    database: EmbeddedDatabase, *, timeout_seconds: float, log_path: Path
) -> None:
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        status = database.process.poll()
        if status is not None:
            raise DatabaseStartError(f"database ended with status {status}: {log_tail(log_path)}")
        if _answers(database.url):
            return
        time.sleep(_PROBE_INTERVAL_SECONDS)
    raise DatabaseStartError(f"no answer within {timeout_seconds:g} s: {log_tail(log_path)}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/ping", timeout=2.0) as response:  # noqa: S310 - http
            return bool(response.read() == b"Ok.\n")
    except (urllib.error.URLError, OSError):
        return False
