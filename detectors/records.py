"""What detection and diagnosis tell: detections and alerts."""

from dataclasses import dataclass
from enum import StrEnum

from cluster.frame import SeriesKey


class Scope(StrEnum):
    """What a series was compared with."""

    SELF = "self"
    PEERS = "peers"


class Cause(StrEnum):
    """The closed list of what can be wrong with a component."""

    LINK_DEGRADED = "link_degraded"
    CONGESTION = "congestion"
    SILENT_DROP = "silent_drop"
    SLOW_GPU_THERMAL = "slow_gpu_thermal"
    SLOW_GPU_POWER = "slow_gpu_power"
    SLOW_GPU_CLOCK = "slow_gpu_clock"
    SLOW_GPU_MEMORY_ERRORS = "slow_gpu_memory_errors"
    SLOW_HOST = "slow_host"
    STORAGE_STALL = "storage_stall"
    WORKLOAD_IMBALANCE = "workload_imbalance"
    STAGE_IMBALANCE = "stage_imbalance"
    EXPERT_HOT_SPOT = "expert_hot_spot"
    PREFILL_STARVED = "prefill_starved"
    DECODE_STARVED = "decode_starved"
    BATCH_TOO_LARGE = "batch_too_large"
    BATCH_TOO_SMALL = "batch_too_small"
    KV_PRESSURE = "kv_pressure"
    TELEMETRY_FAULT = "telemetry_fault"
    UNEXPLAINED = "unexplained"


class AlertState(StrEnum):
    OPENED = "opened"
    UPDATED = "updated"
    RESOLVED = "resolved"


class Severity(StrEnum):
    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A shift found in one series, or of one series against its peers.

    Attributes
    ----------
    detection_id
        The same for the same shift on every replay.
    onset_ns
        Device time where the shift is estimated to begin.
    detected_ns
        Device time of the sample that told.
    shift_sigmas
        Signed distance from the baseline.
    before, after
        Level of the baseline and now, in the metric's unit.
    """

    detection_id: str
    cell: str
    series: SeriesKey
    detector: str
    scope: Scope
    onset_ns: int
    detected_ns: int
    shift_sigmas: float
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """A hypothesis that the evidence speaks against, with the reason."""

    component: str
    cause: Cause
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One revision of a diagnosed degradation of one component.

    Attributes
    ----------
    alert_id
        The same for every revision, and the same on every replay.
    revision
        1 = opened.
    onset_ns, detected_ns, revised_ns
        Device time: when it began, when revision 1 was told, when this revision was.
    confidence
        0 to 1.
    affected
        Components that suffer from it, jobs and services first.
    false_alarms_per_day
        How many alerts with this much evidence chance alone opens in the cell in a day, at most;
        0 = its evidence is a fact that a source told, no statistic.
    """

    alert_id: str
    cell: str
    component: str
    cause: Cause
    state: AlertState
    revision: int
    severity: Severity
    onset_ns: int
    detected_ns: int
    revised_ns: int
    confidence: float
    evidence: tuple[Detection, ...]
    ruled_out: tuple[RuledOut, ...] = ()
    affected: tuple[str, ...] = ()
    summary: str = ""
    false_alarms_per_day: float = 0.0
