"""Which actuators answer a cause."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from detectors.records import Cause


class Answer(StrEnum):
    """A way to answer; what is not listed for a cause is answered by nothing."""

    MOVE_FLOWS = "move_flows"
    DRAIN_LINK = "drain_link"
    LESS_FOR_THE_SLOW_RANK = "less_for_the_slow_rank"
    FEWER_REQUESTS_AT_ONCE = "fewer_requests_at_once"
    MOVE_AN_ENGINE = "move_an_engine"


_SLOW_GPU: Final = (Answer.LESS_FOR_THE_SLOW_RANK, Answer.FEWER_REQUESTS_AT_ONCE)

ANSWERS: Final[Mapping[Cause, tuple[Answer, ...]]] = {
    Cause.LINK_DEGRADED: (Answer.MOVE_FLOWS, Answer.DRAIN_LINK),
    Cause.SLOW_GPU_THERMAL: _SLOW_GPU,
    Cause.SLOW_GPU_POWER: _SLOW_GPU,
    Cause.SLOW_GPU_CLOCK: _SLOW_GPU,
    Cause.SLOW_GPU_MEMORY_ERRORS: _SLOW_GPU,
    Cause.DECODE_STARVED: (Answer.MOVE_AN_ENGINE,),
    Cause.PREFILL_STARVED: (Answer.MOVE_AN_ENGINE,),
    Cause.KV_PRESSURE: (Answer.FEWER_REQUESTS_AT_ONCE,),
    Cause.BATCH_TOO_LARGE: (Answer.FEWER_REQUESTS_AT_ONCE,),
}


def answers(cause: Cause) -> tuple[Answer, ...]:
    """Return the ways to answer a cause, empty when there is none."""
    return ANSWERS.get(cause, ())
