"""A gNMI target that replays responses serialised before, as fast as its client takes them.

HTTP/2 by hand, only what one Subscribe needs: the simulator builds each message anew, and would be
what is measured. Every response is a DATA frame of its own, as gRPC servers send it.
"""

import contextlib
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.responses import Round

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _SETTINGS, _PING, _WINDOW_UPDATE = 0, 1, 4, 6, 8
_ACK: Final = 1
_INITIAL_WINDOW: Final = 4
# :status 200, content-type application/grpc
_ANSWER: Final = b"\x88\x0f\x10\x10application/grpc"
_HEAD_BYTES: Final = 9
_LARGEST_WRITE: Final = 256 * 1024


@dataclass(slots=True)
class _Windows:
    """What the client is ready to take, in bytes."""

    connection: int = 65_535
    stream: int = 65_535
    initial: int = 65_535


class _Client:
    """One connection, one Subscribe."""

    def __init__(self, connection: socket.socket, rounds: Iterator["Framed"]) -> None:
        self._connection = connection
        self._rounds = rounds
        self._windows = _Windows()
        self._changed = threading.Condition()
        self._is_open = True

    def serve(self) -> None:
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(ConnectionError):
            self._read(self._connection.makefile("rb"))
        with self._changed:
            self._is_open = False
            self._changed.notify()

    def _read(self, stream: BinaryIO) -> None:
        if stream.read(len(_PREFACE)) != _PREFACE:
            return
        self._send(_frame(_SETTINGS, 0, 0, b""))
        sender: threading.Thread | None = None
        while head := stream.read(_HEAD_BYTES):
            size, kind, flags = int.from_bytes(head[:3]), head[3], head[4]
            number = int.from_bytes(head[5:])
            body = stream.read(size)
            if kind == _HEADERS and sender is None:
                sender = threading.Thread(target=self._replay, args=(number,), daemon=True)
                sender.start()
            elif kind == _SETTINGS and not flags & _ACK:
                self._settings(body)
            elif kind == _PING and not flags & _ACK:
                self._send(_frame(_PING, _ACK, 0, body))
            elif kind == _WINDOW_UPDATE:
                self._widen(number, int.from_bytes(body))

    def _settings(self, body: bytes) -> None:
        for place in range(0, len(body), 6):
            name, value = struct.unpack_from(">HI", body, place)
            if name == _INITIAL_WINDOW:
                with self._changed:
                    self._windows.stream += value - self._windows.initial
                    self._windows.initial = value
                    self._changed.notify()
        self._send(_frame(_SETTINGS, _ACK, 0, b""))

    def _widen(self, stream: int, size: int) -> None:
        with self._changed:
            if stream:
                self._windows.stream += size
            else:
                self._windows.connection += size
            self._changed.notify()

    def _replay(self, stream: int) -> None:
        self._send(_frame(_HEADERS, 4, stream, _ANSWER))
        for framed in self._rounds:
            framed.of_stream(stream)
            done = 0
            while done < len(framed.ends):
                upto = self._granted(framed, done)
                if upto == done:
                    return
                self._send(framed.data[framed.start(done) : framed.ends[upto - 1]])
                done = upto

    def _granted(self, framed: "Framed", done: int) -> int:
        """Wait until the next message may be sent; return how far one write may go."""
        with self._changed:
            while self._is_open:
                window = min(self._windows.connection, self._windows.stream, _LARGEST_WRITE)
                before = framed.payload(done)
                upto = int(np.searchsorted(framed.paid, before + window, side="right"))
                if upto > done:
                    self._windows.connection -= framed.payload(upto) - before
                    self._windows.stream -= framed.payload(upto) - before
                    return upto
                self._changed.wait(1.0)
        return done

    def _send(self, data: bytes | memoryview) -> None:
        try:
            self._connection.sendall(data)
        except OSError:
            with self._changed:
                self._is_open = False


class Framed:
    """A round's responses as DATA frames, one behind the other."""

    def __init__(self, messages: list[bytes]) -> None:
        framed = [
            _frame(_DATA, 0, 1, b"\0" + len(message).to_bytes(4) + message) for message in messages
        ]
        sizes = np.array([len(one) for one in framed])
        self._bytes = bytearray(b"".join(framed))
        self.data = memoryview(self._bytes)
        self.array: NDArray[np.uint8] = np.frombuffer(self._bytes, np.uint8)
        self.ends: list[int] = np.cumsum(sizes).tolist()
        self.paid: NDArray[np.int64] = np.cumsum(sizes - _HEAD_BYTES)
        self.starts = np.array([0, *self.ends[:-1]])

    def start(self, message: int) -> int:
        return self.ends[message - 1] if message else 0

    def payload(self, messages: int) -> int:
        return int(self.paid[messages - 1]) if messages else 0

    def of_stream(self, stream: int) -> None:
        for i, octet in enumerate(stream.to_bytes(4)):
            self.array[self.starts + 5 + i] = octet


def _frame(kind: int, flags: int, stream: int, body: bytes) -> bytes:
    head = len(body).to_bytes(3) + bytes((kind, flags)) + stream.to_bytes(4)
    return head + body


def _rounds(messages: Round, rounds: int) -> Iterator[Framed]:
    """Yield the round again and again with later times and higher counts."""
    framed = Framed(messages.messages)
    starts = framed.starts + _HEAD_BYTES + 5
    for _ in range(rounds):
        yield framed
        messages.advance(framed.array, starts)


def _listen(listener: socket.socket, ports: int, leaves: int, rounds: int) -> None:
    while True:
        connection, _ = listener.accept()
        client = _Client(connection, _rounds(Round(ports=ports, leaves=leaves), rounds))
        threading.Thread(target=client.serve, daemon=True).start()


def main() -> None:
    """Serve; arguments: switches, ports of each, leaves of each port, rounds."""
    switches, ports, leaves, rounds = map(int, sys.argv[1:5])
    # Each has an address of its own: a client may share one connection between equal ones.
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(switches)]
    print(*(listener.getsockname()[1] for listener in listeners), flush=True)
    for listener in listeners:
        threading.Thread(target=_listen, args=(listener, ports, leaves, rounds)).start()


if __name__ == "__main__":
    main()
