"""``trimtab alerts``, ``decisions``, ``explain`` and ``sql``: what the database knows."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from pipelines.cli.options import config_option, database_of, facts_of, load_running, told_errors


@click.command()
@click.option("--all", "every", is_flag=True, help="Resolved ones too.")
@click.option("--limit", default=100, show_default=True)
@config_option
@told_errors
def alerts(every: bool, limit: int, config_path: Path) -> None:
    """List what is degraded now."""
    with facts_of(load_running(config_path)) as facts:
        found = facts.alerts(limit=limit) if every else facts.open_alerts(limit=limit)
    for alert in found:
        click.echo(
            f"{_time(alert.onset_ns)}  {alert.state:<8}  {alert.severity:<8}  "
            f"{alert.component:<28}  {alert.cause:<18}  {alert.confidence:4.0%}  {alert.alert_id}"
        )
    if not found:
        click.echo("nothing is degraded" if not every else "no alert yet")


@click.command()
@click.option("--limit", default=100, show_default=True)
@config_option
@told_errors
def decisions(limit: int, config_path: Path) -> None:
    """List decisions, the newest first, each with its newest state."""
    with facts_of(load_running(config_path)) as facts:
        found = facts.decisions(limit=limit)
    for event in found:
        action = event.action.kind if event.action else "nothing"
        click.echo(
            f"{_time(event.at_ns)}  {event.event:<18}  {action:<13}  {event.component:<28}  "
            f"{event.decision_id}  {event.reason}"
        )
    if not found:
        click.echo("no decision yet")


@click.command()
@click.argument("decision_or_alert_id")
@config_option
@told_errors
def explain(decision_or_alert_id: str, config_path: Path) -> None:
    """Tell one decision as a story: why, what else, what was done, what came of it."""
    from pipelines.agents.explain import explain as story  # noqa: PLC0415

    with facts_of(load_running(config_path)) as facts:
        events = facts.events(decision_or_alert_id)
        if not events:
            of_alert = [
                e for e in facts.decisions(limit=10_000) if e.alert_id == decision_or_alert_id
            ]
            events = facts.events(of_alert[0].decision_id) if of_alert else []
        if not events:
            click.echo(f"no decision {decision_or_alert_id!r}; see `trimtab decisions`", err=True)
            sys.exit(1)
        revisions = facts.revisions(events[0].alert_id)
    click.echo(story(events, revisions[-1] if revisions else None))


@click.command()
@click.argument("query")
@click.option("--format", "output_format", default="PrettyCompact", show_default=True)
@config_option
@told_errors
def sql(query: str, output_format: str, config_path: Path) -> None:
    """Run read-only SQL; ``--format`` is any of ClickHouse's."""
    from clickhouse_connect.driver.exceptions import Error  # noqa: PLC0415

    with database_of(load_running(config_path)) as database:
        try:
            answer = database.raw_query(query, fmt=output_format, settings={"readonly": 1})
        except Error as error:
            click.echo(str(error), err=True)
            sys.exit(1)
    click.echo(answer.decode(errors="replace"), nl=False)


def _time(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")
