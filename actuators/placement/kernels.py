"""Which copy of the loops answers: the compiled one, or the plain one where that is sooner.

Both give the same plan. Making machine code takes seconds that nothing else of the process runs in,
reading it from numba's cache less than one: whoever must not stand still has another process fill
the cache first, by the same call of `warm_up`.
"""

import threading
from types import ModuleType
from typing import Final

import numpy as np

from actuators.placement import baseline_loops, chains, colour, halving, search
from cluster import fairness_loops
from cluster.compiled import can_compile, compiled

# Beyond it plain loops would take longer than making the machine code.
_MANY: Final = 20_000

_ready = threading.Event()
_lock = threading.Lock()


def colouring(subflows: int) -> ModuleType:
    """Return the loops of `colour` for so many sub-flows."""
    return _chosen(colour, subflows)


def halving_down(subflows: int) -> ModuleType:
    """Return the loops of `halving` for so many sub-flows."""
    return _chosen(halving, subflows)


def searching(subflows: int) -> ModuleType:
    """Return the loops of `search` for so many sub-flows."""
    return _chosen(search, subflows)


def chaining(subflows: int) -> ModuleType:
    """Return the loops of `chains` for so many sub-flows."""
    return _chosen(chains, subflows)


def baselines(subflows: int) -> ModuleType:
    """Return the loops of `baseline_loops` for so many sub-flows."""
    return _chosen(baseline_loops, subflows)


def warm_up() -> bool:
    """Return when the machine code is there; False where none can be made."""
    if not can_compile():
        return False
    with _lock:
        if not _ready.is_set():
            few = np.arange(2, dtype=np.int32)
            for module in (halving, colour, search, chains, baseline_loops):
                module.exercise(compiled(module.__name__), few)
            fairness_loops.exercise(compiled(fairness_loops.__name__))
            _ready.set()
    return True


def _chosen(module: ModuleType, subflows: int) -> ModuleType:
    if _ready.is_set() or (subflows >= _MANY and warm_up()):
        return compiled(module.__name__)
    return module
