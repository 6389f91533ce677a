"""The process of the embedded database: start, readiness, orderly end."""

import asyncio
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from pipelines.embedded.clickhouse.access import Account
from pipelines.embedded.clickhouse.engine import DataDirectoryError, Engine
from pipelines.embedded.clickhouse.interface import Interface, Limits

_LONGEST_URL_BYTES = 1 << 20  # as ClickHouse's http_max_uri_size
_READ_BUFFER_BYTES = 1 << 20
_KEEP_ALIVE_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Where to listen and what to serve; `port` 0 takes a free one."""

    data_path: Path
    host: str = "127.0.0.1"
    port: int = 8123
    account: Account = field(default_factory=Account)
    limits: Limits = field(default_factory=Limits)
    shutdown_timeout_seconds: float = 10.0


def serve(options: ServerOptions) -> int:
    """Exit status, after SIGTERM or SIGINT; queries that run by then get their time to end.

    Prints one line with the URL when it is ready. Status 2 means that it could not start.
    """
    try:
        engine = Engine(options.data_path)
    except (DataDirectoryError, OSError) as error:
        sys.stderr.write(f"embedded ClickHouse: {error}\n")
        return 2
    try:
        return asyncio.run(_serve(options, engine))
    finally:
        engine.close()


async def _serve(options: ServerOptions, engine: Engine) -> int:
    workers = ThreadPoolExecutor(options.limits.concurrent_queries, thread_name_prefix="query")
    interface = Interface(
        engine=engine, account=options.account, limits=options.limits, workers=workers
    )
    runner = web.AppRunner(
        interface.application(),
        access_log=None,
        auto_decompress=False,  # bodies are unpacked in the query's thread
        keepalive_timeout=_KEEP_ALIVE_SECONDS,
        max_line_size=_LONGEST_URL_BYTES,
        read_bufsize=_READ_BUFFER_BYTES,
        shutdown_timeout=options.shutdown_timeout_seconds,
    )
    await runner.setup()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        await web.TCPSite(runner, options.host, options.port).start()
    except OSError as error:
        sys.stderr.write(
            f"embedded ClickHouse: cannot listen on {options.host}:{options.port}: "
            f"{error.strerror}\n"
        )
        await runner.cleanup()
        return 2
    host, port = runner.addresses[0][:2]
    sys.stdout.write(f"embedded ClickHouse {engine.version}: http://{host}:{port}/\n")
    sys.stdout.flush()
    await stop.wait()
    interface.stopping = True
    await runner.cleanup()
    await asyncio.to_thread(workers.shutdown, cancel_futures=True)
    return 0
