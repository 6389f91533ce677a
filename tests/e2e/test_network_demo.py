"""The demo of flows that are placed together and follow a link's health, on real processes."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


def test_announced_flows_are_placed_moved_off_a_degraded_link_and_brought_back(tmp_path):
    argv = [sys.executable, "-m", "pipelines.cli.main", "demo", "--scenario", "network"]
    done = subprocess.run(
        [*argv, "--folder", str(tmp_path / "demo")],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    sys.stdout.write(done.stdout)
    assert done.returncode == 0
    told = done.stdout
    assert "flows placed together load the busiest link to 100%, 100.0% of what is possible" in told
    assert "flows of announced jobs" in told
    assert "rolled_back: link/leaf2:Ethernet51 has been well for" in told
    assert "other alerts: 0" in told
