"""Frames on the wire against one protobuf message a sample."""

import numpy as np

from benchmarks.row import Row, rate
from cluster.frame import Frame, Layout, SeriesKey
from pipelines.messages.frames import FrameDecoder, encode_frame
from pipelines.wire import telemetry_pb2 as pb

_COLUMNS = 1000


def rows() -> list[Row]:
    layout = Layout(
        tuple(
            SeriesKey(f"port/leaf1:Ethernet{i}", "net_if_out_octets_total") for i in range(_COLUMNS)
        )
    )
    frame = Frame(
        source="switch/leaf1",
        cell="pod1",
        layout=layout,
        time_ns=np.array([1_700_000_000_000_000_000]),
        values=np.random.default_rng(1).random((1, _COLUMNS)),
        received_ns=1,
    )
    decoder = FrameDecoder()
    decoder.decode(encode_frame(frame, with_layout=True))
    data = encode_frame(frame, with_layout=False)

    def columns() -> int:
        return int(decoder.decode(data).values.size)

    singles = [
        pb.Detection(
            component=c.component, metric=c.metric, detected_ns=1_700_000_000_000_000_000, after=0.5
        ).SerializeToString()
        for c in layout.columns
    ]

    def messages() -> int:
        return len([pb.Detection.FromString(single) for single in singles])

    return [
        Row(
            id="I4-frame-decode",
            what="samples decoded from frames, against a message a sample",
            value=rate(columns),
            baseline=rate(messages),
            unit="samples/s",
        )
    ]
