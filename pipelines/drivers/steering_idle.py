"""Waits until the jobs whose flows are moved send nothing."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog

from actuators.records import Change
from actuators.steering.idle import Beat, all_idle_at
from pipelines.clock import Clock

log = structlog.get_logger()

_NS: Final = 1e9


class IdlePhase:
    """The `pipelines.drivers.steering.Idle` of jobs with a beat.

    Parameters
    ----------
    beats
        Returns the beat by job, as it is known now, by the clock's time.
    jobs_of
        Returns the jobs whose flows a change moves; none when it is not known.
    need_seconds
        How long a change takes.
    longest_wait_seconds
        When the jobs are not all idle within it, the change is made at once.
    """

    def __init__(
        self,
        beats: Callable[[], Mapping[str, Beat]],
        jobs_of: Callable[[Change], Sequence[str]],
        clock: Clock,
        *,
        need_seconds: float = 0.05,
        longest_wait_seconds: float = 10.0,
    ) -> None:
        self._beats = beats
        self._jobs_of = jobs_of
        self._clock = clock
        self._need_ns = int(need_seconds * _NS)
        self._longest_ns = int(longest_wait_seconds * _NS)

    async def __call__(self, changes: Sequence[Change]) -> None:
        """Return when all jobs that are moved are idle, or at once when that cannot be."""
        known = self._beats()
        jobs = sorted({job for change in changes for job in self._jobs_of(change)} & known.keys())
        now_ns = self._clock.now_ns()
        at_ns = all_idle_at(
            [known[job] for job in jobs],
            now_ns,
            need_ns=self._need_ns,
            horizon_ns=self._longest_ns,
        )
        if at_ns is None:
            log.warning("jobs never idle together, moved at once", jobs=jobs)
            return
        await asyncio.sleep((at_ns - now_ns) / _NS)
