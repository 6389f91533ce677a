"""``trimtab export``: what a query returns, as a file for other tools."""

import sys
from pathlib import Path

import click

from pipelines.cli.options import config_option, database_of, load_running, told_errors

_FORMATS = {".parquet": "Parquet", ".csv": "CSVWithNames", ".jsonl": "JSONEachRow"}


@click.command()
@click.argument("query")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@config_option
@told_errors
def export(query: str, file: Path, config_path: Path) -> None:
    """Write what a read-only QUERY returns to FILE: .parquet, .csv or .jsonl."""
    from clickhouse_connect.driver.exceptions import Error  # noqa: PLC0415

    if file.suffix not in _FORMATS:
        known = ", ".join(sorted(_FORMATS))
        click.echo(f"{file}: ends in {file.suffix!r}, not in one of {known}", err=True)
        sys.exit(2)
    partial = file.with_name(file.name + ".partial")
    with database_of(load_running(config_path)) as database:
        try:
            with (
                database.raw_stream(
                    query, fmt=_FORMATS[file.suffix], settings={"readonly": 1}
                ) as answer,
                partial.open("wb") as out,
            ):
                while chunk := answer.read(1 << 20):
                    out.write(chunk)
        except (Error, OSError) as error:
            partial.unlink(missing_ok=True)
            click.echo(str(error), err=True)
            sys.exit(1)
    partial.replace(file)
    click.echo(f"{file}: {file.stat().st_size:,} bytes")
