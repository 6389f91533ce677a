"""Responses of a switch, serialised once and then moved on in place: later time, higher counts."""

from typing import Final

import numpy as np
from gnmi_pb import gnmi_pb2 as gnmi
from numpy.typing import NDArray

START_NS: Final = 1_796_040_000_000_000_000
_STEP_NS: Final = 1_000_000_000
# What OpenConfig's interface counters name, most asked for first.
LEAVES: Final = (
    "in-octets", "out-octets", "in-pkts", "out-pkts", "in-errors", "out-discards",
    "in-unicast-pkts", "in-broadcast-pkts", "in-multicast-pkts", "in-discards", "in-fcs-errors",
    "in-unknown-protos", "out-unicast-pkts", "out-broadcast-pkts", "out-multicast-pkts",
    "out-errors", "carrier-transitions", "interface-transitions", "link-transitions", "resets",
)  # fmt: skip


class Round:
    """One message for each port of a switch.

    Attributes
    ----------
    messages
        As a SubscribeResponse each.
    """

    def __init__(self, *, ports: int, leaves: int) -> None:
        self.messages = [_response(f"Ethernet{port}", leaves) for port in range(ports)]
        self._time_ns = START_NS
        stamp = _varint(START_NS)
        self._stamps = np.array([message.index(stamp) for message in self.messages])
        # The lowest seven bits of every value; the next has the bits above.
        self._counts = [_low_bytes(message, leaves) for message in self.messages]
        self.updates = ports * leaves

    def advance(self, array: NDArray[np.uint8], starts: NDArray[np.int64]) -> None:
        """Move the messages, which stand at these places, to the next interval."""
        self._time_ns += _STEP_NS
        for i, octet in enumerate(_varint(self._time_ns)):
            array[starts + self._stamps + i] = octet
        places = np.concatenate(
            [start + counts for start, counts in zip(starts, self._counts, strict=True)]
        )
        array[places] = ((array[places] & 0x7F) + 1) % 0x80 | 0x80

    def advanced(self, rounds: int) -> list[list[bytes]]:
        """Return so many rounds, one after the other; the next call goes on from there."""
        sizes = np.array([len(message) for message in self.messages])
        ends = np.cumsum(sizes)
        array = np.frombuffer(bytearray(b"".join(self.messages)), np.uint8)
        found = []
        for _ in range(rounds):
            self.advance(array, ends - sizes)
            data = array.tobytes()
            self.messages = [
                data[e - s : e] for s, e in zip(sizes.tolist(), ends.tolist(), strict=True)
            ]
            found.append(self.messages)
        return found


def _response(interface: str, leaves: int) -> bytes:
    elem = gnmi.PathElem
    prefix = [elem(name="interfaces"), elem(name="interface", key={"name": interface})]
    prefix += [elem(name="state"), elem(name="counters")]
    notification = gnmi.Notification(timestamp=START_NS, prefix=gnmi.Path(elem=prefix))
    for i in range(leaves):
        notification.update.add(
            path=gnmi.Path(elem=[elem(name=LEAVES[i])]), val=gnmi.TypedValue(uint_val=_count(i))
        )
    return gnmi.SubscribeResponse(update=notification).SerializeToString()


def _count(leaf: int) -> int:
    return 10**12 + (leaf << 14)


def _low_bytes(message: bytes, leaves: int) -> NDArray[np.int64]:
    places, place = [], 0
    for i in range(leaves):
        place = message.index(_varint(_count(i)), place)
        places.append(place)
    return np.array(places)


def _varint(number: int) -> bytes:
    octets = []
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])
