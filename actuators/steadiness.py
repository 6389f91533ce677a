"""Waits until the harm shows and stands still: a level before that nobody was at judges nothing."""

from collections.abc import Sequence
from statistics import median

from actuators.settings import EffectConfig, ObjectiveConfig

_HALF = 3


def waits_for(
    values: Sequence[float], healthy: float | None, objective: ObjectiveConfig, config: EffectConfig
) -> str:
    """Return what an action should wait for, empty when it need not.

    Parameters
    ----------
    values
        The objective's readings since the onset, the newest last.
    healthy
        Its level before, None when not known.
    """
    if len(values) < 2 * _HALF:
        return f"{objective.component} has {len(values)} readings since the onset"
    earlier, level = median(values[-2 * _HALF : -_HALF]), median(values[-_HALF:])
    scale = abs(healthy) if healthy else max(abs(earlier), abs(level)) or 1.0
    if healthy is not None:
        worse_by = (level - healthy) if objective.better == "lower" else (healthy - level)
        if worse_by / scale < config.worst_loss_ratio:
            return f"{objective.component} {objective.metric} has not suffered yet"
    if abs(level - earlier) / scale >= config.steady_ratio:
        return f"{objective.component} {objective.metric} still moves"
    return ""
