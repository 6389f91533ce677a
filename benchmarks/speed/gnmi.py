"""Notifications decoded, against protobuf's own parsing of the same bytes."""

from gnmi_pb import gnmi_pb2 as gnmi

from benchmarks.row import Row, rate
from pipelines.collect.decode import NotificationDecoder

_PORTS, _LEAVES = (
    32,
    ("in-octets", "out-octets", "in-pkts", "out-pkts", "in-errors", "out-discards"),
)


def rows() -> list[Row]:
    data = [_notification(f"Ethernet{port}") for port in range(_PORTS)]
    decoder = NotificationDecoder("leaf1")

    def ours() -> int:
        parsed = map(gnmi.Notification.FromString, data)
        return sum(len(decoder.decode(notification).readings) for notification in parsed)

    def parsed_only() -> int:
        return sum(len(gnmi.Notification.FromString(one).update) for one in data)

    value = rate(ours)
    return [
        Row(
            id="I1-proto-updates",
            what="gNMI updates decoded to readings; bound: parsing the messages alone",
            value=value,
            bound=rate(parsed_only),
            target=3e6,
            holds=value >= 3e6,
            unit="updates/s",
        )
    ]


def _notification(interface: str) -> bytes:
    elem = gnmi.PathElem
    prefix = [elem(name="interfaces"), elem(name="interface", key={"name": interface})]
    prefix += [elem(name="state"), elem(name="counters")]
    return gnmi.Notification(
        timestamp=1_700_000_000_000_000_000,
        prefix=gnmi.Path(elem=prefix),
        update=[
            gnmi.Update(
                path=gnmi.Path(elem=[elem(name=leaf)]), val=gnmi.TypedValue(uint_val=10**12 + i)
            )
            for i, leaf in enumerate(_LEAVES)
        ],
    ).SerializeToString()
