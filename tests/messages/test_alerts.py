"""An alert on the wire is the alert."""

from dataclasses import replace

import pytest

from detectors.records import Alert, AlertState, Cause, RuledOut, Severity
from pipelines.errors import DecodeError
from pipelines.messages.alerts import decode_alert, encode_alert
from tests.detectors.test_joins import shift

ALERT = Alert(
    alert_id="a1",
    cell="pod1",
    component="gpu/h1:GPU-1",
    cause=Cause.SLOW_GPU_THERMAL,
    state=AlertState.OPENED,
    revision=1,
    severity=Severity.WARNING,
    onset_ns=1,
    detected_ns=2,
    revised_ns=3,
    confidence=0.85,
    evidence=(shift("gpu_sm_clock_hertz"),),
    ruled_out=(RuledOut(component="gpu/h1:GPU-1", cause=Cause.SLOW_GPU_POWER, reason="none"),),
    affected=("job/pretrain",),
    summary="slow",
    false_alarms_per_day=0.003,
)


@pytest.mark.parametrize("alert", [ALERT, replace(ALERT, false_alarms_per_day=0.0)])
def test_an_alert_comes_back_with_its_bound(alert):
    assert decode_alert(encode_alert(alert)) == alert


def test_another_cause_is_no_alert():
    with pytest.raises(DecodeError, match="other"):
        decode_alert(encode_alert(replace(ALERT, cause="other")))
