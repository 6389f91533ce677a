"""One supervisor per state directory: two would write over each other's state."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.errors import ConfigError


@contextmanager
def alone_in(state_dir: Path) -> Iterator[None]:
    """Hold the directory's lock; the kernel lets go of it when the process ends, however it ends.

    Raises
    ------
    ConfigError
        Somebody else holds it.
    """
    state_dir.mkdir(parents=True, exist_ok=True)
    with (state_dir / "up.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(f"{state_dir}: another `trimtab up` runs here") from error
        yield
