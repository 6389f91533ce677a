"""What was exported is what the database holds."""

import csv

import pytest

from tests.cli.test_facts import run

__all__ = ["run"]


def test_csv_has_the_rows_and_their_names(run, tmp_path):
    file = tmp_path / "decisions.csv"
    told = run("export", "SELECT decision_id, event FROM decision_states", str(file))

    assert told.exit_code == 0
    assert list(csv.reader(file.read_text().splitlines())) == [
        ["decision_id", "event"],
        ["decision-1", "kept"],
    ]


def test_parquet_is_read_back_by_the_engine(run, client, tmp_path):
    file = tmp_path / "decisions.parquet"
    told = run("export", "SELECT sequence, event FROM decisions ORDER BY sequence", str(file))

    assert told.exit_code == 0
    data = file.read_bytes()
    assert (data[:4], data[-4:]) == (b"PAR1", b"PAR1")


@pytest.mark.parametrize(
    ("query", "name", "code"),
    [("SELECT 1", "a.xls", 2), ("SELECT no", "a.csv", 1), ("DROP TABLE alerts", "a.csv", 1)],
)
def test_what_cannot_be_exported_leaves_no_file(run, tmp_path, query, name, code):
    told = run("export", query, str(tmp_path / name))

    assert told.exit_code == code
    assert not list(tmp_path.glob("a.*"))
