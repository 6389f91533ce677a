"""``trimtab serve``: the console and the HTTP API on one address."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager

import structlog
from aiohttp import web

from pipelines.approvals import ask
from pipelines.clock import Clock
from pipelines.config.load import Loaded, read_secret
from pipelines.facts import Facts
from pipelines.serve.app import Console, console_app
from pipelines.storage.client import connect

log = structlog.get_logger(__name__)


async def run(loaded: Loaded, *, clock: Clock, stop: asyncio.Event) -> None:
    """Serve until ``stop`` is set. Without a token file nobody may change anything."""
    serve = loaded.config.serve
    token = read_secret(loaded.resolve(serve.token_file)) if serve.token_file else ""

    @contextmanager
    def reader() -> Iterator[Facts]:
        with closing(connect(loaded)) as client:
            yield Facts(client)

    def ask_worker(*, decision_id: str, cell: str, verb: str, who: str, why: str) -> str:
        bootstrap = loaded.config.broker.bootstrap
        fields = {"decision_id": decision_id, "cell": cell, "verb": verb, "who": who, "why": why}
        return ask(bootstrap, **fields, clock=clock).request_id

    name = loaded.config.deployment.name
    app = console_app(Console(name=name, token=token, reader=reader, ask=ask_worker))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    host, _, port = serve.address.rpartition(":")
    await web.TCPSite(runner, host, int(port)).start()
    log.info("console served", address=serve.address)
    try:
        await stop.wait()
    finally:
        await runner.cleanup()
