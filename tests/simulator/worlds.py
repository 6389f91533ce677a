"""Worlds for tests."""

from cluster.steptimes import FittedStepTimes
from simulator.scenario import SCENARIOS
from simulator.world.world import World

START_NS = 1_800_000_000_000_000_000


def first_light(*, seed: int = 1) -> World:
    return World(SCENARIOS["first_light"], seed, START_NS, FittedStepTimes())


def network(*, seed: int = 1) -> World:
    return World(SCENARIOS["network"], seed, START_NS, FittedStepTimes())


def attainment(world: World, seconds: float) -> float:
    """Return the share of good requests over the next seconds."""
    start = world.seconds
    judged = []
    for _ in range(round(seconds)):
        world.advance(1.0)
        judged += [good for at, good in world.serving.judged if at > world.seconds - 0.95]
    assert world.seconds > start
    return sum(judged) / len(judged)


def step_seconds(world: World, seconds: float) -> float:
    """Return the mean step time over the next seconds."""
    world.training.finished.clear()
    world.advance(seconds)
    steps = [step.step_seconds for step in world.training.finished]
    return sum(steps) / len(steps)
