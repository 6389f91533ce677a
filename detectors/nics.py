"""Is it a NIC? Less through it than through the other rails of its node or job."""

from cluster import component as names
from detectors.evidence import Diagnosis, Scene, told_by
from detectors.records import Cause, Detection, RuledOut, Scope

_RATES = frozenset(
    {
        "rdma_port_transmit_bytes_per_second",
        "rdma_port_receive_bytes_per_second",
        "rdma_port_reported_transmit_bytes_per_second",
        "rdma_port_reported_receive_bytes_per_second",
    }
)
_STRAIN = frozenset(
    {
        "rdma_port_transmit_wait_per_second",
        "rdma_np_cnp_sent_per_second",
        "rdma_rp_cnp_handled_per_second",
    }
)


def diagnose_nics(scene: Scene) -> list[Diagnosis]:
    """Return NICs that left their peers; what the rails of a node share is load."""
    found = []
    for component, detections in scene.by_component.items():
        if names.kind_of(component) != "nic":
            continue
        left = [
            d for d in told_by(detections, _RATES) if d.scope is Scope.PEERS and d.shift_sigmas < 0
        ]
        if left:
            found.append(_slow(scene, component, detections, left))
    return found


def _slow(scene: Scene, nic: str, detections: list[Detection], left: list[Detection]) -> Diagnosis:
    strained = told_by(detections, _STRAIN)
    jobs = tuple(
        job.component for job in scene.jobs.values() if any(r.nic == nic for r in job.ranks)
    )
    lost = 1.0 - min(d.after / d.before for d in left if d.before > 0.0)
    return Diagnosis(
        component=nic,
        cause=Cause.CONGESTION if strained else Cause.LINK_DEGRADED,
        evidence=(*left, *strained),
        confidence=0.5 if len(left) == 1 else 0.7,
        sure=False,
        affected=jobs,
        ruled_out=()
        if strained
        else (
            RuledOut(
                component=nic,
                cause=Cause.CONGESTION,
                reason="nobody marked or paused its packets more than before",
            ),
        ),
        summary=f"{nic} carries {lost:.0%} less than its peers do",
    )
