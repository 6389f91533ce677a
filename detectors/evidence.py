"""What the shifts of single series speak for: sets of metrics, and the scene they are seen in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cluster import component as names
from cluster.topology import Topology
from detectors.jobs import Job
from detectors.judge import Judged
from detectors.peers import Peers
from detectors.records import Cause, Detection, RuledOut, Scope

PHYSICAL = frozenset(
    {
        "net_if_fec_corrected_blocks_per_second",
        "net_if_fec_uncorrectable_blocks_per_second",
        "net_if_pre_fec_ber_ratio",
        "net_if_in_fcs_errors_per_second",
        "net_if_in_crc_errors_per_second",
        "net_if_in_errors_per_second",
        "net_if_out_errors_per_second",
        "net_if_oper_up",
        "net_optics_input_power_dbm",
        "net_optics_osnr_decibels",
        "net_optics_signal_lost",
        "net_optics_output_power_dbm",
        "net_optics_laser_temperature_celsius",
    }
)
PORT_RATES = frozenset({"net_if_in_octets_per_second", "net_if_out_octets_per_second"})
CONGESTION = frozenset(
    {
        "net_if_in_discards_per_second",
        "net_if_out_discards_per_second",
        "net_queue_dropped_packets_per_second",
        "net_queue_ecn_marked_packets_per_second",
    }
)
SILENT_DROPS = frozenset(
    {"net_pipeline_adverse_drops_per_second", "net_pipeline_no_route_drops_per_second"}
)
GPU_CLOCKS = frozenset({"gpu_sm_clock_hertz", "gpu_memory_clock_hertz"})
GPU_THERMAL = frozenset(
    {
        "gpu_temperature_celsius",
        "gpu_memory_temperature_celsius",
        "gpu_thermal_violation_seconds_per_second",
    }
)
GPU_POWER = frozenset({"gpu_power_violation_seconds_per_second"})
GPU_MEMORY = frozenset(
    {
        "gpu_ecc_single_bit_errors_per_second",
        "gpu_ecc_double_bit_errors_per_second",
        "gpu_remapped_rows_correctable_per_second",
        "gpu_remapped_rows_uncorrectable_per_second",
        "gpu_row_remap_failure",
    }
)
RANK_COMPUTE = "train_rank_compute_seconds"
JOB_TIMES = frozenset({"train_step_seconds", "train_communication_seconds"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One hypothesis that the evidence speaks for.

    Attributes
    ----------
    sure
        Told at once; otherwise after the time that detections are joined over.
    apart
        An event of its own; otherwise part of whatever else changed at about the same time.
    critical
        The component does not do its work at all.
    """

    component: str
    cause: Cause
    evidence: tuple[Detection, ...]
    confidence: float
    sure: bool
    affected: tuple[str, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    summary: str = ""
    apart: bool = True
    critical: bool = False

    @property
    def onset_ns(self) -> int:
        return min(detection.onset_ns for detection in self.evidence)


@dataclass
class Scene:
    """All shifts that are told and not over, and what they are seen against.

    ``pool_levels`` are newest medians by (pool, metric).
    """

    active: Mapping[Judged, Detection]
    topology: Topology
    jobs: Mapping[str, Job]
    peers: Peers
    join_ns: int
    pool_levels: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @cached_property
    def by_component(self) -> dict[str, list[Detection]]:
        """Shifts by component, without those that a series' whole group shares."""
        found: dict[str, list[Detection]] = {}
        for detection in sorted(self.active.values(), key=lambda d: (d.onset_ns, d.detection_id)):
            if not self.is_shared(detection):
                found.setdefault(detection.series.component, []).append(detection)
        return found

    def is_shared(self, detection: Detection) -> bool:
        """Tell whether half of the series' group shifted the same way: then it is load."""
        if detection.scope is Scope.PEERS:
            return False
        members = self.peers.members(detection.series)
        if len(members) < 2:  # noqa: PLR2004 - one alone has no peers
            return False
        same = [
            other
            for member in members
            if (other := self.active.get((member, Scope.SELF))) is not None
            and (other.shift_sigmas > 0) == (detection.shift_sigmas > 0)
        ]
        return 2 * len(same) >= len(members) and (detection.series, Scope.PEERS) not in self.active

    def job_shifts(self) -> dict[str, list[Detection]]:
        """Return what each job suffers: shifts of its step and communication time."""
        return {
            component: [d for d in detections if d.series.metric in JOB_TIMES]
            for component, detections in self.by_component.items()
            if names.kind_of(component) == "job"
        }


def metrics_of(detections: Iterable[Detection]) -> set[str]:
    """Return the metrics that shifted."""
    return {detection.series.metric for detection in detections}


def told_by(detections: Iterable[Detection], metrics: Iterable[str]) -> list[Detection]:
    """Return the detections of these metrics."""
    wanted = set(metrics)
    return [detection for detection in detections if detection.series.metric in wanted]
