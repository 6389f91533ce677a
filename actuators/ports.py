"""What the actuators need of the world; the drivers in ``pipelines.drivers`` provide it.

Every write is idempotent: writing what is there already succeeds. Errors are of two families:
`TransientActuationError` may go away by itself and is retried within limits,
`PermanentActuationError` does not.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from actuators.records import Change


class ActuationError(Exception):
    """A target could not be read or written."""


class TransientActuationError(ActuationError):
    """Worth another try: unreachable, busy, timed out."""


class PermanentActuationError(ActuationError):
    """Another try cannot help: refused, unknown target, not supported."""


class Driver(Protocol):
    """Reads and writes one kind of target.

    ``read`` returns the value at each (target, path) of the changes; ``write`` brings the targets
    to the changes' ``to_value`` in the given order and returns when they are in force as far as
    the target
    says; ``confirm`` makes a written change last where the target holds it only for a while
    (commit-confirmed), and is a no-op elsewhere. After a failed or interrupted ``write`` the
    caller reads back.
    """

    name: str

    async def read(self, changes: Sequence[Change]) -> Mapping[tuple[str, str], str]: ...

    async def write(self, changes: Sequence[Change]) -> None: ...

    async def confirm(self, changes: Sequence[Change]) -> None: ...


class Fabric(Protocol):
    """Next-hop weights of a fabric's switches, as they are now."""

    async def weights(self, switch: str) -> Mapping[str, int]:
        """Return weight by path, as `cluster.topology.Route.weight_path` writes it."""
        ...


class ServingPool(Protocol):
    """An inference service's engines."""

    async def roles(self, service: str) -> Mapping[str, str]:
        """Return ``prefill`` or ``decode`` by engine component.

        Engines that are down are absent.
        """
        ...

    async def concurrency_limits(self, service: str) -> Mapping[str, int]:
        """Return the limit of concurrently running requests by engine component."""
        ...


class Jobs(Protocol):
    """Jobs that joined the information channel."""

    async def micro_batches(self, job: str) -> Mapping[int, int]:
        """Return micro-batches per step by rank, as the job last reported."""
        ...
