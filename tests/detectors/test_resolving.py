"""What keeps an alert open, and what does not."""

from dataclasses import replace

import pytest

from detectors.alerts import AlertBook
from detectors.evidence import Diagnosis
from detectors.false_alarms import Assurance
from detectors.records import AlertState, Cause
from tests.actuators.inputs import SECOND, detection

FEC = detection("port/leaf1:e49", "net_if_fec_corrected_blocks_per_second", name="fec")
VICTIMS = {
    "nic": detection("nic/h1:mlx5_0", "rdma_port_transmit_bytes_per_second", name="nic"),
    "job": detection("job/train", "train_step_seconds", name="job"),
}


def book(*evidence, affected=()):
    made = AlertBook("pod1", join_seconds=8.0, resolve_seconds=20.0)
    found = Diagnosis(
        component="link/leaf1:e49",
        cause=Cause.LINK_DEGRADED,
        evidence=evidence,
        confidence=0.95,
        sure=True,
        affected=affected,
    )
    (opened,) = update(made, [found], evidence, 105)
    assert opened.state is AlertState.OPENED
    return made


def update(made, diagnoses, evidence, second):
    active = {(each.series, each.scope): each for each in evidence}
    return made.update(
        diagnoses,
        active,
        now_ns=second * SECOND,
        at_ns=second * SECOND,
        assurance=Assurance(
            log_evidence=dict.fromkeys(active, 100.0), judged_a_day=1e6, false_alarms_per_day=0.1
        ),
    )


@pytest.mark.parametrize("victim", VICTIMS)
def test_what_suffers_from_a_link_does_not_keep_its_alert_open(victim):
    """A job that has fewer links than before is slower until it gets them back."""
    made = book(FEC, VICTIMS[victim])
    assert update(made, [], (VICTIMS[victim],), 110) == []
    (told,) = update(made, [], (VICTIMS[victim],), 131)
    assert told.state is AlertState.RESOLVED


def test_victim_that_is_still_slower_when_its_culprit_is_well_needs_no_other():
    suffering = replace(VICTIMS["job"], onset_ns=104 * SECOND)
    made = book(FEC, suffering, affected=("job/train",))
    later = Diagnosis(
        component="job/train",
        cause=Cause.UNEXPLAINED,
        evidence=(suffering,),
        confidence=0.3,
        sure=False,
    )
    assert update(made, [later], (suffering,), 110) == []
    (resolved,) = update(made, [later], (suffering,), 131)
    assert resolved.component == "link/leaf1:e49"
    for second in range(132, 200, 5):
        assert update(made, [later], (suffering,), second) == []
    # What begins after that is another matter.
    anew = replace(later, evidence=(replace(suffering, onset_ns=210 * SECOND),))
    told = [a for s in range(212, 240, 4) for a in update(made, [anew], anew.evidence, s)]
    assert [(a.component, a.cause) for a in told] == [("job/train", Cause.UNEXPLAINED)]


def test_errors_of_its_ports_keep_it_open():
    made = book(FEC, VICTIMS["nic"])
    for second in range(110, 200, 10):
        assert update(made, [], (FEC,), second) == []
