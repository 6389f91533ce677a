"""``trimtab demo``."""

import signal
import sys
import types
from pathlib import Path

import click

from pipelines.errors import ConfigError


def _interrupted(_number: int, _frame: types.FrameType | None) -> None:
    raise KeyboardInterrupt


@click.command()
@click.option("--serve", is_flag=True, help="Keep everything running after the table.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path(".trimtab/demo"),
    show_default=True,
    help="Where the demo writes; emptied first.",
)
@click.option(
    "--scenario",
    type=click.Choice(["first_light", "network"]),
    default="first_light",
    show_default=True,
    help="network: a job's hashed flows are placed together, then a link degrades and is mended.",
)
@click.option("--broker-url", default="embedded", show_default=True, help="Or kafka://host:port.")
@click.option(
    "--settle-seconds",
    default=65.0,
    show_default=True,
    help="From the start to the first degradation: baselines are learned.",
)
@click.option(
    "--fault-seconds",
    default=90.0,
    show_default=True,
    help="How long one degradation may take until its effect is known.",
)
def demo(
    *,
    serve: bool,
    folder: Path,
    scenario: str,
    broker_url: str,
    settle_seconds: float,
    fault_seconds: float,
) -> None:
    """Run Trimtab on a simulated cluster with hidden degradations."""
    from pipelines.demo.progress import Progress  # noqa: PLC0415
    from pipelines.demo.run import Demo  # noqa: PLC0415
    from pipelines.demo.stage import DemoFailedError  # noqa: PLC0415
    from pipelines.logs import configure_logs  # noqa: PLC0415
    from pipelines.supervise.supervisor import ChildFailedError  # noqa: PLC0415

    configure_logs("demo", level=40)
    signal.signal(signal.SIGTERM, _interrupted)
    story = Demo(
        folder,
        progress=Progress(sys.stdout),
        scenario=scenario,
        broker_url=broker_url,
        settle_seconds=settle_seconds,
        fault_seconds=fault_seconds,
    )
    try:
        held = story.run(serve=serve)
    except (DemoFailedError, ChildFailedError, ConfigError) as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo("interrupted; everything is stopped")
        sys.exit(130)
    sys.exit(0 if held else 1)
