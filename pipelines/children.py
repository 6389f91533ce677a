"""Child processes that never outlive their parent."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_KILL_WAIT_SECONDS = 10.0

# PR_SET_PDEATHSIG is 1 and survives exec. The parent may have died before it was set.
_ARM_AND_EXEC = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def spawn(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, log_path: Path | None = None
) -> subprocess.Popen[bytes]:
    """Child in its own process group; both its outputs are appended to `log_path`.

    Its own group keeps a terminal's Ctrl-C from reaching it before the parent has decided the
    order of the shutdown. On Linux the kernel kills it with SIGKILL when the *thread* that called
    this ends, so call it from a thread that lives as long as the child should.

    Parameters
    ----------
    env
        The whole environment of the child; None passes on ours.
    log_path
        None lets the child share our outputs.
    """
    if log_path is None:
        return _popen(argv, env=env, output=None)
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with log_path.open("ab") as log:
        return _popen(argv, env=env, output=log.fileno())


def terminate(process: subprocess.Popen[bytes], timeout_seconds: float) -> int:
    """Exit status after SIGTERM to the child's whole group, and SIGKILL once the time is up.

    Safe to call twice and on a child that has already ended. A negative status is the signal's
    number, as in `subprocess`.
    """
    if process.poll() is None:
        _signal_group(process, signal.SIGTERM)
        try:
            process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            _signal_group(process, signal.SIGKILL)
    return process.wait(_KILL_WAIT_SECONDS)


def _popen(
    argv: Sequence[str], *, env: Mapping[str, str] | None, output: int | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - argv is ours, no shell
        [*_launcher(), *argv],
        env=None if env is None else dict(env),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        process_group=0,
    )


def _launcher() -> list[str]:
    # Not a `preexec_fn`: Python code between fork and exec can deadlock in a process with threads.
    if not sys.platform.startswith("linux"):
        return []
    return [sys.executable, "-I", "-S", "-c", _ARM_AND_EXEC, str(os.getpid())]


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return
