import asyncio

from actuators.records import Change
from actuators.steering.idle import Beat
from pipelines.drivers.steering_idle import IdlePhase

CHANGE = Change(target="switch/leaf1", path="p", from_value="", to_value="x")
SECOND = 10**9


class Clock:
    """Stands still."""

    def now_ns(self):
        return 0


async def waited(beats, jobs, monkeypatch, **settings):
    """Return how long it waits for a change of these jobs."""
    told = []

    async def sleep(seconds):
        told.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    await IdlePhase(lambda: beats, lambda _: jobs, Clock(), **settings)([CHANGE])
    return told


async def test_change_waits_for_the_jobs_it_moves_and_for_no_other(monkeypatch):
    beats = {
        "job/a": Beat(start_ns=0, period_ns=SECOND, busy_ns=SECOND // 4),
        "job/b": Beat(start_ns=0, period_ns=SECOND, busy_ns=SECOND // 2),
    }
    assert await waited(beats, ["job/a"], monkeypatch) == [0.25]
    assert await waited(beats, ["job/a", "job/b"], monkeypatch) == [0.5]
    assert await waited(beats, ["job/unknown"], monkeypatch) == [0.0]


async def test_jobs_never_idle_are_moved_at_once(monkeypatch):
    beats = {"job/a": Beat(start_ns=0, period_ns=SECOND, busy_ns=SECOND)}
    assert await waited(beats, ["job/a"], monkeypatch) == []
