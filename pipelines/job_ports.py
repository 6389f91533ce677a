"""A job's end of choosing paths: sockets are bound to the source ports that it was told.

Give `JobPorts.take` the channel's directives and `JobPorts.connections` to its announcement, and
open each connection with `JobPorts.bind`. A connection that is open keeps its port: when
``on_change`` tells that another is wanted, the job opens a new one at its next idle moment, sends
on by it, and closes the old one once that has drained. (A queue pair of RoCE takes the new port
without being opened anew.)
"""

import errno
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from actuators.steering.classes import LARGEST_PORT, PortClasses
from pipelines.wire import jobs_pb2

PARAMETER = "source_port"
_LOWEST_PORT = 1024
OnChange = Callable[[int, int, int], None]
"""Called with rank, connection and the port that it is to be sent from; 0 = any."""


def ignore(rank: int, connection: int, port: int) -> None:
    """Do nothing: the next connection that is opened takes the port."""
    del rank, connection, port


@dataclass(slots=True)
class JobPorts:
    """The source ports of a job's connections.

    Attributes
    ----------
    peers
        By rank, the rank that each of its connections sends to.
    classes
        Ports of one class are worth the same: when a port is taken, another of its class is.
    """

    peers: Mapping[int, Sequence[int]]
    classes: PortClasses = field(default_factory=PortClasses)
    on_change: OnChange = ignore
    _ports: dict[tuple[int, int], int] = field(default_factory=dict)

    def port(self, rank: int, connection: int) -> int:
        """Return what a connection is to be sent from; 0 = as the host picks."""
        return self._ports.get((rank, connection), 0)

    def connections(self, rank: int) -> list[jobs_pb2.Connection]:
        """Return a rank's connections, for the announcement."""
        return [
            jobs_pb2.Connection(peer=peer, source_port=self.port(rank, n))
            for n, peer in enumerate(self.peers.get(rank, ()))
        ]

    def take(self, directive: jobs_pb2.Directive) -> jobs_pb2.DirectiveResult:
        """Take a directive's ports, all or none; taking it twice equals taking it once.

        The answer is ``refused``, with the reason, for another parameter, a rank or connection
        there is none of, or a port outside 0 and 1024 to 65,535.
        """
        refused = self._refused(directive)
        if refused:
            return jobs_pb2.DirectiveResult(state="refused", detail=refused)
        changed = 0
        for value in directive.values:
            port = int(value.value)
            if self.port(value.rank, value.connection) != port:
                self._ports[value.rank, value.connection] = port
                self.on_change(value.rank, value.connection, port)
                changed += 1
        return jobs_pb2.DirectiveResult(state="applied", detail=f"{changed} connections to move")

    def bind(self, opened: socket.socket, rank: int, connection: int, host: str = "") -> int:
        """Bind a socket, before it connects, to the connection's port; return the port it got.

        Raises
        ------
        OSError
            Every port of the class is in use.
        """
        wanted = self.port(rank, connection)
        for port in self._alike(wanted):
            try:
                opened.bind((host, port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return int(opened.getsockname()[1])
        raise OSError(errno.EADDRINUSE, f"every port of the class of {wanted} is in use")

    def _alike(self, port: int) -> Sequence[int]:
        """Return the ports that are worth the same, beginning with this one."""
        number = None if port == 0 else self.classes.class_of(port)
        if number is None:
            return [port]
        first, last = self.classes.bounds(number)
        return [*range(port, last + 1), *range(first, port)]

    def _refused(self, directive: jobs_pb2.Directive) -> str:
        if directive.parameter != PARAMETER:
            return f"parameter is {directive.parameter!r}, not {PARAMETER!r}"
        for value in directive.values:
            if value.connection >= len(self.peers.get(value.rank, ())):
                return f"rank {value.rank} has no connection {value.connection}"
            port = value.value
            if port != int(port) or (port and not _LOWEST_PORT <= port <= LARGEST_PORT):
                return f"port of rank {value.rank} is {port}, not 0 or {_LOWEST_PORT} to 65535"
        return ""
