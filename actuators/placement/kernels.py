"""Which copy of the loops answers: the compiled one, or the plain one where that is sooner.

Both give the same plan. Machine code is made, or read from numba's cache, in a thread of its own
that the first plan starts; plans of fewer sub-flows than `_MANY` do not wait for it.
"""

import threading
from types import ModuleType
from typing import Final

import numpy as np

from actuators.placement import chains, colour, search
from cluster.compiled import can_compile, compiled

# Beyond it plain loops would take longer than making the machine code.
_MANY: Final = 20_000

_warming: threading.Thread | None = None
_ready = threading.Event()
_lock = threading.Lock()


def colouring(subflows: int) -> ModuleType:
    """Return the loops of `colour` for so many sub-flows."""
    return _chosen(colour, subflows)


def searching(subflows: int) -> ModuleType:
    """Return the loops of `search` for so many sub-flows."""
    return _chosen(search, subflows)


def chaining(subflows: int) -> ModuleType:
    """Return the loops of `chains` for so many sub-flows."""
    return _chosen(chains, subflows)


def warm_up(*, wait: bool = False) -> bool:
    """Have the machine code made, once; tell whether there is any to come.

    Parameters
    ----------
    wait
        Return only when it is there.
    """
    global _warming  # noqa: PLW0603 - one a process
    if not can_compile():
        return False
    with _lock:
        if _warming is None:
            _warming = threading.Thread(target=_warm, name="placement loops", daemon=True)
            _warming.start()
    if wait:
        _ready.wait()
    return True


def _chosen(module: ModuleType, subflows: int) -> ModuleType:
    if warm_up(wait=subflows >= _MANY):
        return compiled(module.__name__) if _ready.is_set() else module
    return module


def _warm() -> None:
    """Call every loop once, with the types that plans have."""
    try:
        few = np.arange(2, dtype=np.int32)
        colour.exercise(compiled(colour.__name__), few)
        search.exercise(compiled(search.__name__), few)
        chains.exercise(compiled(chains.__name__), few)
    finally:
        _ready.set()
