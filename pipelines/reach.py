"""Asks by TCP whether a broker is there, before a Kafka client is made.

A client that finds nobody leaks its sockets and logs an error for every refused connection.
"""

import socket

_SECONDS = 2.0


def listens(bootstrap: str) -> bool:
    """Tell whether any of ``host:port,host:port`` takes connections."""
    return any(_connects(address) for address in bootstrap.split(","))


def _connects(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_SECONDS).close()
    except (OSError, ValueError):
        return False
    return True
