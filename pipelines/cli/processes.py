"""The processes of a deployment, one command each, and all of them together."""

import asyncio
import importlib
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import click

from pipelines.cli.options import config_option, load_running, told_errors
from pipelines.clock import SystemClock
from pipelines.config.load import Loaded, load
from pipelines.logs import configure_logs

Run = Callable[..., Coroutine[Any, Any, None]]


async def _until_told(run: Run, loaded: Loaded) -> None:
    """Run a process until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await run(loaded, clock=SystemClock(), stop=stop)


def _process(name: str, module: str, help_text: str) -> click.Command:
    @click.command(name, help=help_text)
    @config_option
    @told_errors
    def command(config_path: Path) -> None:
        configure_logs(name)
        loaded = load_running(config_path)
        asyncio.run(_until_told(importlib.import_module(module).run, loaded))

    return command


collect = _process("collect", "pipelines.collect.run", "Subscribe, scrape, take job reports.")
detect = _process("detect", "pipelines.agents.detect", "Find what has become slow.")
act = _process("act", "pipelines.agents.act", "Decide, act, measure, keep or take back.")
record = _process("record", "pipelines.agents.record", "Write everything to ClickHouse; webhooks.")
serve = _process("serve", "pipelines.serve.run", "Serve the console and the HTTP API.")


@click.command()
@config_option
@told_errors
def up(config_path: Path) -> None:
    """Run every process of one configuration, with embedded services where it says so."""
    from pipelines.embedded.broker import BrokerStartError  # noqa: PLC0415
    from pipelines.supervise.supervisor import ChildFailedError  # noqa: PLC0415
    from pipelines.supervise.up import Up  # noqa: PLC0415

    configure_logs("up")
    try:
        Up(load(config_path)).run()
    except (ChildFailedError, BrokerStartError) as error:
        click.echo(str(error), err=True)
        sys.exit(1)
