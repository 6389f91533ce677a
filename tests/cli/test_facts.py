"""The commands that read, on the embedded engine with facts written by the recorder's own code."""

from dataclasses import dataclass
from datetime import date

import pytest
from click.testing import CliRunner

from pipelines import topics
from pipelines.agents.record_write import RangeWriter
from pipelines.cli.main import main
from pipelines.messages.alerts import encode_alert
from pipelines.messages.decisions import encode_event
from pipelines.storage.store import Claim, Store
from tests.record.conftest import FixedClock
from tests.record.messages import ALERT, decision_events


@dataclass(frozen=True)
class Message:
    offset: int
    value: bytes
    key: bytes = b"pod1"


@pytest.fixture
def run(client, database, scratch_database, tmp_path):
    facts = {
        topics.ALERTS: [encode_alert(ALERT)],
        topics.DECISIONS: [encode_event(event) for event in decision_events()],
    }
    writer = RangeWriter(Store(client), FixedClock())
    for topic, values in facts.items():
        claim = Claim(
            epoch="e",
            topic=topic,
            partition=0,
            first=0,
            until=len(values),
            stored=date(2026, 11, 30),
        )
        writer.write(claim, [Message(offset, value) for offset, value in enumerate(values)])
    (tmp_path / "topology.toml").write_text("")
    config = tmp_path / "trimtab.toml"
    config.write_text(
        "[broker]\nurl = 'kafka://127.0.0.1:9'\n"
        f"[database]\nurl = '{database.url}'\nname = '{scratch_database}'\n"
    )

    def _run(*arguments):
        return CliRunner().invoke(main, [*arguments, "--config", str(config)])

    return _run


def test_alerts_lists_what_is_degraded(run):
    told = run("alerts")

    assert told.exit_code == 0
    assert ALERT.component in told.output
    assert ALERT.alert_id in told.output


def test_decisions_lists_each_with_its_newest_state(run):
    told = run("decisions").output.splitlines()

    assert len(told) == 1
    assert "kept" in told[0]
    assert decision_events()[0].decision_id in told[0]


@pytest.mark.parametrize("identity", ["decision", "alert"])
def test_explain_tells_the_story_by_either_id(run, identity):
    event = decision_events()[0]
    told = run("explain", event.decision_id if identity == "decision" else event.alert_id)

    assert told.exit_code == 0
    for word in (event.component, "improved", "weight_share"):
        assert word in told.output


def test_explain_of_nothing_is_told_and_fails(run):
    told = run("explain", "nope")

    assert (told.exit_code, told.output) == (1, "no decision 'nope'; see `trimtab decisions`\n")


def test_sql_prints_rows_in_any_format(run):
    told = run("sql", "SELECT component, cause FROM degraded_now", "--format", "CSV")

    assert told.output == f'"{ALERT.component}","{ALERT.cause}"\n'


def test_sql_cannot_change_anything(run):
    told = run("sql", "DROP TABLE alerts")

    assert told.exit_code == 1
    assert "READONLY" in told.output.upper()
    assert ALERT.alert_id in run("alerts").output


def test_sql_that_is_wrong_is_told_in_the_databases_words(run):
    told = run("sql", "SELECT nothing FROM alerts")

    assert told.exit_code == 1
    assert "nothing" in told.output
    assert "Traceback" not in told.output


def test_approval_of_an_unknown_decision_is_told(run):
    told = run("approve", "nope")

    assert (told.exit_code, told.output) == (1, "no decision 'nope'; see `trimtab decisions`\n")


def test_broker_that_is_away_is_told_without_a_trace(run):
    told = run("approve", decision_events()[0].decision_id, "--who", "ada")

    assert told.exit_code == 1
    assert told.output.startswith("the broker did not take it")


def test_database_that_is_away_is_told_without_a_trace(tmp_path):
    (tmp_path / "topology.toml").write_text("")
    config = tmp_path / "trimtab.toml"
    config.write_text("[broker]\nurl = 'kafka://x:1'\n[database]\nurl = 'http://127.0.0.1:9'\n")

    told = CliRunner().invoke(main, ["alerts", "--config", str(config)])

    assert told.exit_code == 1
    assert told.output.startswith("database http://127.0.0.1:9 does not answer")


def test_wrong_configuration_exits_with_two(tmp_path):
    told = CliRunner().invoke(main, ["alerts", "--config", str(tmp_path / "none.toml")])

    assert (told.exit_code, told.output) == (
        2,
        f"{tmp_path}/none.toml: No such file or directory\n",
    )


def test_every_command_that_help_lists_can_be_loaded():
    for name in main.list_commands(None):
        assert main.get_command(None, name) is not None, name
