"""Children end when they are told to, and when their parent ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pipelines.children import spawn, terminate

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('ready', flush=True); time.sleep(60)"
)


def _is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def _wait_for(text: str, path: Path) -> str:
    deadline = time.monotonic() + 10
    while not (path.exists() and text in path.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return path.read_text()


def test_outputs_and_environment_of_a_child(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "child.log"
    code = "import os, sys; print(os.environ['WORD']); print('err', file=sys.stderr)"
    process = spawn(
        [sys.executable, "-u", "-c", code], env=dict(os.environ) | {"WORD": "hello"}, log_path=log
    )
    assert process.wait(10) == 0
    assert log.read_text() == "hello\nerr\n"
    assert terminate(process, 1.0) == 0


def test_child_that_ends_itself_and_one_that_must_be_killed(tmp_path: Path) -> None:
    meek = spawn(["sleep", "60"])
    assert terminate(meek, 5.0) == -signal.SIGTERM
    stubborn = spawn([sys.executable, "-c", STUBBORN], log_path=tmp_path / "log")
    _wait_for("ready", tmp_path / "log")
    assert terminate(stubborn, 0.2) == -signal.SIGKILL
    assert terminate(stubborn, 0.2) == -signal.SIGKILL


def test_grandchildren_in_the_group_end_too(tmp_path: Path) -> None:
    shell = spawn(["sh", "-c", "sleep 60 & echo $!; wait"], log_path=tmp_path / "log")
    grandchild = int(_wait_for("\n", tmp_path / "log"))
    terminate(shell, 5.0)
    deadline = time.monotonic() + 5
    while _is_running(grandchild):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_child_dies_with_its_parent(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from pipelines.children import spawn; "
        "print(spawn(['sleep', '60']).pid, flush=True); time.sleep(60)"
    )
    with (tmp_path / "log").open("wb") as log:
        parent = subprocess.Popen([sys.executable, "-c", code], stdout=log)
    child = int(_wait_for("\n", tmp_path / "log"))
    assert _is_running(child)
    parent.kill()
    parent.wait(10)
    deadline = time.monotonic() + 5
    while _is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)
