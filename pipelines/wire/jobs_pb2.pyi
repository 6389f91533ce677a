from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JobMessage(_message.Message):
    __slots__ = ("announcement", "step", "result")
    ANNOUNCEMENT_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    announcement: JobAnnouncement
    step: StepReport
    result: DirectiveResult
    def __init__(self, announcement: _Optional[_Union[JobAnnouncement, _Mapping]] = ..., step: _Optional[_Union[StepReport, _Mapping]] = ..., result: _Optional[_Union[DirectiveResult, _Mapping]] = ...) -> None: ...

class JobAnnouncement(_message.Message):
    __slots__ = ("job_id", "cell", "kind", "ranks", "collectives", "priority", "at_ns")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    COLLECTIVES_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    cell: str
    kind: str
    ranks: _containers.RepeatedCompositeFieldContainer[Rank]
    collectives: _containers.RepeatedCompositeFieldContainer[Collective]
    priority: int
    at_ns: int
    def __init__(self, job_id: _Optional[str] = ..., cell: _Optional[str] = ..., kind: _Optional[str] = ..., ranks: _Optional[_Iterable[_Union[Rank, _Mapping]]] = ..., collectives: _Optional[_Iterable[_Union[Collective, _Mapping]]] = ..., priority: _Optional[int] = ..., at_ns: _Optional[int] = ...) -> None: ...

class Rank(_message.Message):
    __slots__ = ("rank", "gpu", "nic", "micro_batches", "data_parallel_group", "connections")
    RANK_FIELD_NUMBER: _ClassVar[int]
    GPU_FIELD_NUMBER: _ClassVar[int]
    NIC_FIELD_NUMBER: _ClassVar[int]
    MICRO_BATCHES_FIELD_NUMBER: _ClassVar[int]
    DATA_PARALLEL_GROUP_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    rank: int
    gpu: str
    nic: str
    micro_batches: int
    data_parallel_group: int
    connections: _containers.RepeatedCompositeFieldContainer[Connection]
    def __init__(self, rank: _Optional[int] = ..., gpu: _Optional[str] = ..., nic: _Optional[str] = ..., micro_batches: _Optional[int] = ..., data_parallel_group: _Optional[int] = ..., connections: _Optional[_Iterable[_Union[Connection, _Mapping]]] = ...) -> None: ...

class Connection(_message.Message):
    __slots__ = ("peer", "source_port")
    PEER_FIELD_NUMBER: _ClassVar[int]
    SOURCE_PORT_FIELD_NUMBER: _ClassVar[int]
    peer: int
    source_port: int
    def __init__(self, peer: _Optional[int] = ..., source_port: _Optional[int] = ...) -> None: ...

class Collective(_message.Message):
    __slots__ = ("kind", "algorithm", "bytes", "period_seconds", "ranks", "phase_seconds", "duration_seconds", "servers")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    PERIOD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    PHASE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    SERVERS_FIELD_NUMBER: _ClassVar[int]
    kind: str
    algorithm: str
    bytes: float
    period_seconds: float
    ranks: _containers.RepeatedScalarFieldContainer[int]
    phase_seconds: float
    duration_seconds: float
    servers: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, kind: _Optional[str] = ..., algorithm: _Optional[str] = ..., bytes: _Optional[float] = ..., period_seconds: _Optional[float] = ..., ranks: _Optional[_Iterable[int]] = ..., phase_seconds: _Optional[float] = ..., duration_seconds: _Optional[float] = ..., servers: _Optional[_Iterable[int]] = ...) -> None: ...

class StepReport(_message.Message):
    __slots__ = ("step", "at_ns", "step_seconds", "communication_seconds", "rank_compute_seconds", "rank_micro_batches")
    STEP_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    STEP_SECONDS_FIELD_NUMBER: _ClassVar[int]
    COMMUNICATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    RANK_COMPUTE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    RANK_MICRO_BATCHES_FIELD_NUMBER: _ClassVar[int]
    step: int
    at_ns: int
    step_seconds: float
    communication_seconds: float
    rank_compute_seconds: _containers.RepeatedScalarFieldContainer[float]
    rank_micro_batches: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, step: _Optional[int] = ..., at_ns: _Optional[int] = ..., step_seconds: _Optional[float] = ..., communication_seconds: _Optional[float] = ..., rank_compute_seconds: _Optional[_Iterable[float]] = ..., rank_micro_batches: _Optional[_Iterable[int]] = ...) -> None: ...

class Directive(_message.Message):
    __slots__ = ("directive_id", "parameter", "values")
    DIRECTIVE_ID_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    directive_id: str
    parameter: str
    values: _containers.RepeatedCompositeFieldContainer[RankValue]
    def __init__(self, directive_id: _Optional[str] = ..., parameter: _Optional[str] = ..., values: _Optional[_Iterable[_Union[RankValue, _Mapping]]] = ...) -> None: ...

class RankValue(_message.Message):
    __slots__ = ("rank", "value", "connection")
    RANK_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_FIELD_NUMBER: _ClassVar[int]
    rank: int
    value: float
    connection: int
    def __init__(self, rank: _Optional[int] = ..., value: _Optional[float] = ..., connection: _Optional[int] = ...) -> None: ...

class DirectiveResult(_message.Message):
    __slots__ = ("directive_id", "state", "detail")
    DIRECTIVE_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    directive_id: str
    state: str
    detail: str
    def __init__(self, directive_id: _Optional[str] = ..., state: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class ApplyRequest(_message.Message):
    __slots__ = ("job_id", "directive", "timeout_seconds")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTIVE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    directive: Directive
    timeout_seconds: float
    def __init__(self, job_id: _Optional[str] = ..., directive: _Optional[_Union[Directive, _Mapping]] = ..., timeout_seconds: _Optional[float] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class JobState(_message.Message):
    __slots__ = ("announcement", "last_step", "joined")
    ANNOUNCEMENT_FIELD_NUMBER: _ClassVar[int]
    LAST_STEP_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    announcement: JobAnnouncement
    last_step: StepReport
    joined: bool
    def __init__(self, announcement: _Optional[_Union[JobAnnouncement, _Mapping]] = ..., last_step: _Optional[_Union[StepReport, _Mapping]] = ..., joined: _Optional[bool] = ...) -> None: ...

class JobEvent(_message.Message):
    __slots__ = ("job_id", "cell", "event", "at_ns", "announcement")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCEMENT_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    cell: str
    event: str
    at_ns: int
    announcement: JobAnnouncement
    def __init__(self, job_id: _Optional[str] = ..., cell: _Optional[str] = ..., event: _Optional[str] = ..., at_ns: _Optional[int] = ..., announcement: _Optional[_Union[JobAnnouncement, _Mapping]] = ...) -> None: ...
