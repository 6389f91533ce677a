"""Sets of a weight of leaf2, and the extensions they carry."""

import grpc
import pytest
from gnmi_pb import gnmi_ext_pb2, gnmi_pb2
from google.protobuf.duration_pb2 import Duration

from tests.simulator.running import weight_path

WEIGHT = weight_path("10.0.1.0/24", "spine3")
KEY = (1, 0, 2)


def write(value: int, **extension: object) -> gnmi_pb2.SetRequest:
    return gnmi_pb2.SetRequest(
        update=[gnmi_pb2.Update(path=WEIGHT, val=gnmi_pb2.TypedValue(uint_val=value))],
        extension=[commit(**extension)] if extension else [],
    )


def commit(**parts: object) -> gnmi_ext_pb2.Extension:
    return gnmi_ext_pb2.Extension(commit=gnmi_ext_pb2.Commit(**parts))


def request(seconds: float) -> gnmi_ext_pb2.CommitRequest:
    return gnmi_ext_pb2.CommitRequest(rollback_duration=duration(seconds))


def duration(seconds: float) -> Duration:
    told = Duration()
    told.FromNanoseconds(int(seconds * 1e9))
    return told


async def refused(call) -> grpc.StatusCode:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value.code()


def only(**parts: object) -> gnmi_pb2.SetRequest:
    return gnmi_pb2.SetRequest(extension=[commit(**parts)])
