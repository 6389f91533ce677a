"""Frames for the detector tests, in a line each."""

import numpy as np

from cluster.frame import Frame, Layout, SeriesKey

SECOND = 1_000_000_000


def frame(columns, rows, *, source="switch/leaf1", cell="pod1", received_ns=None, ended=()):
    """Return a frame of (component, metric[, attributes]) columns and (second, values) rows."""
    times = np.array([int(at * SECOND) for at, _ in rows], dtype=np.int64)
    return Frame(
        source=source,
        cell=cell,
        layout=Layout(tuple(SeriesKey(*column) for column in columns)),
        time_ns=times,
        values=np.array([values for _, values in rows], dtype=float).reshape(len(rows), -1),
        received_ns=int(times.max()) if received_ns is None else received_ns,
        ended_columns=ended,
    )
