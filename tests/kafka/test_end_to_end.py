"""The demo's whole story on Apache Kafka, with the result it has on the embedded broker."""

import subprocess
import sys

import pytest

from tests.paths import ROOT

_LONGEST_SECONDS = 420


@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_three_degradations_are_found_acted_on_and_improved(apache_kafka, tmp_path):
    command = [
        sys.executable,
        "-m",
        "pipelines.cli.main",
        "demo",
        "--folder",
        str(tmp_path / "demo"),
    ]
    command += ["--broker-url", f"kafka://{apache_kafka.bootstrap}"]

    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=_LONGEST_SECONDS, check=False
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = [line for line in ended.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 5
    assert all(row.rstrip(" |").endswith("improved") for row in rows[2:])
