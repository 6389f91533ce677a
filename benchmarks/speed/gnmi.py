"""Responses decoded to readings, against protobuf's own parsing of the same bytes."""

from gnmi_pb import gnmi_pb2 as gnmi

from benchmarks.row import Row, core_rate
from benchmarks.speed.responses import Round
from pipelines.collect.bulk import BulkDecoder, Several
from pipelines.collect.decode import NotificationDecoder
from pipelines.collect.frames import Frames

_TARGET = 3e6
_PORTS, _LEAVES, _ROUNDS = 32, 6, 50


class _Clock:
    def now_ns(self) -> int:
        return 1


def rows() -> list[Row]:
    return [_decoded(), _one_by_one(), _framed()]


def _decoded() -> Row:
    messages = [m for one in Round(ports=_PORTS, leaves=_LEAVES).advanced(_ROUNDS) for m in one]
    decoder = BulkDecoder(NotificationDecoder("leaf1"))

    def ours() -> int:
        return sum(
            len(told.readings.values)
            for told in decoder.decode(messages)
            if isinstance(told, Several)
        )

    def parsed_only() -> int:
        return sum(len(gnmi.SubscribeResponse.FromString(m).update.update) for m in messages)

    if ours() != parsed_only():
        raise ValueError(f"{ours()} readings of {parsed_only()} updates")
    value = core_rate(ours)
    return Row(
        id="I1-proto-updates",
        what="gNMI updates decoded to readings; baseline: parsing the messages alone",
        value=value,
        baseline=core_rate(parsed_only),
        target=_TARGET,
        holds=value >= _TARGET,
        unit="updates/s",
    )


def _one_by_one() -> Row:
    (messages,) = Round(ports=_PORTS, leaves=_LEAVES).advanced(1)
    decoder = NotificationDecoder("leaf1")

    def general() -> int:
        parsed = map(gnmi.SubscribeResponse.FromString, messages)
        return sum(len(decoder.decode(response.update).readings) for response in parsed)

    return Row(
        id="I1-general",
        what="the same by the official messages, as odd ones are decoded",
        value=core_rate(general, repeats=2),
        unit="updates/s",
    )


def _framed() -> Row:
    """From messages to frames, a flush for each interval of the switch."""
    switch = Round(ports=_PORTS, leaves=_LEAVES)
    decoder = BulkDecoder(NotificationDecoder("leaf1"))
    sent: list[int] = []
    frames = Frames(send=lambda _, frame: sent.append(frame.samples), clock=_Clock())

    def work() -> int:
        sent.clear()
        for messages in switch.advanced(_ROUNDS):
            for told in decoder.decode(messages):
                if not isinstance(told, Several):
                    raise TypeError("a plain message was odd")
                frames.take_columns(
                    "switch/leaf1", "pod1", told.slots, told.readings, received_ns=1
                )
            frames.flush()
        return sum(sent)

    return Row(
        id="I1-frames",
        what="the same to encoded frames, one an interval; making the messages is included",
        value=core_rate(work),
        unit="updates/s",
    )
