"""A frame survives the wire, and what is no frame has a reason."""

import dataclasses

import numpy as np
import pytest

from cluster.frame import Frame, Layout, SeriesKey
from pipelines.errors import DecodeError
from pipelines.messages.frames import FrameDecoder, encode_frame
from pipelines.wire import telemetry_pb2 as pb

NAN = float("nan")
LAYOUT = Layout((SeriesKey("gpu/h1:G", "gpu_power_watts"), SeriesKey("link/a:b", "m", 'q="3"')))


def frame(**changes):
    made = Frame(
        source="host/h1",
        cell="pod1",
        layout=LAYOUT,
        time_ns=np.array([20, 10], np.int64),
        values=np.array([[1.5, NAN], [-0.0, 1e300]]),
        received_ns=30,
        collector="c1",
        sequence=7,
        ended_columns=(1,),
    )
    return dataclasses.replace(made, **changes)


def parts(given):
    return (
        given.source,
        given.cell,
        given.layout,
        given.time_ns.tolist(),
        given.values.tobytes(),
        given.received_ns,
        given.collector,
        given.sequence,
        given.ended_columns,
    )


@pytest.mark.parametrize(
    "sent",
    [
        frame(),
        frame(time_ns=np.empty(0, np.int64), values=np.empty((0, 2))),
        frame(layout=Layout(()), values=np.empty((2, 0)), ended_columns=()),
    ],
)
def test_frame_comes_back_as_it_was_sent(sent):
    assert parts(FrameDecoder().decode(encode_frame(sent, with_layout=True))) == parts(sent)


def test_layout_is_remembered_from_an_earlier_frame():
    decoder = FrameDecoder()
    later = encode_frame(frame(sequence=8), with_layout=False)
    with pytest.raises(DecodeError) as unknown:
        decoder.decode(later)
    assert unknown.value.reason == "unknown_layout"
    decoder.decode(encode_frame(frame(), with_layout=True))
    assert parts(decoder.decode(later)) == parts(frame(sequence=8))


def _with(**fields):
    message = pb.Frame.FromString(encode_frame(frame(), with_layout=True))
    for name, value in fields.items():
        setattr(message, name, value)
    return message.SerializeToString()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xff", "not_a_frame"),
        (_with(values=b"1234567"), "not_a_frame"),
        (_with(layout_id=1), "not_a_frame"),
        (_with(values=np.array([1.0, np.inf, 1.0, 1.0]).tobytes()), "not_finite"),
    ],
)
def test_what_is_no_frame_has_a_reason(data, reason):
    with pytest.raises(DecodeError) as refused:
        FrameDecoder().decode(data)
    assert refused.value.reason == reason


def test_samples_are_the_readings_that_are_there():
    assert frame().samples == 3
