"""Machine code for placements, made where it holds nobody up."""

import asyncio
import sys
from typing import Final

import structlog

from actuators.placement import kernels
from cluster.compiled import can_compile

log = structlog.get_logger()

_POLITELY: Final = ("nice", "-n", "19")


async def warm_placement() -> None:
    """Have a process of low priority fill the cache, then read it from there.

    Whatever fails, plans are made by the plain loops, which give the same.
    """
    if not can_compile():
        log.info("placements are planned by plain loops", because="numba is not installed")
        return
    argv = (*_POLITELY, sys.executable, "-c", f"from {kernels.__name__} import warm_up; warm_up()")
    try:
        process = await asyncio.create_subprocess_exec(*argv)
    except OSError as error:
        log.warning("machine code for placements not made", detail=str(error))
        return
    try:
        status = await process.wait()
    except asyncio.CancelledError:
        process.kill()
        raise
    if status == 0:
        await asyncio.to_thread(kernels.warm_up)
    else:
        log.warning("machine code for placements not made", exit_status=status)
