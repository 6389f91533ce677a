"""``trimtab approve``, ``reject`` and ``revert``."""

import getpass
import sys
from pathlib import Path

import click
from kafka.errors import KafkaError

from pipelines.approvals import ask
from pipelines.cli.options import config_option, facts_of, load_running, told_errors
from pipelines.clock import SystemClock


def _verb(verb: str, help_text: str) -> click.Command:
    @click.command(verb, help=help_text)
    @click.argument("decision_id")
    @click.option("--who", default=getpass.getuser, show_default="you", help="Who asks.")
    @click.option("--why", default="", help="Kept with the decision.")
    @config_option
    @told_errors
    def command(decision_id: str, who: str, why: str, config_path: Path) -> None:
        loaded = load_running(config_path)
        with facts_of(loaded) as facts:
            events = facts.events(decision_id)
        if not events:
            click.echo(f"no decision {decision_id!r}; see `trimtab decisions`", err=True)
            sys.exit(1)
        try:
            ask(
                loaded.config.broker.bootstrap,
                decision_id=decision_id,
                cell=events[0].cell,
                verb=verb,
                who=who,
                why=why,
                clock=SystemClock(),
            )
        except KafkaError as error:
            click.echo(f"the broker did not take it: {error}", err=True)
            sys.exit(1)
        click.echo(f"asked to {verb} {decision_id}; `trimtab explain {decision_id}` tells the rest")

    return command


approve = _verb("approve", "Let a proposed action run.")
reject = _verb("reject", "Turn a proposed action down.")
revert = _verb("revert", "Take an action back.")
