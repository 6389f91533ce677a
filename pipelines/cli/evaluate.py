"""``trimtab evaluate``."""

from pathlib import Path

import click

from pipelines.cli.options import told_errors

_CLASS_OF_SET = {"ms-cloud-monitoring": "service", "nab": "usage", "tcpd": "levels"}


@click.command()
@click.argument("dataset")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path("../shared/data"),
    envvar="TRIMTAB_DATA",
    show_default=True,
    help="Folder of the named sets.",
)
@click.option(
    "--class",
    "class_name",
    default="",
    help="Class of metric: steady, collective, service, usage, levels. Named sets know theirs.",
)
@click.option(
    "--warmup-samples",
    type=click.IntRange(min=0),
    default=60,
    show_default=True,
    help="Not scored.",
)
@click.option(
    "--budget-samples",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="An event must be told within so many samples of its begin.",
)
@told_errors
def evaluate(
    dataset: str, data: Path, class_name: str, warmup_samples: int, budget_samples: int
) -> None:
    """Score detection on labelled series, in one pass in time order.

    DATASET is a named set (ms-cloud-monitoring, nab, tcpd) or a file of one's own: CSV or Parquet
    with a column ``value`` and a column ``label`` (1 while something is wrong) or ``change`` (1
    where a new segment begins).
    """
    from detectors.classes import CLASSES  # noqa: PLC0415
    from pipelines.errors import ConfigError  # noqa: PLC0415
    from pipelines.evaluate.recordings import SETS, read_own, read_set  # noqa: PLC0415
    from pipelines.evaluate.run import evaluate as score  # noqa: PLC0415

    chosen = class_name or _CLASS_OF_SET.get(dataset, "steady")
    if chosen not in CLASSES:
        raise ConfigError(f"no class {chosen!r}; there are {', '.join(CLASSES)}")
    path = Path(dataset)
    if dataset not in SETS and not path.is_file():
        raise ConfigError(f"{dataset} is neither a file nor one of {', '.join(SETS)}")
    recordings = read_set(dataset, data / dataset) if dataset in SETS else read_own(path)
    figures = score(recordings, CLASSES[chosen], warmup=warmup_samples, budget=budget_samples)
    click.echo(f"{'class':<22}{chosen}")
    for name, value in figures.items():
        click.echo(f"{name:<22}{value:,.3f}".rstrip("0").rstrip("."))
