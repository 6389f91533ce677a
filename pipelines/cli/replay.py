"""``trimtab replay``."""

import signal
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import told_errors

if TYPE_CHECKING:
    from pipelines.replay.session import Options


def _interrupted(_number: int, _frame: types.FrameType | None) -> None:
    raise KeyboardInterrupt


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    default=None,
    help="Use the running deployment of this configuration instead of one of the replay's own.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path(".trimtab/replay"),
    show_default=True,
    help="Where the replay's own deployment writes; emptied first.",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0.0),
    default=0.0,
    show_default=True,
    help="Seconds of recording a second; 0 is as fast as possible.",
)
@click.option("--cell", default="", help="Cell of all files; else each file's folder names it.")
@click.option(
    "--warmup-samples",
    type=click.IntRange(min=10),
    default=20,
    show_default=True,
    help="Readings that build a baseline, in the replay's own deployment: recordings are short.",
)
@click.option("--keep", is_flag=True, help="Keep the own deployment running until Ctrl-C.")
@told_errors
def replay(  # noqa: PLR0917 - click passes them by name
    files: tuple[Path, ...],
    config_path: Path | None,
    folder: Path,
    speed: float,
    cell: str,
    warmup_samples: int,
    keep: bool,
) -> None:
    """Put recorded telemetry through collection's Kafka path, and account for every sample.

    FILES are recordings, or folders of them: router tables, GPU and InfiniBand tables, Prometheus
    scrapes, gNMI responses, gnmic's events and JSON, SONiC's database. Their format is told by
    their content.
    """
    from pipelines.replay.session import Options  # noqa: PLC0415

    options = Options(
        files=files,
        config_path=config_path,
        folder=folder.absolute(),
        speed=speed,
        cell=cell,
        warmup_samples=warmup_samples,
        keep=keep,
    )
    sys.exit(_run(options))


def _run(options: "Options") -> int:
    from pipelines.demo.progress import Progress  # noqa: PLC0415
    from pipelines.logs import configure_logs  # noqa: PLC0415
    from pipelines.replay.session import Session  # noqa: PLC0415
    from pipelines.supervise.supervisor import ChildFailedError  # noqa: PLC0415

    configure_logs("replay", level=40)
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        return 0 if Session(options, Progress(sys.stdout)).run() else 1
    except ChildFailedError as error:
        click.echo(str(error), err=True)
        return 1
    except KeyboardInterrupt:
        click.echo("interrupted; what the replay started is stopped")
        return 130
