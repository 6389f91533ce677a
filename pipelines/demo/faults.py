"""The degradations that the demo injects, and the simulator's control interface."""

import json
import urllib.request
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """A degradation as the simulator knows it, and what a newcomer should read about it."""

    kind: str
    title: str


_LINK = Scripted(
    kind="degraded_link", title="uplink: FEC errors rise, goodput falls, port stays up"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What happens on a simulated cluster, one thing after the other.

    Attributes
    ----------
    places_jobs
        The job's flows are hashed at first: they are to be placed together before the first fault.
    mends
        The last fault ends in the end: what was moved is to come back.
    """

    faults: tuple[Scripted, ...]
    places_jobs: bool = False
    mends: bool = False


SCRIPTS = {
    "first_light": Script(
        faults=(
            _LINK,
            Scripted(kind="slow_gpu", title="GPU throttles and drags its job"),
            Scripted(kind="long_answers", title="answers get longer, decode starves"),
        )
    ),
    "network": Script(faults=(_LINK,), places_jobs=True, mends=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A degradation that was injected: the truth that alerts are held against."""

    scripted: Scripted
    component: str
    cause: str
    started_ns: int
    fault_id: str = ""


class Control:
    """The simulator's control interface on loopback."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def inject(self, scripted: Scripted) -> Fault:
        """Start a degradation.

        Raises
        ------
        OSError
            The simulator does not answer.
        """
        told = self._request("/faults", {"kind": scripted.kind})
        return Fault(
            scripted=scripted,
            component=told["component"],
            cause=told["cause"],
            started_ns=int(told["started_ns"]),
            fault_id=told["fault_id"],
        )

    def end(self, fault: Fault) -> None:
        """End a degradation.

        Raises
        ------
        OSError
            The simulator does not answer.
        """
        self._request(f"/faults/{fault.fault_id}", None)

    def _request(self, path: str, body: dict[str, Any] | None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - loopback URL of our own child
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method="DELETE" if body is None else "POST",
        )
        with urllib.request.urlopen(request, timeout=10.0) as answer:  # noqa: S310
            return json.load(answer)
