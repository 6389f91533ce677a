"""Loops over arrays, compiled where numba is installed and run as they are where it is not.

A module of loops marks each with `loop` or `array_loop`. Imported as usual its functions are plain
Python; `compiled` returns a copy of it whose functions are compiled. Both give the same numbers, so
which of them answers is a matter of time only: compiling takes seconds once, then the machine code
is read from numba's cache beside the source, or in the user's cache folder.
"""

import importlib.util
import threading
from collections.abc import Callable
from contextvars import ContextVar
from types import ModuleType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_compiling: ContextVar[bool] = ContextVar("compiling", default=False)
_modules: dict[str, ModuleType] = {}
_lock = threading.Lock()


def loop(function: F) -> F:
    """Mark a function that is compiled in the compiled copy of its module."""
    if not _compiling.get():
        return function
    import numba  # noqa: PLC0415 - it takes a second, and may not be there

    made: Any = numba.njit(cache=True, nogil=True)(function)
    return cast(F, made)


def array_loop(function: F) -> F:
    """Mark a function like `loop`; a division by zero gives inf, as NumPy's does.

    Only so become loops with a division the processor's vector instructions.
    """
    if not _compiling.get():
        return function
    import numba  # noqa: PLC0415 - it takes a second, and may not be there

    made: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast(F, made)


def can_compile() -> bool:
    """Tell whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def compiled(name: str) -> ModuleType:
    """Return the compiled copy of a module of loops; nothing is compiled before its first call.

    Raises
    ------
    ImportError
        numba is not installed.
    """
    with _lock:
        if name not in _modules:
            _modules[name] = _copy(name)
        return _modules[name]


def _copy(name: str) -> ModuleType:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module {name!r}")
    module = importlib.util.module_from_spec(spec)
    token = _compiling.set(True)
    try:
        spec.loader.exec_module(module)
    finally:
        _compiling.reset(token)
    return module
