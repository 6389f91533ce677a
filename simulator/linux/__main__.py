"""``python -m simulator.linux``: a lab fabric until its input ends.

Writes one line of JSON when it forwards: ports of the gNMI servers, namespaces of all devices.
Takes lines of JSON, and answers each with one: ``{"cable": "link/leaf1:Ethernet49", "on": false}``
pulls a cable, ``{"cable": "link/leaf1:Ethernet49", "bits_per_second": 1000000}`` slows it.
"""

import argparse
import asyncio
import json
import sys
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from simulator.gnmi.server import Credentials
from simulator.linux.fabric import Lab
from simulator.linux.namespaces import why_not
from simulator.linux.shape import Shape


async def _main(arguments: argparse.Namespace) -> None:
    shape = Shape(leaves=arguments.leaves, spines=arguments.spines, hosts=arguments.hosts)
    features = {
        switch: frozenset(told.split(",")) - {""}
        for switch, _, told in (text.partition("=") for text in arguments.features)
    }
    credentials = Credentials(arguments.username, arguments.password)
    async with Lab(shape=shape, credentials=credentials, features=features) as lab:
        devices = (*shape.switch_names, *shape.host_names)
        _say(ports=lab.ports, namespaces={device: lab.namespace(device) for device in devices})
        await _obey(lab)


async def _obey(lab: Lab) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        try:
            await _do(lab, json.loads(line))
            _say(done=True)
        except (ValueError, KeyError, TypeError, NetlinkError) as error:
            _say(error=str(error))


async def _do(lab: Lab, told: dict[str, Any]) -> None:
    if "bits_per_second" in told:
        await lab.slow_cable(told["cable"], int(told["bits_per_second"]))
    else:
        await lab.switch_cable(told["cable"], is_on=bool(told["on"]))


def _say(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m simulator.linux", description=__doc__)
    parser.add_argument("--leaves", type=int, default=2)
    parser.add_argument("--spines", type=int, default=4)
    parser.add_argument("--hosts", type=int, default=1, help="of each leaf")
    parser.add_argument("--username", default="lab")
    parser.add_argument("--password", default="lab")
    parser.add_argument(
        "--features",
        action="append",
        default=[],
        metavar="SWITCH=policy,weights,commits",
        help="what a switch can do; all where it is not named",
    )
    arguments = parser.parse_args()
    reason = why_not()
    if reason:
        parser.exit(3, f"{reason}\n")
    try:
        asyncio.run(_main(arguments))
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
