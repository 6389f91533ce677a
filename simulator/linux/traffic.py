"""Numbered UDP and TCP traffic between lab hosts, and what became of it.

``python -m simulator.linux.traffic send|receive ...`` obeys lines on its input: ``report`` is
answered with a line of JSON, ``stop`` ends the sending (and is answered likewise), the input's end
ends the process.
"""

import argparse
import ctypes
import json
import os
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

# Flow, number of the packet in it from 0; filled up to a block's size.
_HEAD: Final = struct.Struct("!IQ")
BLOCK_BYTES: Final = 100
_BUFFER_BYTES: Final = 1 << 23
_TICK_SECONDS: Final = 0.002
# Fields of Linux' struct tcp_info.
_CLONE_NEWNET: Final = 0x40000000
_TCP_INFO_BYTES: Final = 232
_TOTAL_RETRANS: Final = 100
_OUT_OF_ORDER: Final = 224


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficFlow:
    """One connection; ``protocol`` is ``udp`` or ``tcp``."""

    flow: int
    protocol: str
    source_port: int
    target: str
    target_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """Packets per second of each flow, while it sends: ``busy_seconds`` of every period.

    Periods begin at multiples of ``period_seconds`` of the monotonic clock; 0 = all the time.
    """

    rate: float
    period_seconds: float = 0.0
    busy_seconds: float = 0.0

    def is_busy(self, now: float) -> bool:
        return self.period_seconds <= 0 or now % self.period_seconds < self.busy_seconds


@dataclass(slots=True)
class Seen:
    """What a receiver saw of one flow.

    Attributes
    ----------
    reordered
        UDP packets that came after a later one; TCP segments that came out of order.
    doubled
        Packets, or for TCP blocks of the stream, that were not the next one though none was late.
    """

    received: int = 0
    reordered: int = 0
    doubled: int = 0
    highest: int = -1

    def take(self, number: int) -> None:
        self.received += 1
        if number < self.highest:
            self.reordered += 1
        elif number == self.highest:
            self.doubled += 1
        else:
            self.highest = number


@dataclass(slots=True)
class Sender:
    """Sends every flow's packets at their times, one flow after the other."""

    flows: Sequence[TrafficFlow]
    rhythm: Rhythm
    sent: dict[int, int] = field(default_factory=dict)
    is_sending: bool = True
    _sockets: dict[int, socket.socket] = field(default_factory=dict)
    _order: list[tuple[int, socket.socket]] = field(default_factory=list)
    _next: int = 0
    _due: float = 0.0

    def open(self) -> None:
        for flow in self.flows:
            kind = socket.SOCK_DGRAM if flow.protocol == "udp" else socket.SOCK_STREAM
            opened = socket.socket(socket.AF_INET, kind)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(("", flow.source_port))
            opened.connect((flow.target, flow.target_port))
            if flow.protocol == "tcp":
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets[flow.flow] = opened
            self.sent[flow.flow] = 0
        self._order = list(self._sockets.items())
        self._due = time.monotonic()

    def tick(self) -> None:
        now = time.monotonic()
        if not self.is_sending or not self.rhythm.is_busy(now):
            self._due = now
            return
        while self._due <= now:
            flow, opened = self._order[self._next]
            number = self.sent[flow]
            opened.sendall(_HEAD.pack(flow, number).ljust(BLOCK_BYTES, b"\0"))
            self.sent[flow] = number + 1
            self._next = (self._next + 1) % len(self._order)
            self._due += 1.0 / (self.rhythm.rate * len(self._order))

    def stop(self) -> None:
        self.is_sending = False

    def report(self) -> dict[str, Any]:
        retransmitted = {
            flow.flow: _tcp_info(self._sockets[flow.flow], _TOTAL_RETRANS)
            for flow in self.flows
            if flow.protocol == "tcp"
        }
        return {"sent": self.sent, "retransmitted": retransmitted}


@dataclass(slots=True)
class Receiver:
    """Takes what comes to one UDP and one TCP port, and tells whether it came in order."""

    port: int
    seen: dict[int, Seen] = field(default_factory=dict)
    _selector: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)
    _streams: dict[int, tuple[socket.socket, bytearray, int]] = field(default_factory=dict)

    def open(self) -> None:
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.setsockopt(socket.SOL_SOCKET, 33, _BUFFER_BYTES)  # SO_RCVBUFFORCE
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for opened, act in ((datagrams, self._datagrams), (listener, self._accept)):
            opened.bind(("", self.port))
            opened.setblocking(False)
            self._selector.register(opened, selectors.EVENT_READ, act)
        listener.listen(128)

    def tick(self) -> None:
        for key, _ in self._selector.select(timeout=0):
            key.data(key.fileobj)

    def stop(self) -> None:
        """Nothing to do: it takes what comes."""

    def report(self) -> dict[str, Any]:
        for opened, _, flow in self._streams.values():
            if flow >= 0:
                self.seen[flow].reordered = _tcp_info(opened, _OUT_OF_ORDER)
        return {"seen": {flow: asdict(seen) for flow, seen in self.seen.items()}}

    def _datagrams(self, opened: socket.socket) -> None:
        while True:
            try:
                data = opened.recv(2048)
            except BlockingIOError:
                return
            self._take(data)

    def _take(self, data: bytes) -> int:
        flow, number = _HEAD.unpack_from(data)
        self.seen.setdefault(flow, Seen()).take(number)
        return int(flow)

    def _accept(self, listener: socket.socket) -> None:
        opened, _ = listener.accept()
        opened.setblocking(False)
        self._streams[opened.fileno()] = (opened, bytearray(), -1)
        self._selector.register(opened, selectors.EVENT_READ, self._stream)

    def _stream(self, opened: socket.socket) -> None:
        data = opened.recv(1 << 16)
        _, waiting, flow = self._streams[opened.fileno()]
        if not data:
            self._selector.unregister(opened)
            return
        waiting += data
        while len(waiting) >= BLOCK_BYTES:
            flow = self._take(bytes(waiting[:BLOCK_BYTES]))
            del waiting[:BLOCK_BYTES]
        self._streams[opened.fileno()] = (opened, waiting, flow)


def _tcp_info(opened: socket.socket, offset: int) -> int:
    info = opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    if len(info) < offset + 4:
        return 0  # an older kernel does not tell
    return int(struct.unpack_from("@I", info, offset)[0])


def _run(end: Sender | Receiver) -> None:
    """Tick until the input ends; time is kept by sleeping on the input."""
    end.open()
    _say({"ready": True})
    orders = selectors.DefaultSelector()
    orders.register(sys.stdin, selectors.EVENT_READ)
    waiting = b""
    while True:
        end.tick()
        if not orders.select(timeout=_TICK_SECONDS):
            continue
        data = os.read(sys.stdin.fileno(), 4096)
        if not data:
            return
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            _obey(end, line.decode().strip())


def _obey(end: Sender | Receiver, order: str) -> None:
    if order == "stop":
        end.stop()
    _say(end.report())


def _say(told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def _enter(namespace: str) -> None:
    """Put this whole process into a namespace, for good.

    Raises
    ------
    OSError
        There is none of that name, or it may not be entered.
    """
    with Path("/run/netns", namespace).open() as opened:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(opened.fileno(), _CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), namespace)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m simulator.linux.traffic", description=__doc__)
    parser.add_argument("role", choices=("send", "receive"))
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--cpu", type=int, default=-1, help="stay on one; packets keep their order")
    parser.add_argument("--port", type=int, default=4791, help="to receive on")
    parser.add_argument("--flows", default="[]", help="JSON list of flows to send")
    parser.add_argument("--rate", type=float, default=100.0, help="packets/s of each flow")
    parser.add_argument("--period", type=float, default=0.0, help="seconds")
    parser.add_argument("--busy", type=float, default=0.0, help="seconds of each period")
    told = parser.parse_args()
    _enter(told.namespace)
    if told.cpu >= 0:
        os.sched_setaffinity(0, {told.cpu})
    end: Callable[[], Sender | Receiver] = (
        (lambda: Receiver(told.port)) if told.role == "receive" else (lambda: _sender(told))
    )
    _run(end())


def _sender(told: argparse.Namespace) -> Sender:
    rhythm = Rhythm(rate=told.rate, period_seconds=told.period, busy_seconds=told.busy)
    return Sender([TrafficFlow(**flow) for flow in json.loads(told.flows)], rhythm)


if __name__ == "__main__":
    main()
