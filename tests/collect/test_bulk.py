"""Many responses at once say what each says by itself."""

import struct
from collections import Counter

from gnmi_pb import gnmi_pb2 as gnmi
from google.protobuf.message import DecodeError as ProtobufError
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.collect.bulk import BulkDecoder, Several
from pipelines.collect.decode import NotificationDecoder
from pipelines.collect.paths import parse_path
from pipelines.errors import DecodeError
from tests.collect.notifications import CASES, responses
from tests.paths import data_path

PREFIXES = [
    gnmi.Path(),
    parse_path("/interfaces/interface[name=Ethernet1]/state/counters"),
    parse_path("/interfaces/interface[name=Ethernet2]/state/counters"),
    gnmi.Path(origin="openconfig", target="leaf1"),
    gnmi.Path(element=["interfaces", "interface[name=Ethernet1]", "state"]),
]
PATHS = [
    parse_path(text)
    for text in (
        "/in-octets",
        "/out-octets",
        "/interfaces/interface[name=Ethernet1]/state/counters/in-octets",
        "/openconfig-interfaces:interfaces/interface[name=Ethernet1]/state/oper-status",
        "/interfaces/interface[name=Ethernet3]/state/name",
        "/components/component[name=a][b=c]/state/temperature/instant",
        "/components/component[name=Ethernet1]/transceiver/state/input-power/instant",
        "/interfaces/interface[name=Ethernet4]/ethernet/state/port-speed",
    )
]
TIMES = [0, 1, -1, 1_700_000_000_000_000_000, 1_700_000_001_000_000_000, 2**63 - 1]
INT64 = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 1, 127, 128, 2**53 + 1, -1])
UINT64 = st.integers(0, 2**64 - 1) | st.integers(0, 300) | st.just(2**64 - 1)

scalars = st.one_of(
    st.builds(lambda v: gnmi.TypedValue(uint_val=v), UINT64),
    st.builds(lambda v: gnmi.TypedValue(int_val=v), INT64),
    st.builds(lambda v: gnmi.TypedValue(bool_val=v), st.booleans()),
    st.builds(lambda v: gnmi.TypedValue(double_val=v), st.floats()),
    st.builds(lambda v: gnmi.TypedValue(float_val=v), st.floats(width=32)),
)
others = st.one_of(
    st.sampled_from(
        [
            gnmi.TypedValue(string_val=text)
            for text in ("UP", "DOWN", "openconfig:UP", "", "12", "-1.5e3", "a\u00e9")
        ]
    ),
    st.just(gnmi.TypedValue(ascii_val=" 7 ")),
    st.just(gnmi.TypedValue(ascii_val="UP")),
    st.just(gnmi.TypedValue(bytes_val=b"\xc1\x20\x00\x00")),
    st.just(gnmi.TypedValue(decimal_val=gnmi.Decimal64(digits=-1234, precision=2))),
    st.just(gnmi.TypedValue(leaflist_val=gnmi.ScalarArray(element=[gnmi.TypedValue(uint_val=3)]))),
    st.just(gnmi.TypedValue(json_ietf_val=b'{"a": "1", "b": [{"name": "x", "c": 2}]}')),
    st.just(gnmi.TypedValue(json_val=b"{")),
    st.just(gnmi.TypedValue(json_val=b"-" + b"9" * 400)),
    st.just(gnmi.TypedValue(decimal_val=gnmi.Decimal64(digits=1, precision=2**32 - 1))),
    st.just(gnmi.TypedValue()),
)


@st.composite
def notifications(draw, values=scalars):
    """The layout is one of few, so that the values of one shape differ."""
    paths = draw(st.sampled_from([PATHS[:2], PATHS[:1], PATHS[2:4], PATHS[3:6], PATHS, PATHS[5:]]))
    return gnmi.Notification(
        timestamp=draw(st.sampled_from(TIMES)),
        prefix=draw(st.sampled_from(PREFIXES)),
        update=[gnmi.Update(path=path, val=draw(values)) for path in paths],
    )


def _deleted(odd):
    odd.delete.add().CopyFrom(PATHS[0])


def _deleted_below(odd):
    odd.delete.add().CopyFrom(parse_path("/interfaces"))


def _repeated(odd):
    odd.update.append(odd.update[0])


def _emptied(odd):
    del odd.update[:]


def _misspelt(odd):
    odd.update.add().path.element.append("[k=v]")


ODD = [
    lambda odd: None,
    lambda odd: setattr(odd, "atomic", True),
    lambda odd: setattr(odd.update[0], "duplicates", 3),
    lambda odd: odd.update[-1].ClearField("val"),
    lambda odd: odd.ClearField("timestamp"),
    _deleted,
    _deleted_below,
    _repeated,
    _emptied,
    _misspelt,
]


@st.composite
def oddities(draw):
    odd = draw(notifications(scalars | others))
    draw(st.sampled_from(ODD))(odd)
    return odd


def _told(notification):
    return gnmi.SubscribeResponse(update=notification).SerializeToString(deterministic=True)


whole = st.one_of(
    *[notifications().map(_told)] * 4,
    oddities().map(_told),
    st.just(gnmi.SubscribeResponse(sync_response=True).SerializeToString()),
)


@st.composite
def broken(draw):
    """A good message of which some bytes are other ones, or are missing."""
    message = bytearray(draw(whole))
    for _ in range(draw(st.integers(1, 3))):
        message[draw(st.integers(0, len(message) - 1))] = draw(st.integers(0, 255))
    return (
        bytes(message[: draw(st.integers(0, len(message)))])
        if draw(st.booleans())
        else bytes(message)
    )


streams = st.lists(st.one_of(whole, whole, whole, broken()), max_size=8)


def by_itself(decoder, message):
    """Return what a message says: when, readings, refused, ended, coalesced."""
    try:
        response = gnmi.SubscribeResponse.FromString(message)
    except ProtobufError:
        return "undecodable"
    if not response.HasField("update"):
        return "no update"
    try:
        found = decoder.decode(response.update)
    except DecodeError as error:
        return error.reason
    readings = [(tuple(key), struct.pack("<d", value)) for key, value in found.readings]
    # In which order series end says nothing.
    return [(found.time_ns, readings)], found.refused, sorted(found.ended), found.coalesced


def together(told, messages, decoder):
    """Return the same of what the bulk decoder tells: of several messages, or of one."""
    if not isinstance(told, Several):
        return by_itself(decoder, messages[told.place])
    times, counts, slots, values = told.readings
    assert len(times) == len(counts) == told.messages
    readings = [
        (tuple(told.slots.keys[slot]), struct.pack("<d", value))
        for slot, value in zip(slots.tolist(), values.tolist(), strict=True)
    ]
    ends = counts.cumsum().tolist()
    parts = [readings[end - count : end] for end, count in zip(ends, counts.tolist(), strict=True)]
    assert len({key for key, _ in readings}) == len(readings)
    return list(zip(times.tolist(), parts, strict=True)), told.refused, [], 0


def sum_up(told):
    """Return several messages' words as one."""
    total = ([], Counter(), [], 0)
    for one in told:
        total = tuple(a + b for a, b in zip(total, one, strict=True))
    return total


def assert_same(batches):
    official, decoder = NotificationDecoder("leaf1"), NotificationDecoder("leaf1")
    bulk = BulkDecoder(decoder)
    for messages in batches:
        place = 0
        for told in bulk.decode(messages):
            found = together(told, messages, decoder)
            if isinstance(told, Several):
                assert told.first == place
                some = messages[place : place + told.messages]
                expected = sum_up(by_itself(official, message) for message in some)
                place += told.messages
            else:
                assert told.place == place
                expected = by_itself(official, messages[place])
                place += 1
            assert found == expected
        assert place == len(messages)


@settings(max_examples=150, deadline=None)
@given(st.lists(streams, max_size=3))
def test_any_messages_say_what_they_say_one_by_one(batches):
    assert_same(batches)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(notifications(), min_size=1, max_size=5, unique_by=_told),
    st.lists(st.lists(scalars, min_size=8, max_size=8), min_size=2, max_size=6),
)
def test_same_paths_with_other_values_say_what_they_say_one_by_one(layouts, rounds):
    batches = []
    for values in rounds:
        batch = []
        for layout in layouts:
            moved = gnmi.Notification()
            moved.CopyFrom(layout)
            for update, value in zip(moved.update, values, strict=False):
                update.val.CopyFrom(value)
            batch.append(_told(moved))
        batches.append(batch)
    assert_same(batches)


def test_recorded_messages_say_what_they_say_one_by_one():
    texts = [(case / "input.jsonl").read_text() for case in sorted(CASES.iterdir())]
    texts += [
        path.read_text()
        for path in sorted(data_path("samples/gnmi").glob("*.jsonl"))
        if path.name != "gnmic_events.jsonl"
    ]
    for text in texts:
        messages = [response.SerializeToString(deterministic=True) for response in responses(text)]
        assert_same([messages, messages])


def _port(number, value, *, time_ns=5):
    prefix = parse_path(f"/interfaces/interface[name=Ethernet{number}]/state/counters")
    return _told(
        gnmi.Notification(
            timestamp=time_ns,
            prefix=prefix,
            update=[
                gnmi.Update(path=path, val=gnmi.TypedValue(uint_val=value)) for path in PATHS[:2]
            ],
        )
    )


def test_paths_that_come_again_are_read_by_column_and_together():
    bulk = BulkDecoder(NotificationDecoder("leaf1"))
    told = [list(bulk.decode([_port(n, 70 + r) for n in range(9)] * 2)) for r in range(3)]
    assert [[(one.first, one.messages) for one in each] for each in told] == [[(0, 9), (9, 9)]] * 3


def test_series_that_a_delete_ended_is_live_again_when_it_is_read_by_column():
    """C12: each delete tells of it once."""
    decoder = NotificationDecoder("leaf1")
    bulk = BulkDecoder(decoder)
    gone = gnmi.Notification(timestamp=2, delete=[parse_path("/interfaces")])
    for _ in range(3):
        list(bulk.decode([_port(1, 7), _port(1, 8)]))
        assert len(decoder.decode(gone).ended) == 2
        assert decoder.decode(gone).ended == []


def test_names_that_come_and_go_cost_no_memory_in_the_end():
    """C16."""
    decoder = NotificationDecoder("leaf1", paths_kept=20)
    bulk = BulkDecoder(decoder)
    for number in range(500):
        (told,) = bulk.decode([_port(number, 7)])
        assert together(told, [_port(number, 7)], decoder) == by_itself(
            NotificationDecoder("leaf1"), _port(number, 7)
        )
    assert len(decoder._paths) + len(decoder._older) <= 42
    assert sum(map(len, bulk._learned._paths.values())) <= 42
    assert sum(len(by) for known in bulk._learned._known.values() for by in known.values()) <= 42
