"""Our collector against gnmic: same targets, same broker, one core each in turn.

gnmic is not part of the project: it is taken from ``TRIMTAB_GNMIC`` or from ``PATH``.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.row import Row
from benchmarks.speed.collectors import Started, start_gnmic, start_trimtab
from pipelines.clock import SystemClock
from pipelines.embedded.broker import start_broker
from pipelines.embedded.places import log_tail

TARGETS, PORTS = 4, 64
_ROUNDS: Final = 10**6
_WARM_UP_SECONDS: Final = 4.0
_WINDOW_SECONDS: Final = 6.0
_CORES: Final = sorted(os.sched_getaffinity(0))
# The collector has one to itself; targets, broker and this process have the other.
_COLLECTOR_CORE, _OTHER_CORE = _CORES[0], _CORES[-1]
_SUSTAINED: Final = 500_000.0
_CLOCK: Final = SystemClock()
_NO_GNMIC: Final = "gnmic not found: put it on PATH or name it by TRIMTAB_GNMIC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one collector did in the window.

    Attributes
    ----------
    delivered
        Updates that were readable in Kafka, a second.
    memory_bytes
        Most resident memory.
    busy
        Share of its core that it had.
    """

    delivered: float
    memory_bytes: int
    busy: float

    @property
    def updates(self) -> float:
        """Updates a second of its core: neither broker nor neighbours slow it."""
        return self.delivered / self.busy


def rows() -> list[Row]:
    """Rows for messages of a whole container of counters, and for small ones."""
    whole, small = _compared(20, ""), _compared(6, "-small")
    collected = whole[0].value
    return [
        *whole,
        *small,
        Row(
            id="I4-collect",
            what="the first of these figures by itself: no frame is missing of those it counts",
            value=collected,
            target=_SUSTAINED,
            holds=collected >= _SUSTAINED,
            unit="samples/s",
        ),
    ]


def _compared(leaves: int, name: str) -> list[Row]:
    binary = os.environ.get("TRIMTAB_GNMIC") or shutil.which("gnmic")
    with (
        tempfile.TemporaryDirectory() as folder,
        _pinned(_OTHER_CORE),
        _targets(leaves) as addresses,
    ):
        home = Path(folder)
        ours = _measured(
            home, "trimtab", lambda bootstrap: start_trimtab(home, bootstrap, addresses)
        )
        if binary is None or not Path(binary).exists():
            return _without(ours, leaves, name)
        theirs = {
            form: _measured(
                home,
                form,
                lambda bootstrap, form=form: start_gnmic(home, binary, bootstrap, addresses, form),
            )
            for form in ("event", "proto")
        }
    return _rows(ours, theirs, leaves, name)


def _rows(ours: Measured, theirs: dict[str, Measured], leaves: int, name: str) -> list[Row]:
    event, proto = theirs["event"], theirs["proto"]
    return [
        Row(
            id=f"I3-updates{name}",
            what="updates delivered to Kafka by a second of one core, "
            f"{_case(leaves)}; baseline: gnmic's events",
            value=ours.updates,
            baseline=event.updates,
            target=2 * event.updates,
            holds=ours.updates >= 2 * event.updates,
            unit="updates/s",
            others={
                "delivered a second": ours.delivered,
                "share of the core": ours.busy,
                "gnmic's delivered a second": event.delivered,
                "gnmic's share of the core": event.busy,
                "gnmic handing messages on undecoded": proto.updates,
            },
        ),
        Row(
            id=f"I3-memory{name}",
            what="most resident memory meanwhile; baseline: gnmic's",
            value=float(ours.memory_bytes),
            baseline=float(event.memory_bytes),
            target=float(event.memory_bytes),
            holds=ours.memory_bytes <= event.memory_bytes,
            unit="bytes",
            others={"gnmic handing messages on undecoded": float(proto.memory_bytes)},
        ),
    ]


def _case(leaves: int) -> str:
    return f"{TARGETS} targets of {PORTS} ports, messages of {leaves} updates"


def _without(ours: Measured, leaves: int, name: str) -> list[Row]:
    return [
        Row(
            id=f"I3-updates{name}",
            what="updates delivered to Kafka by a second of one core, "
            f"{_case(leaves)}; {_NO_GNMIC}",
            value=ours.updates,
            unit="updates/s",
        ),
        Row(
            id=f"I3-memory{name}",
            what=f"most resident memory meanwhile; {_NO_GNMIC}",
            value=float(ours.memory_bytes),
            unit="bytes",
        ),
    ]


@contextlib.contextmanager
def _targets(leaves: int) -> Iterator[list[str]]:
    argv = [sys.executable, "-m", "benchmarks.speed.replay_target"]
    argv += [str(TARGETS), str(PORTS), str(leaves), str(_ROUNDS)]
    serving = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        ports = serving.stdout.readline().split() if serving.stdout else []
        if len(ports) != TARGETS:
            raise RuntimeError("the replaying targets did not start")
        yield [f"127.0.0.1:{port}" for port in ports]
    finally:
        serving.kill()
        serving.wait()


def _measured(home: Path, name: str, start: Callable[[str], Started]) -> Measured:
    broker = start_broker(log_path=home / f"{name}.broker.log")
    try:
        with _pinned(_COLLECTOR_CORE):
            started = start(broker.bootstrap)
        try:
            time.sleep(_WARM_UP_SECONDS)
            before = _cpu_seconds(started.process.pid)
            from_ms = _CLOCK.now_ns() / 1e6
            time.sleep(_WINDOW_SECONDS)
            until_ms = _CLOCK.now_ns() / 1e6
            if started.process.poll() is not None:
                raise RuntimeError(f"{name} ended: {log_tail(home / f'{name}.log')}")
            busy = (_cpu_seconds(started.process.pid) - before) / _WINDOW_SECONDS
            memory = _most_memory(started.process.pid)
        finally:
            # Not by its own way out: what it still holds back was not delivered in time.
            started.process.send_signal(signal.SIGKILL)
            started.process.wait()
        seconds = (until_ms - from_ms) / 1000
        delivered = started.count(broker.bootstrap, from_ms, until_ms) / seconds
        return Measured(delivered=delivered, memory_bytes=memory, busy=busy)
    finally:
        broker.stop()


@contextlib.contextmanager
def _pinned(core: int) -> Iterator[None]:
    """Keep to one core, and have whatever is started meanwhile keep to it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _most_memory(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"process {pid} tells no memory")
