"""What the commands share: the configuration, and how errors are told."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pipelines.config.load import Loaded, load
from pipelines.config.running import with_running_services
from pipelines.errors import ConfigError

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
