"""``python -m simulator``: a cluster to run against."""

import argparse
import asyncio
import sys
from pathlib import Path

from simulator.run import Options, run
from simulator.scenario import SCENARIOS


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="simulator", description=__doc__)
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), default="first_light")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=1.0, help="device seconds per second")
    parser.add_argument("--state-dir", type=Path, required=True)
    parser.add_argument("--inventory", type=Path, required=True, help="written when all serve")
    parser.add_argument("--job-channel", required=True, help="HOST:PORT of the collector")
    parser.add_argument("--resume", action="store_true", help="go on with what is in --state-dir")
    parser.add_argument("--tables", type=Path, help="step-time tables in place of the formula")
    parser.add_argument("--tls-dir", type=Path, help="ca.pem, cert.pem, key.pem: gNMI over TLS")
    given = parser.parse_args()
    if given.speed <= 0.0:
        parser.error("--speed must be positive")
    return Options(**vars(given))


if __name__ == "__main__":
    try:
        asyncio.run(run(_options()))
    except OSError as error:  # a port is taken, or a file cannot be read or written
        sys.exit(f"simulator: {error}")
