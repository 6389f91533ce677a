"""Frames on the wire: values travel as one little-endian block, columns only now and then."""

from collections import OrderedDict

import numpy as np
from google.protobuf.message import DecodeError as ProtobufError

from cluster.frame import Frame, Layout, SeriesKey
from pipelines.errors import DecodeError
from pipelines.wire import telemetry_pb2 as pb

_LAYOUTS_KEPT = 10_000


def encode_frame(frame: Frame, *, with_layout: bool) -> bytes:
    """Return the frame as a protobuf message; the layout itself travels only when asked for."""
    message = pb.Frame(
        source=frame.source,
        cell=frame.cell,
        layout_id=frame.layout.layout_id,
        time_ns=frame.time_ns.tolist(),
        received_ns=frame.received_ns,
        values=np.ascontiguousarray(frame.values, dtype="<f8").tobytes(),
        collector=frame.collector,
        sequence=frame.sequence,
        ended_columns=frame.ended_columns,
    )
    if with_layout:
        message.layout.columns.extend(
            pb.Column(component=c.component, metric=c.metric, attributes=c.attributes)
            for c in frame.layout.columns
        )
    return message.SerializeToString()


class FrameDecoder:
    """Turns messages into frames; remembers layouts, the least recently used are forgotten."""

    def __init__(self) -> None:
        self._layouts: OrderedDict[int, Layout] = OrderedDict()

    def decode(self, data: bytes) -> Frame:
        """Return the frame.

        Raises
        ------
        DecodeError
            ``not_a_frame``: no such message, or its parts do not fit each other;
            ``unknown_layout``: the layout was not seen yet, it comes again with a later frame;
            ``not_finite``: an infinite value.
        """
        try:
            message = pb.Frame.FromString(data)
        except ProtobufError as error:
            raise DecodeError("not_a_frame", str(error)) from error
        layout = self._layout(message)
        rows, columns = len(message.time_ns), len(layout.columns)
        if len(message.values) != 8 * rows * columns:
            raise DecodeError(
                "not_a_frame",
                f"{len(message.values)} bytes of values for {rows} rows of {columns} columns",
            )
        values = np.frombuffer(message.values, dtype="<f8").reshape(rows, columns)
        if np.isinf(values).any():
            raise DecodeError("not_finite", f"infinite value from {message.source!r}")
        return Frame(
            source=message.source,
            cell=message.cell,
            layout=layout,
            time_ns=np.array(message.time_ns, dtype=np.int64),
            values=values,
            received_ns=message.received_ns,
            collector=message.collector,
            sequence=message.sequence,
            ended_columns=tuple(c for c in message.ended_columns if c < columns),
        )

    def remember(self, layout: Layout) -> None:
        """Know a layout from elsewhere, as if a frame had brought it."""
        self._layouts[layout.layout_id] = layout
        if len(self._layouts) > _LAYOUTS_KEPT:
            self._layouts.popitem(last=False)

    def _layout(self, message: pb.Frame) -> Layout:
        if message.HasField("layout"):
            layout = Layout(
                tuple(
                    SeriesKey(c.component, c.metric, c.attributes) for c in message.layout.columns
                )
            )
            if layout.layout_id != message.layout_id:
                raise DecodeError(
                    "not_a_frame", f"layout id {message.layout_id} is not its layout's"
                )
            self.remember(layout)
            return layout
        try:
            self._layouts.move_to_end(message.layout_id)
        except KeyError as error:
            raise DecodeError(
                "unknown_layout", f"layout {message.layout_id} of {message.source!r} not seen yet"
            ) from error
        return self._layouts[message.layout_id]
