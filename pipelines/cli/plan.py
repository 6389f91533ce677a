"""``trimtab plan``."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pipelines.cli.options import config_option, database_of, load_running, told_errors
from pipelines.errors import ConfigError

if TYPE_CHECKING:
    from pipelines.plan.planning import Plan
    from pipelines.plan.sources import Source

_File = click.Path(path_type=Path, dir_okay=False)


def _sources(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is planned."""
    for option in (
        click.option("--topology", type=_File, help="The cluster, a topology file."),
        click.option("--example", metavar="NAME", help="A synthetic cluster with jobs."),
        click.option(
            "--from-deployment",
            is_flag=True,
            help="The jobs announced now, else the traffic measured; topology as configured.",
        ),
        click.option("--add-job", type=_File, multiple=True, help="What if these jobs came too?"),
        config_option,
    ):
        command = option(command)
    return command


@click.command()
@click.argument("jobs", nargs=-1, type=_File)
@_sources
@click.option("--without", multiple=True, metavar="LINK|SWITCH", help="What if it were dead?")
@click.option(
    "--link", "links", multiple=True, metavar="LINK=RATIO", help="What if it had so much left?"
)
@click.option(
    "--subflows",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Connections that a flow is spread over, each with a path of its own.",
)
@click.option("--seed", default=0, show_default=True, help="Of the hash that ECMP draws.")
@click.option("--check", is_flag=True, help="Only look at the wiring; exit 1 on a fault.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="JSON has loads as ratios, rates in bits per second.",
)
@click.option(
    "--picture", type=_File, metavar="FILE.svg", help="Link loads before and after, a heat map."
)
@click.option("--write", type=click.Path(path_type=Path), help="Write an example's files there.")
@told_errors
def plan(output_format: str, check: bool, **given: Any) -> None:
    """Place all flows of all JOBS (files) on a topology, and prove how good it is.

    Start with `trimtab plan --example leaf-spine-64`; docs/placement.md tells the words. Nothing
    is changed anywhere.
    """
    if check:
        _check(_source(given))
    made = _made(given)
    if output_format == "json":
        click.echo(made.as_json())
    else:
        click.echo(made.as_text(), nl=False)
    if given["picture"]:
        _write(given["picture"], made.as_svg())


def _check(source: "Source") -> NoReturn:
    from cluster.consistency import Consistency  # noqa: PLC0415
    from pipelines.plan.text import check_text  # noqa: PLC0415

    looked = Consistency(source.topology)
    click.echo(check_text(source.name, looked), nl=False)
    sys.exit(any(finding.severity == "fault" for finding in looked.findings))


def _made(given: dict[str, Any]) -> "Plan":
    from pipelines.plan.planning import Options, make_plan  # noqa: PLC0415

    picture = given["picture"]
    if picture and picture.suffix != ".svg":
        raise ConfigError(f"--picture: is {str(picture)!r}, not a file that ends in .svg")
    source = _source(given)
    if given["write"]:
        _write_example(given["write"], given["example"])
    options = Options(
        without=given["without"],
        links=given["links"],
        subflows=given["subflows"],
        seed=given["seed"],
    )
    return make_plan(source, options)


def _source(given: dict[str, Any]) -> "Source":
    from pipelines.plan import sources  # noqa: PLC0415

    ways = [name for name in ("topology", "example", "from_deployment") if given[name]]
    if len(ways) != 1:
        told = " and ".join(f"--{way.replace('_', '-')}" for way in ways) or "none"
        raise ConfigError(
            f"needs one of --topology FILE, --example NAME, --from-deployment; there is {told}"
        )
    more = (*given["jobs"], *given["add_job"])
    if given["example"]:
        return sources.from_example(given["example"], more)
    if given["topology"]:
        return sources.from_files(given["topology"], more)
    loaded = load_running(given["config_path"])
    with database_of(loaded) as database:
        name = loaded.config.deployment.name
        return sources.from_deployment(name, loaded.topology, database, more)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
    click.echo(f"{path}: written", err=True)


def _write_example(folder: Path, name: str | None) -> None:
    from pipelines.plan.examples import EXAMPLES  # noqa: PLC0415

    if not name:
        raise ConfigError("--write: writes an example's files, and there is no --example")
    for file, text in EXAMPLES[name]().files().items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{folder}: cannot be made: {error.strerror}") from error
        _write(folder / file, text)
