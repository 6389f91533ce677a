"""How a gNMI stream can end, and how long to wait before the next."""

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import grpc


class End(StrEnum):
    """Why a stream ended."""

    CLOSED = "closed"
    UNAVAILABLE = "unavailable"
    SILENT = "silent"
    UNAUTHENTICATED = "unauthenticated"
    UNSUPPORTED = "unsupported"


_BY_CODE: Final = {
    grpc.StatusCode.UNAUTHENTICATED: End.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED: End.UNAUTHENTICATED,
    grpc.StatusCode.UNIMPLEMENTED: End.UNSUPPORTED,
    grpc.StatusCode.INVALID_ARGUMENT: End.UNSUPPORTED,
}


def end_of(code: grpc.StatusCode) -> End:
    """Return what a status means for the next attempt; what is not known is tried again."""
    return _BY_CODE.get(code, End.UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Waits before the next attempt, in seconds.

    Attributes
    ----------
    first_seconds, highest_seconds
        The limit doubles from one to the other; the wait is anywhere below the limit, so that a
        fleet does not come back in step.
    refused_seconds
        After wrong credentials: a lock-out must not be provoked.
    parked_seconds
        After a request that the target cannot serve.
    healthy_seconds
        A stream that lived this long starts the doubling anew.
    """

    first_seconds: float = 1.0
    highest_seconds: float = 60.0
    refused_seconds: float = 60.0
    parked_seconds: float = 600.0
    healthy_seconds: float = 60.0

    def after(self, end: End, failures: int) -> float:
        """Return the wait after so many failures in a row, at least 1."""
        if end is End.UNSUPPORTED:
            return self.parked_seconds
        limit = min(self.highest_seconds, self.first_seconds * 2.0 ** min(failures - 1, 16))
        wait = random.SystemRandom().uniform(0.0, limit)
        return self.refused_seconds + wait if end is End.UNAUTHENTICATED else wait
