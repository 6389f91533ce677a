from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Frame(_message.Message):
    __slots__ = ("source", "cell", "layout_id", "layout", "time_ns", "received_ns", "values", "collector", "sequence", "ended_columns")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_ID_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    TIME_NS_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_NS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    COLLECTOR_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ENDED_COLUMNS_FIELD_NUMBER: _ClassVar[int]
    source: str
    cell: str
    layout_id: int
    layout: Layout
    time_ns: _containers.RepeatedScalarFieldContainer[int]
    received_ns: int
    values: bytes
    collector: str
    sequence: int
    ended_columns: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, source: _Optional[str] = ..., cell: _Optional[str] = ..., layout_id: _Optional[int] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ..., time_ns: _Optional[_Iterable[int]] = ..., received_ns: _Optional[int] = ..., values: _Optional[bytes] = ..., collector: _Optional[str] = ..., sequence: _Optional[int] = ..., ended_columns: _Optional[_Iterable[int]] = ...) -> None: ...

class Layout(_message.Message):
    __slots__ = ("columns",)
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    columns: _containers.RepeatedCompositeFieldContainer[Column]
    def __init__(self, columns: _Optional[_Iterable[_Union[Column, _Mapping]]] = ...) -> None: ...

class Column(_message.Message):
    __slots__ = ("component", "metric", "attributes")
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    METRIC_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    component: str
    metric: str
    attributes: str
    def __init__(self, component: _Optional[str] = ..., metric: _Optional[str] = ..., attributes: _Optional[str] = ...) -> None: ...

class Detection(_message.Message):
    __slots__ = ("detection_id", "cell", "component", "metric", "attributes", "detector", "scope", "onset_ns", "detected_ns", "shift_sigmas", "before", "after")
    DETECTION_ID_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    METRIC_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    DETECTOR_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ONSET_NS_FIELD_NUMBER: _ClassVar[int]
    DETECTED_NS_FIELD_NUMBER: _ClassVar[int]
    SHIFT_SIGMAS_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    detection_id: str
    cell: str
    component: str
    metric: str
    attributes: str
    detector: str
    scope: str
    onset_ns: int
    detected_ns: int
    shift_sigmas: float
    before: float
    after: float
    def __init__(self, detection_id: _Optional[str] = ..., cell: _Optional[str] = ..., component: _Optional[str] = ..., metric: _Optional[str] = ..., attributes: _Optional[str] = ..., detector: _Optional[str] = ..., scope: _Optional[str] = ..., onset_ns: _Optional[int] = ..., detected_ns: _Optional[int] = ..., shift_sigmas: _Optional[float] = ..., before: _Optional[float] = ..., after: _Optional[float] = ...) -> None: ...

class Alert(_message.Message):
    __slots__ = ("alert_id", "cell", "component", "cause", "state", "revision", "severity", "onset_ns", "detected_ns", "revised_ns", "confidence", "evidence", "ruled_out", "affected", "summary", "false_alarms_per_day")
    ALERT_ID_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    ONSET_NS_FIELD_NUMBER: _ClassVar[int]
    DETECTED_NS_FIELD_NUMBER: _ClassVar[int]
    REVISED_NS_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    RULED_OUT_FIELD_NUMBER: _ClassVar[int]
    AFFECTED_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    FALSE_ALARMS_PER_DAY_FIELD_NUMBER: _ClassVar[int]
    alert_id: str
    cell: str
    component: str
    cause: str
    state: str
    revision: int
    severity: str
    onset_ns: int
    detected_ns: int
    revised_ns: int
    confidence: float
    evidence: _containers.RepeatedCompositeFieldContainer[Detection]
    ruled_out: _containers.RepeatedCompositeFieldContainer[RuledOut]
    affected: _containers.RepeatedScalarFieldContainer[str]
    summary: str
    false_alarms_per_day: float
    def __init__(self, alert_id: _Optional[str] = ..., cell: _Optional[str] = ..., component: _Optional[str] = ..., cause: _Optional[str] = ..., state: _Optional[str] = ..., revision: _Optional[int] = ..., severity: _Optional[str] = ..., onset_ns: _Optional[int] = ..., detected_ns: _Optional[int] = ..., revised_ns: _Optional[int] = ..., confidence: _Optional[float] = ..., evidence: _Optional[_Iterable[_Union[Detection, _Mapping]]] = ..., ruled_out: _Optional[_Iterable[_Union[RuledOut, _Mapping]]] = ..., affected: _Optional[_Iterable[str]] = ..., summary: _Optional[str] = ..., false_alarms_per_day: _Optional[float] = ...) -> None: ...

class RuledOut(_message.Message):
    __slots__ = ("component", "cause", "reason")
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    component: str
    cause: str
    reason: str
    def __init__(self, component: _Optional[str] = ..., cause: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DecisionEvent(_message.Message):
    __slots__ = ("decision_id", "alert_id", "cell", "sequence", "at_ns", "event", "reason_code", "reason", "mode", "actor", "action", "effect", "constraints_checked", "rejected_alternatives", "evidence_ids", "component", "cause", "config_hash", "previous_hash", "event_hash")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    ALERT_ID_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_CHECKED_FIELD_NUMBER: _ClassVar[int]
    REJECTED_ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_IDS_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_HASH_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HASH_FIELD_NUMBER: _ClassVar[int]
    EVENT_HASH_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    alert_id: str
    cell: str
    sequence: int
    at_ns: int
    event: str
    reason_code: str
    reason: str
    mode: str
    actor: str
    action: Action
    effect: Effect
    constraints_checked: _containers.RepeatedScalarFieldContainer[str]
    rejected_alternatives: _containers.RepeatedCompositeFieldContainer[Alternative]
    evidence_ids: _containers.RepeatedScalarFieldContainer[str]
    component: str
    cause: str
    config_hash: str
    previous_hash: str
    event_hash: str
    def __init__(self, decision_id: _Optional[str] = ..., alert_id: _Optional[str] = ..., cell: _Optional[str] = ..., sequence: _Optional[int] = ..., at_ns: _Optional[int] = ..., event: _Optional[str] = ..., reason_code: _Optional[str] = ..., reason: _Optional[str] = ..., mode: _Optional[str] = ..., actor: _Optional[str] = ..., action: _Optional[_Union[Action, _Mapping]] = ..., effect: _Optional[_Union[Effect, _Mapping]] = ..., constraints_checked: _Optional[_Iterable[str]] = ..., rejected_alternatives: _Optional[_Iterable[_Union[Alternative, _Mapping]]] = ..., evidence_ids: _Optional[_Iterable[str]] = ..., component: _Optional[str] = ..., cause: _Optional[str] = ..., config_hash: _Optional[str] = ..., previous_hash: _Optional[str] = ..., event_hash: _Optional[str] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("action_id", "kind", "target", "parameter", "from_value", "to_value", "changes", "expected_gain_ratio", "expected_cost_seconds", "driver")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_FIELD_NUMBER: _ClassVar[int]
    FROM_VALUE_FIELD_NUMBER: _ClassVar[int]
    TO_VALUE_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_GAIN_RATIO_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_COST_SECONDS_FIELD_NUMBER: _ClassVar[int]
    DRIVER_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    kind: str
    target: str
    parameter: str
    from_value: str
    to_value: str
    changes: _containers.RepeatedCompositeFieldContainer[Change]
    expected_gain_ratio: float
    expected_cost_seconds: float
    driver: str
    def __init__(self, action_id: _Optional[str] = ..., kind: _Optional[str] = ..., target: _Optional[str] = ..., parameter: _Optional[str] = ..., from_value: _Optional[str] = ..., to_value: _Optional[str] = ..., changes: _Optional[_Iterable[_Union[Change, _Mapping]]] = ..., expected_gain_ratio: _Optional[float] = ..., expected_cost_seconds: _Optional[float] = ..., driver: _Optional[str] = ...) -> None: ...

class Change(_message.Message):
    __slots__ = ("target", "path", "from_value", "to_value")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    FROM_VALUE_FIELD_NUMBER: _ClassVar[int]
    TO_VALUE_FIELD_NUMBER: _ClassVar[int]
    target: str
    path: str
    from_value: str
    to_value: str
    def __init__(self, target: _Optional[str] = ..., path: _Optional[str] = ..., from_value: _Optional[str] = ..., to_value: _Optional[str] = ...) -> None: ...

class Alternative(_message.Message):
    __slots__ = ("action_kind", "target", "reason")
    ACTION_KIND_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    action_kind: str
    target: str
    reason: str
    def __init__(self, action_kind: _Optional[str] = ..., target: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class Effect(_message.Message):
    __slots__ = ("component", "metric", "better", "healthy", "before", "after", "gain_low_ratio", "gain_high_ratio", "samples", "verdict")
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    METRIC_FIELD_NUMBER: _ClassVar[int]
    BETTER_FIELD_NUMBER: _ClassVar[int]
    HEALTHY_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    GAIN_LOW_RATIO_FIELD_NUMBER: _ClassVar[int]
    GAIN_HIGH_RATIO_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    component: str
    metric: str
    better: str
    healthy: float
    before: float
    after: float
    gain_low_ratio: float
    gain_high_ratio: float
    samples: int
    verdict: str
    def __init__(self, component: _Optional[str] = ..., metric: _Optional[str] = ..., better: _Optional[str] = ..., healthy: _Optional[float] = ..., before: _Optional[float] = ..., after: _Optional[float] = ..., gain_low_ratio: _Optional[float] = ..., gain_high_ratio: _Optional[float] = ..., samples: _Optional[int] = ..., verdict: _Optional[str] = ...) -> None: ...

class Approval(_message.Message):
    __slots__ = ("request_id", "decision_id", "cell", "verb", "who", "why", "at_ns")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    VERB_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    decision_id: str
    cell: str
    verb: str
    who: str
    why: str
    at_ns: int
    def __init__(self, request_id: _Optional[str] = ..., decision_id: _Optional[str] = ..., cell: _Optional[str] = ..., verb: _Optional[str] = ..., who: _Optional[str] = ..., why: _Optional[str] = ..., at_ns: _Optional[int] = ...) -> None: ...

class DeadLetter(_message.Message):
    __slots__ = ("reason", "detail", "source", "topic", "partition", "offset", "at_ns", "payload", "cell", "samples", "letter_id")
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    LETTER_ID_FIELD_NUMBER: _ClassVar[int]
    reason: str
    detail: str
    source: str
    topic: str
    partition: int
    offset: int
    at_ns: int
    payload: bytes
    cell: str
    samples: int
    letter_id: str
    def __init__(self, reason: _Optional[str] = ..., detail: _Optional[str] = ..., source: _Optional[str] = ..., topic: _Optional[str] = ..., partition: _Optional[int] = ..., offset: _Optional[int] = ..., at_ns: _Optional[int] = ..., payload: _Optional[bytes] = ..., cell: _Optional[str] = ..., samples: _Optional[int] = ..., letter_id: _Optional[str] = ...) -> None: ...

class Delivery(_message.Message):
    __slots__ = ("delivery_id", "attempt", "endpoint", "event_type", "subject_id", "at_ns", "state", "status", "detail", "duration_seconds", "cell")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    attempt: int
    endpoint: str
    event_type: str
    subject_id: str
    at_ns: int
    state: str
    status: int
    detail: str
    duration_seconds: float
    cell: str
    def __init__(self, delivery_id: _Optional[str] = ..., attempt: _Optional[int] = ..., endpoint: _Optional[str] = ..., event_type: _Optional[str] = ..., subject_id: _Optional[str] = ..., at_ns: _Optional[int] = ..., state: _Optional[str] = ..., status: _Optional[int] = ..., detail: _Optional[str] = ..., duration_seconds: _Optional[float] = ..., cell: _Optional[str] = ...) -> None: ...

class BaselineSnapshot(_message.Message):
    __slots__ = ("cell", "format", "next_offsets", "at_ns", "state", "broker_epoch")
    class NextOffsetsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    CELL_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    AT_NS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    BROKER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    cell: str
    format: str
    next_offsets: _containers.ScalarMap[str, int]
    at_ns: int
    state: bytes
    broker_epoch: str
    def __init__(self, cell: _Optional[str] = ..., format: _Optional[str] = ..., next_offsets: _Optional[_Mapping[str, int]] = ..., at_ns: _Optional[int] = ..., state: _Optional[bytes] = ..., broker_epoch: _Optional[str] = ...) -> None: ...
