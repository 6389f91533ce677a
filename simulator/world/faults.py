"""Degradations with known truth: where, why and since when."""

from dataclasses import dataclass, field
from typing import Literal

FaultKind = Literal["degraded_link", "slow_gpu", "long_answers"]

_CAUSES = {
    "degraded_link": "link_degraded",
    "slow_gpu": "slow_gpu_thermal",
    "long_answers": "decode_starved",
}
# How strong each is unless told: payload's share of the line rate, clock's share of the full
# clock, answers' length against the usual.
_STRENGTHS = {"degraded_link": 0.2, "slow_gpu": 0.6, "long_answers": 3.1}


class FaultRefusedError(Exception):
    """No such degradation can be injected; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRequest:
    """A degradation asked for.

    Attributes
    ----------
    target
        ``leaf2:Ethernet51`` of a link, ``h3:5`` of a GPU (host and index), nothing of long
        answers; empty takes the kind's usual one.
    strength
        Payload's share of the line rate, clock's share of the full clock, or answers' length
        against the usual; None takes the usual.
    """

    kind: FaultKind
    target: str = ""
    strength: float | None = None


@dataclass(slots=True, kw_only=True)
class Fault:
    """A degradation in force; ``place`` is what the world needs to find it again."""

    fault_id: str
    kind: FaultKind
    component: str
    cause: str
    started_ns: int
    strength: float
    place: tuple[int, ...] = field(default=())


def strength_of(request: FaultRequest) -> float:
    """Return the strength asked for.

    Raises
    ------
    FaultRefusedError
        It would be no degradation.
    """
    strength = _STRENGTHS[request.kind] if request.strength is None else request.strength
    lowest, highest = (1.0, 10.0) if request.kind == "long_answers" else (0.01, 1.0)
    if not lowest < strength < highest:
        raise FaultRefusedError(
            f"strength of {request.kind} is {strength}, not between {lowest} and {highest}"
        )
    return strength


def cause_of(kind: FaultKind) -> str:
    return _CAUSES[kind]
