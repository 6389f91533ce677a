"""The demo with ``kill -9`` of each process: the same table, no row twice, nothing left."""

import sys
from contextlib import closing

import pytest

from detectors.records import Cause
from pipelines.config.load import load
from pipelines.config.running import with_running_services
from pipelines.storage.client import connect
from tests.e2e.processes import NAMES, left_behind
from tests.e2e.rehearsal import Kill, Rehearsal
from tests.e2e.verdict import (
    alerts,
    broken_chains,
    doubled,
    ledger_difference,
    rows_by_table,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]

_FAULTS = ("link/leaf2:Ethernet51", "gpu/h3:", "pool/chat:decode")
_ARGUMENTS = ("--settle-seconds", "75", "--fault-seconds", "180")
_LONGEST_SECONDS = 900.0

# Each in another phase: while baselines are learned, between fault and alert, between alert and
# action, while the change is written, while its effect is measured.
WORKERS = (
    Kill(name="serve", after="settling", seconds=10.0),
    Kill(name="record", after="settling", seconds=5.0),
    Kill(name="collect", after="fault: uplink", seconds=1.0),
    Kill(name="act", after="alert after", seconds=1.0),
    Kill(name="database", after="verified:", seconds=3.0),
    Kill(name="detect", after="fault: GPU", seconds=2.0),
    Kill(name="simulator", after="verified:", nth=2, seconds=4.0),
    Kill(name="act", after="invoked:", nth=3, seconds=1.0),
)
SERVICES = (
    Kill(name="broker", after="settling", seconds=20.0),
    Kill(name="broker", after="alert after", seconds=1.0),
    Kill(name="up", after="verified:", nth=2, seconds=5.0),
    Kill(name="broker", after="fault: answers", seconds=3.0),
)


def test_every_process_is_killed():
    assert {kill.name for kill in (*WORKERS, *SERVICES)} == set(NAMES)


@pytest.mark.parametrize("kills", [WORKERS, SERVICES], ids=["workers", "services"])
def test_demo_ends_with_the_right_table_and_no_doubled_row(kills, tmp_path):
    folder = tmp_path / "demo"
    with Rehearsal(folder, _ARGUMENTS) as demo:
        demo.play(kills, timeout_seconds=_LONGEST_SECONDS)
        loaded = with_running_services(load(folder / "trimtab.toml"))
        with closing(connect(loaded)) as database:
            told = [*demo.kills, str(rows_by_table(database))]
            sys.stdout.write("\n".join(told) + "\n")
            assert doubled(database) == {}
            assert ledger_difference(database) == 0
            assert broken_chains(database) == {}
            _no_device_is_accused_wrongly(alerts(database))
        status = demo.interrupt()

    assert status == 0
    assert len([line for line in demo.lines if line.endswith("| improved |")]) == len(_FAULTS)
    assert left_behind(folder, demo.pids) == {}


def _no_device_is_accused_wrongly(told):
    others = [alert for alert in told if not alert.component.startswith(_FAULTS)]
    assert [a for a in others if a.cause is not Cause.TELEMETRY_FAULT] == []
