"""Source ports of a job's connections, as one of the things that are steered."""

from collections.abc import Sequence

from actuators.carry_out import inverse
from actuators.ports import Driver
from actuators.records import Change


class JobHand:
    """Steers the connections of one job, by the job channel's driver.

    Nothing is undone by itself: a job keeps what it took, and `undo` tells it the old ports.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def read(self, changes: Sequence[Change]) -> dict[str, str]:
        """Return the port at each change's path; empty where the job has no such connection."""
        found = await self._driver.read(changes)
        return {c.path: found.get((c.target, c.path), "") for c in changes}

    async def write(self, changes: Sequence[Change]) -> None:
        """Tell the job its new ports; returns when it says that it took them.

        Raises
        ------
        ActuationError
            The job refused, is not joined, or its answer is not known: read back.
        """
        await self._driver.write(changes)

    async def confirm(self) -> None:
        """Nothing to do."""

    async def undo(self, changes: Sequence[Change]) -> None:
        """Tell the job its old ports."""
        await self._driver.write(inverse(changes))

    async def close(self) -> None:
        """Nothing to do: the driver is closed by who opened it."""
