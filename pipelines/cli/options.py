"""What the commands share: the configuration, and how errors are told."""

import functools
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pipelines.config.load import Loaded, load
from pipelines.config.running import with_running_services
from pipelines.errors import ConfigError
from pipelines.facts import Facts

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

Command = TypeVar("Command", bound=Callable[..., Any])

config_option = click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    default=Path("trimtab.toml"),
    envvar="TRIMTAB_CONFIG",
    show_default=True,
    help="The deployment's configuration.",
)


def told_errors(command: Command) -> Command:
    """Tell a wrong configuration in its own words and exit with 2, without a trace."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except ConfigError as error:
            click.echo(str(error), err=True)
            sys.exit(2)

    return wrapped  # type: ignore[return-value]


def load_running(config_path: Path) -> Loaded:
    """Return the configuration, with the services of the running deployment in it."""
    return with_running_services(load(config_path))


@contextmanager
def database_of(loaded: Loaded) -> Iterator["Client"]:
    """Open the deployment's database; tell it in one line when it does not answer."""
    from clickhouse_connect.driver.exceptions import Error, OperationalError  # noqa: PLC0415

    from pipelines.storage.client import connect  # noqa: PLC0415

    # What it logs of a refused connection is told below in one line.
    logging.getLogger("clickhouse_connect").setLevel(logging.CRITICAL)
    url = loaded.config.database.url
    try:
        client = connect(loaded)
    except OperationalError:
        click.echo(f"database {url} does not answer: is it running?", err=True)
        sys.exit(1)
    except Error as error:
        click.echo(f"database {url} refuses: {error}", err=True)
        sys.exit(1)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def facts_of(loaded: Loaded) -> Iterator[Facts]:
    with database_of(loaded) as client:
        yield Facts(client)
