"""Rules of OpenConfig policy forwarding: what they match, where they send, how they are written."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from actuators.steering.classes import LARGEST_PORT

_PORTS: Final = re.compile(r"^(\d{1,5})(?:\.\.(\d{1,5}))?$")
_PROTOCOLS: Final = {"tcp": "IP_TCP", "udp": "IP_UDP"}
# Word in a rule's text, and the leaf below the rule's entry.
_LEAVES: Final = {
    "from": "ipv4/config/source-address",
    "to": "ipv4/config/destination-address",
    "protocol": "ipv4/config/protocol",
    "source-port": "transport/config/source-port",
    "destination-port": "transport/config/destination-port",
    "via": "action/config/next-hop",
}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Match:
    """The packets a rule is for; what is empty matches anything.

    Attributes
    ----------
    source, target
        Prefixes, ``10.1.0.3/32``.
    protocol
        ``tcp`` or ``udp``.
    source_ports, target_ports
        ``49152``, or ``49152..50175`` with both ends in it.

    Raises
    ------
    ValueError
        It matches everything, or something is malformed.
    """

    source: str = ""
    target: str = ""
    protocol: str = ""
    source_ports: str = ""
    target_ports: str = ""

    def __post_init__(self) -> None:
        ports = (self.source_ports, self.target_ports)
        if not any((self.source, self.target, self.protocol, *ports)):
            raise ValueError("rule matches every packet")
        if self.protocol and self.protocol not in _PROTOCOLS:
            raise ValueError(f"protocol is {self.protocol!r}, not one of {sorted(_PROTOCOLS)}")
        for told in ports:
            _check_ports(told)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Rule:
    """One rule: of several that match, the one with the smallest ``sequence_id`` decides.

    Attributes
    ----------
    next_hop
        Address of the neighbour the packets are sent to.
    """

    sequence_id: int
    match: Match
    next_hop: str

    def text(self) -> str:
        """Return match and next hop in one line: ``from 10.1.0.3/32 protocol udp via 10.0.0.1``."""
        told = self._told()
        return " ".join(f"{word} {value}" for word, value in told.items() if value)

    def leaves(self) -> dict[str, str | int]:
        """Return the OpenConfig leaves below the rule's entry; those that match anything absent."""
        told = {_LEAVES[word]: value for word, value in self._told().items() if value}
        if self.match.protocol:
            told[_LEAVES["protocol"]] = _PROTOCOLS[self.match.protocol]
        return {"config/sequence-id": self.sequence_id, **told}

    def _told(self) -> dict[str, str]:
        match = self.match
        return {
            "from": match.source,
            "to": match.target,
            "protocol": match.protocol,
            "source-port": match.source_ports,
            "destination-port": match.target_ports,
            "via": self.next_hop,
        }


def rule_of_text(sequence_id: int, text: str) -> Rule:
    """Return the rule that `Rule.text` wrote.

    Raises
    ------
    ValueError
        It is malformed.
    """
    words = text.split(" ")
    told = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or not told.keys() <= _LEAVES.keys() or "via" not in told:
        raise ValueError(f"rule {sequence_id} is {text!r}, not words of {', '.join(_LEAVES)}")
    return _rule(sequence_id, told)


def rule_of_leaves(leaves: Mapping[str, str]) -> Rule:
    """Return the rule a switch tells of, by leaf below the rule's entry.

    Raises
    ------
    ValueError
        It is not one that `Rule` can say: something else is matched or done.
    """
    words = {leaf: word for word, leaf in _LEAVES.items()}
    config = {leaf: value for leaf, value in leaves.items() if "state/" not in leaf}
    number = config.pop("config/sequence-id", "")
    strange = sorted(config.keys() - words.keys() - {"sequence-id"})
    if strange or not number.isdigit():
        raise ValueError(f"rule {number!r} has {', '.join(strange) or 'no sequence-id'}")
    told = {words[leaf]: value for leaf, value in config.items() if leaf in words}
    if "protocol" in told:
        told["protocol"] = _protocol(told["protocol"])
    return _rule(int(number), told)


def _rule(sequence_id: int, told: Mapping[str, str]) -> Rule:
    match = Match(
        source=told.get("from", ""),
        target=told.get("to", ""),
        protocol=told.get("protocol", ""),
        source_ports=told.get("source-port", ""),
        target_ports=told.get("destination-port", ""),
    )
    return Rule(sequence_id=sequence_id, match=match, next_hop=told.get("via", ""))


def _protocol(told: str) -> str:
    name = told.rpartition(":")[2]
    by_number = {"6": "tcp", "17": "udp"}
    by_name = {name: word for word, name in _PROTOCOLS.items()}
    return by_name.get(name) or by_number.get(name, name)


def _check_ports(ports: str) -> None:
    if not ports:
        return
    match = _PORTS.match(ports)
    if match is None or not 0 < int(match[1]) <= int(match[2] or match[1]) <= LARGEST_PORT:
        raise ValueError(f"ports are {ports!r}, not a port or lower..upper")
