"""``trimtab serve``: the console and the HTTP API on one address."""

import asyncio

import structlog
from aiohttp import web

from pipelines.clock import Clock
from pipelines.config.load import Loaded, read_secret
from pipelines.serve.app import Console, console_app

log = structlog.get_logger(__name__)


async def run(loaded: Loaded, *, clock: Clock, stop: asyncio.Event) -> None:
    """Serve until ``stop`` is set. Without a token file nobody may change anything."""
    serve = loaded.config.serve
    token = read_secret(loaded.resolve(serve.token_file)) if serve.token_file else ""
    app = console_app(Console(loaded=loaded, token=token, clock=clock))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    host, _, port = serve.address.rpartition(":")
    await web.TCPSite(runner, host, int(port)).start()
    log.info("console served", address=serve.address)
    try:
        await stop.wait()
    finally:
        await runner.cleanup()
