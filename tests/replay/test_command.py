"""``trimtab replay`` as a user runs it: on embedded services of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

INPUTS = Path(__file__).parent / "inputs"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay") / "own"
    command = [sys.executable, "-m", "pipelines.cli.main", "replay", "--folder", str(folder)]
    return subprocess.run(
        [*command, str(INPUTS)], cwd=ROOT, capture_output=True, text=True, timeout=150, check=False
    )


def test_every_sample_is_a_row_or_refused_with_a_letter(told):
    assert told.returncode == 0, told.stdout + told.stderr
    (total,) = [line for line in told.stdout.splitlines() if line.startswith("samples in")]
    assert total.startswith("samples in = rows out: yes.")


def test_each_file_has_a_line_with_as_many_rows_as_it_had_good_samples(told):
    lines = [
        line.split()
        for line in told.stdout.splitlines()
        if line.startswith(("inputs/", "shutdown/"))
    ]
    names = {line[0].rpartition("/")[2] for line in lines}

    assert names == {path.name for path in INPUTS.rglob("*") if path.is_file()}


def test_file_that_is_not_there_is_told_in_one_line(tmp_path):
    command = [sys.executable, "-m", "pipelines.cli.main", "replay", str(tmp_path / "none.csv")]

    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    assert ended.returncode == 2
    assert "none.csv" in ended.stderr
    assert "Traceback" not in ended.stderr
