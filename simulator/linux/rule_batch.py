"""Many policy rules in one netlink message: added and removed in milliseconds."""

import os
import socket
import struct
from collections.abc import Sequence
from errno import EEXIST, ENOENT, ESRCH
from functools import lru_cache
from ipaddress import ip_network
from typing import Final, NamedTuple

# linux/netlink.h, linux/rtnetlink.h, linux/fib_rules.h
_NLMSG: Final = struct.Struct("=IHHII")
_RULE: Final = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE: Final = struct.Struct("=HH")
_ERROR: Final = struct.Struct("=i")
_NEWRULE, _DELRULE, _NLMSG_ERROR = 32, 33, 2
_REQUEST, _ACK, _CREATE, _EXCL = 0x1, 0x4, 0x400, 0x200
_TO_TABLE: Final = 1
_DST, _SRC, _PRIORITY, _TABLE, _IP_PROTO, _SPORT, _DPORT = 1, 2, 6, 15, 22, 23, 24
_RECEIVED_BYTES: Final = 1 << 16
_AT_ONCE: Final = 64  # answers fit the socket's buffer


class KernelRule(NamedTuple):
    """An ``ip rule``; what is empty or 0 matches anything, ports are ``lower:upper``."""

    priority: int
    source: str
    target: str
    protocol: int
    source_ports: str
    target_ports: str
    table: int


def send(link: socket.socket, *, add: Sequence[KernelRule], remove: Sequence[KernelRule]) -> None:
    """Add, then remove; what is there or gone already is no fault.

    Raises
    ------
    OSError
        The kernel refuses a rule; those before it are done.
    """
    messages = [
        *(_message(_NEWRULE, _REQUEST | _ACK | _CREATE | _EXCL, rule) for rule in add),
        *(_message(_DELRULE, _REQUEST | _ACK, rule) for rule in remove),
    ]
    for n in range(0, len(messages), _AT_ONCE):
        part = messages[n : n + _AT_ONCE]
        link.send(b"".join(part))
        _await_answers(link, len(part))


def _await_answers(link: socket.socket, count: int) -> None:
    fault = 0
    while count:
        data = link.recv(_RECEIVED_BYTES)
        at = 0
        while at < len(data):
            length, kind, *_ = _NLMSG.unpack_from(data, at)
            if kind == _NLMSG_ERROR:
                code = -_ERROR.unpack_from(data, at + _NLMSG.size)[0]
                fault = fault or (0 if code in (0, EEXIST, ENOENT, ESRCH) else code)
                count -= 1
            at += (length + 3) & ~3
    if fault:
        raise OSError(fault, f"rule: {os.strerror(fault)}")


def _message(kind: int, flags: int, rule: KernelRule) -> bytes:
    source, target = _network(rule.source), _network(rule.target)
    body = _RULE.pack(socket.AF_INET, target[1], source[1], 0, 0, 0, 0, _TO_TABLE, 0)
    body += _attribute(_DST, target[0]) + _attribute(_SRC, source[0])
    body += _attribute(_PRIORITY, struct.pack("=I", rule.priority))
    body += _attribute(_TABLE, struct.pack("=I", rule.table))
    body += _attribute(_IP_PROTO, bytes([rule.protocol]) if rule.protocol else b"")
    body += _attribute(_SPORT, _ports(rule.source_ports))
    body += _attribute(_DPORT, _ports(rule.target_ports))
    return _NLMSG.pack(_NLMSG.size + len(body), kind, flags, 0, 0) + body


def _attribute(kind: int, value: bytes) -> bytes:
    if not value:
        return b""
    told = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value
    return told.ljust((len(told) + 3) & ~3, b"\0")


@lru_cache(maxsize=4096)
def _network(prefix: str) -> tuple[bytes, int]:
    if not prefix:
        return b"", 0
    network = ip_network(prefix)
    return network.network_address.packed, network.prefixlen


def _ports(text: str) -> bytes:
    if not text:
        return b""
    lower, _, upper = text.partition(":")
    return struct.pack("=HH", int(lower), int(upper))
