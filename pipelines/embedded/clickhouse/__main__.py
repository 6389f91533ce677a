"""`python -m pipelines.embedded.clickhouse`: the embedded database as a process."""

import argparse
import os
from pathlib import Path

from pipelines.embedded.clickhouse.access import Account
from pipelines.embedded.clickhouse.interface import Limits
from pipelines.embedded.clickhouse.server import ServerOptions, serve


def main() -> int:
    limits = Limits()
    parser = argparse.ArgumentParser(
        prog="python -m pipelines.embedded.clickhouse",
        epilog="The password comes from the environment variable TRIMTAB_DATABASE_PASSWORD.",
    )
    parser.add_argument("--data", type=Path, required=True, help="data directory; made if missing")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8123, help="0 takes a free one")
    parser.add_argument("--user", default="default")
    parser.add_argument("--body-limit-bytes", type=int, default=limits.body_bytes)
    parser.add_argument("--concurrent-queries", type=int, default=limits.concurrent_queries)
    arguments = parser.parse_args()
    password = os.environ.get("TRIMTAB_DATABASE_PASSWORD", "")
    return serve(
        ServerOptions(
            data_path=arguments.data,
            host=arguments.host,
            port=arguments.port,
            account=Account(user=arguments.user, password=password),
            limits=Limits(
                body_bytes=arguments.body_limit_bytes,
                concurrent_queries=arguments.concurrent_queries,
            ),
        )
    )


if __name__ == "__main__":
    raise SystemExit(main())
