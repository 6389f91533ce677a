"""The database as a process: start, limits, credentials, and every way it can end."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pipelines.embedded.database import DatabaseStartError, EmbeddedDatabase, start_database
from tests.embedded.http import Http


def _http(database: EmbeddedDatabase) -> Http:
    return Http(host=database.host, port=database.port)


def test_acknowledged_inserts_survive_kill_9(tmp_path: Path) -> None:
    database = start_database(tmp_path / "data", log_path=tmp_path / "log")
    _http(database).run("CREATE TABLE t (a Int64) ENGINE = MergeTree ORDER BY a")
    acknowledged: list[int] = []

    def insert_until_it_dies() -> None:
        for number in range(100_000):
            try:
                reply = _http(database).post(f"INSERT INTO t VALUES ({number})")
            except OSError:
                return
            if reply.status == 200:
                acknowledged.append(number)
            if number == 30:
                under_way.set()

    under_way = threading.Event()
    writer = threading.Thread(target=insert_until_it_dies)
    writer.start()
    assert under_way.wait(30)
    os.kill(database.process.pid, signal.SIGKILL)
    database.process.wait(10)
    writer.join(30)

    again = start_database(tmp_path / "data", log_path=tmp_path / "log")
    try:
        stored = {int(line) for line in _http(again).run("SELECT a FROM t").split()}
        assert len(acknowledged) > 30
        # The one in flight when it died may be there too.
        assert stored - {max(acknowledged) + 1} == set(acknowledged)
        assert _http(again).run("SELECT count() = uniqExact(a) FROM t") == "1\n"
    finally:
        assert again.stop() == 0


def test_sigterm_lets_running_queries_end(tmp_path: Path) -> None:
    database = start_database(tmp_path / "data", log_path=tmp_path / "log")
    http, bodies = _http(database), []

    def query() -> None:
        bodies.append(http.post("SELECT sleepEachRow(0.5) FROM numbers(4)").body)

    running = threading.Thread(target=query)
    running.start()
    sql = "SELECT count() FROM system.processes WHERE query LIKE 'SELECT sleepEachRow%'"
    deadline = time.monotonic() + 10
    while http.run(sql) == "0\n":
        assert time.monotonic() < deadline
    assert database.stop() == 0
    running.join(10)
    assert bodies == [b"0\n0\n0\n0\n"]


def test_second_process_on_the_same_data_is_told_so(
    database: EmbeddedDatabase, tmp_path: Path
) -> None:
    data_path = Path(_http(database).run("SELECT path FROM system.disks").strip())
    argv = [sys.executable, "-m", "pipelines.embedded.clickhouse", "--port", "0"]
    second = subprocess.run(
        [*argv, "--data", str(data_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert second.returncode == 2
    assert "is in use by another process" in second.stderr
    assert "Traceback" not in second.stderr


def test_taken_port_is_told_before_the_engine_starts(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(DatabaseStartError, match=f"cannot listen on 127.0.0.1:{port}"):
            start_database(tmp_path / "data", port=port)
    assert not (tmp_path / "data").exists()


def test_credentials_and_limits(tmp_path: Path) -> None:
    database = start_database(
        tmp_path / "data",
        log_path=tmp_path / "log",
        password="s3cret",
        extra_arguments=("--body-limit-bytes", "100000", "--concurrent-queries", "1"),
    )
    http = _http(database)
    key = {"X-ClickHouse-User": "default", "X-ClickHouse-Key": "s3cret"}
    basic = {"Authorization": "Basic ZGVmYXVsdDpzM2NyZXQ="}
    try:
        admitted = [
            http.post("SELECT 1", headers=key).status,
            http.post("SELECT 1", headers=basic).status,
            http.post("SELECT 1", user="default", password="s3cret").status,
            http.request("GET", path="/ping").status,
        ]
        assert admitted == [200] * 4
        refused = [
            http.post("SELECT 1"),
            http.post("SELECT 1", headers=key | {"X-ClickHouse-Key": "wrong"}),
            http.post("SELECT 1", headers={"Authorization": "Basic %%%"}),
            http.post("SELECT 1", user="somebody", password="s3cret"),
        ]
        assert [(r.status, r.headers["X-ClickHouse-Exception-Code"]) for r in refused] == [
            (403, "516")
        ] * 4

        large = http.post("SELECT '" + "x" * 100_001 + "'", headers=key)
        assert (large.status, large.headers["X-ClickHouse-Exception-Code"]) == (413, "229")

        def occupy() -> None:
            while http.post("SELECT sleep(1)", headers=key).status != 200:
                pass  # one of ours below was there first

        occupied = threading.Thread(target=occupy)
        occupied.start()
        codes = set()
        while occupied.is_alive():
            headers = http.post("SELECT 1", headers=key).headers
            codes.add(headers.get("X-ClickHouse-Exception-Code"))
        assert "202" in codes
        assert b"s3cret" not in (tmp_path / "log").read_bytes()
    finally:
        assert database.stop() == 0
