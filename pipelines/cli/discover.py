"""``trimtab discover``."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import config_option, told_errors
from pipelines.config.load import load_config, read_as
from pipelines.errors import ConfigError

if TYPE_CHECKING:
    from cluster.discovered import Hints
    from cluster.findings import Finding
    from cluster.topology import Topology


@click.command()
@config_option
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the topology there; else it is printed. May be the configured file.",
)
@click.option("--check", is_flag=True, help="Only compare with what is configured; 1 on a fault.")
@click.option(
    "--hosts",
    multiple=True,
    metavar="PATTERN",
    help="System names that are hosts although they forward, as with containers: 'gpu-*'.",
)
@click.option(
    "--tier",
    "tiers",
    multiple=True,
    metavar="PATTERN=N",
    help="Tier of switches that LLDP cannot tell, leaves without hosts: 'leaf*=1'.",
)
@click.option("--timeout-seconds", default=10.0, show_default=True, help="Per question.")
@told_errors
def discover(  # noqa: PLR0917 - click passes them by name
    config_path: Path,
    output: Path | None,
    check: bool,
    hosts: tuple[str, ...],
    tiers: tuple[str, ...],
    timeout_seconds: float,
) -> None:
    """Ask the configured gNMI targets how they are wired, and write it as a topology.

    What switches cannot tell is kept from the configured topology: routes, GPUs, services, peer
    groups, and hosts' prefixes. What does not fit is told on standard error.
    """
    from cluster.consistency import counted  # noqa: PLC0415
    from cluster.discovered import Hints  # noqa: PLC0415

    hints = Hints(known=_configured(config_path), hosts=hosts, tiers=_tiers(tiers))
    topology, findings = _discovered(config_path, hints, timeout_seconds)
    for finding in findings:
        click.echo(str(finding), err=True)
    switches, links = len(topology.switches), len(topology.links)
    told = f"{switches} switches, {len(topology.hosts)} hosts, {links} links; {counted(findings)}"
    if not check:
        _write(topology, output)
    click.echo(told, err=not check)
    if check and any(finding.severity == "fault" for finding in findings):
        sys.exit(1)


def _discovered(
    config_path: Path, hints: "Hints", timeout_seconds: float
) -> tuple["Topology", list["Finding"]]:
    from cluster.consistency import Consistency  # noqa: PLC0415
    from cluster.discovered import discover as derive  # noqa: PLC0415
    from cluster.rewired import rewired  # noqa: PLC0415
    from pipelines.collect.discover import ask  # noqa: PLC0415

    collect = load_config(config_path).collect
    if not collect.gnmi:
        raise ConfigError(f"{config_path}: collect.gnmi: names no target that could be asked")
    folder = config_path.parent
    answers = asyncio.run(ask(collect, folder.joinpath, timeout_seconds=timeout_seconds))
    seen = derive(answers.reports, hints)
    topology, left_out = rewired(seen.topology, hints.known)
    found = (*answers.findings, *seen.findings, *left_out, *Consistency(topology).findings)
    return topology, list(found)


def _configured(config_path: Path) -> "Topology":
    """Return the configured topology, an empty one where its file does not exist yet."""
    from cluster.topology import Topology  # noqa: PLC0415

    path = config_path.parent / load_config(config_path).deployment.topology_file
    return read_as(Topology, path) if path.exists() else Topology()


def _tiers(options: tuple[str, ...]) -> dict[str, int]:
    tiers = {}
    for option in options:
        pattern, _, tier = option.rpartition("=")
        if not pattern or not tier.isdecimal() or int(tier) < 1:
            raise ConfigError(f"--tier: is {option!r}, not PATTERN=N with N from 1")
        tiers[pattern] = int(tier)
    return tiers


def _write(topology: "Topology", output: Path | None) -> None:
    from pipelines.config.topology_file import topology_toml, write_topology  # noqa: PLC0415

    heading = "As the switches tell it over gNMI; written by `trimtab discover`."
    if output is None:
        click.echo(topology_toml(topology, heading=heading), nl=False)
        return
    try:
        write_topology(output, topology, heading=heading)
    except OSError as error:
        raise ConfigError(f"{output}: cannot be written: {error.strerror}") from error
    click.echo(f"{output}: written", err=True)
