"""``trimtab check-config`` and ``trimtab migrate``."""

import sys
from pathlib import Path

import click

from pipelines.cli.options import config_option, database_of, load_running, told_errors
from pipelines.config.load import load
from pipelines.config.reference import reference
from pipelines.config.root import TrimtabConfig
from pipelines.config.secrets import check_files


@click.command("check-config")
@click.option("--reference", "print_reference", is_flag=True, help="Print every key instead.")
@config_option
@told_errors
def check_config(print_reference: bool, config_path: Path) -> None:
    """Tell whether the configuration and its topology can be used."""
    if print_reference:
        click.echo(reference(TrimtabConfig), nl=False)
        return
    loaded = load(config_path)
    check_files(loaded)
    collect, topology = loaded.config.collect, loaded.topology
    click.echo(
        f"{config_path}: good. {len(collect.gnmi)} gNMI targets, {len(collect.scrape)} endpoints, "
        f"{len(topology.links)} links, {len(topology.gpus)} GPUs, "
        f"{len(topology.services)} services, {len(loaded.config.webhooks)} webhooks"
    )


@click.command()
@config_option
@told_errors
def migrate(config_path: Path) -> None:
    """Create the broker's topics and bring the database's schema up to this version."""
    from kafka.errors import KafkaError  # noqa: PLC0415

    from pipelines.storage.migrate import migrate as run_migrations  # noqa: PLC0415
    from pipelines.topics_admin import create_topics, topic_specs  # noqa: PLC0415

    loaded = load_running(config_path)
    broker = loaded.config.broker
    try:
        created = create_topics(broker.bootstrap, topic_specs(broker))
    except KafkaError as error:
        click.echo(f"broker {broker.url} does not answer: {error}", err=True)
        sys.exit(1)
    click.echo(f"{len(created)} topics created: {', '.join(created) or 'all were there'}")
    with database_of(loaded) as database:
        applied = run_migrations(database, loaded.config.database)
    click.echo(f"{len(applied)} migrations applied: {', '.join(applied) or 'none was due'}")
