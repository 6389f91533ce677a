"""Where embedded services listen and what they wrote, for the one who starts them."""

import socket
from pathlib import Path

_TAIL_BYTES = 2000


def free_port(host: str, port: int) -> int:
    """Return `port` when it can be listened on, or any free one for 0.

    Raises
    ------
    OSError
        Something listens there, or the address is not this machine's.
    """
    with socket.socket() as probe:
        # Connections of an earlier process that still linger do not make the port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])


def log_tail(log_path: Path) -> str:
    """Return the end of a service's log, for the message that says why it did not start."""
    if not log_path.exists():
        return "it wrote nothing"
    return log_path.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip()
