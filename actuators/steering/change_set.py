"""Changes in the order that hurts nothing: capacity first, then moves, then removal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from actuators.carry_out import inverse
from actuators.records import Change
from actuators.steering import paths
from actuators.steering.capability import Rung

ABSENT = ""
"""Value of what is not there: writing it removes."""


class Phase(IntEnum):
    """When in a change set a change is made."""

    PREPARE = 1
    """Adds capacity; no packet takes another way."""
    MOVE = 2
    """Sends flows another way: in their job's idle phase, where it has one."""
    REMOVE = 3
    """Takes away what nothing is sent by any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The changes of one phase at one target: one transaction there."""

    phase: Phase
    target: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """Steps in order: a phase begins when the one before is in force at all targets.

    Attributes
    ----------
    rungs
        By which rung each target is steered, where anything is to be changed.
    advice
        What a person would have to do, since nothing here can.
    """

    steps: tuple[Step, ...] = ()
    rungs: Mapping[str, Rung] = field(default_factory=dict)
    advice: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(change for step in self.steps for change in step.changes)

    def inverse(self) -> "ChangeSet":
        """Return the change set that takes this one back, in an order that hurts nothing."""
        return ChangeSet(steps=ordered(inverse(self.changes)), rungs=self.rungs)


def phase_of(change: Change) -> Phase:
    """Return when a change is to be made, by what it is of and which way it goes."""
    path, value = change.path, change.to_value
    if paths.is_policy_name(path) or paths.bound_interface(path) is not None:
        return Phase.PREPARE if value != ABSENT else Phase.REMOVE
    if paths.enabled_interface(path) is not None:
        return Phase.PREPARE if value == "true" else Phase.REMOVE
    if paths.rule_number(path) is not None:
        return Phase.MOVE if value != ABSENT else Phase.REMOVE
    return Phase.MOVE


def ordered(changes: Iterable[Change]) -> tuple[Step, ...]:
    """Return the changes as steps; within one, weights are raised before others are lowered."""
    groups: dict[tuple[Phase, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((phase_of(change), change.target), []).append(change)
    return tuple(
        Step(phase=phase, target=target, changes=tuple(sorted(group, key=_rank)))
        for (phase, target), group in sorted(groups.items(), key=lambda item: item[0])
    )


def applied(
    state: Mapping[tuple[str, str], str], changes: Sequence[Change]
) -> dict[tuple[str, str], str]:
    """Return what is at each (target, path) after the changes; what is absent has no entry."""
    after = dict(state)
    for change in changes:
        if change.to_value == ABSENT:
            after.pop((change.target, change.path), None)
        else:
            after[change.target, change.path] = change.to_value
    return after


def _rank(change: Change) -> tuple[int, int, str]:
    """Return a change's place in its step: raised before lowered, else by number and path."""
    if paths.is_weight(change.path):
        raised = int(change.to_value or 1) >= int(change.from_value or 1)
        return 0 if raised else 1, 0, change.path
    # A policy is there before it is applied, and is applied nowhere before it goes.
    is_name = paths.is_policy_name(change.path)
    late = is_name if change.to_value == ABSENT else not is_name
    return int(late), paths.rule_number(change.path) or 0, change.path
