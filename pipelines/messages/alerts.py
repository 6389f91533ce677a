"""Detections and alerts on the wire."""

from google.protobuf.message import DecodeError as ProtobufError

from cluster.frame import SeriesKey
from detectors.records import Alert, AlertState, Cause, Detection, RuledOut, Scope, Severity
from pipelines.errors import DecodeError
from pipelines.wire import telemetry_pb2 as pb


def encode_detection(detection: Detection) -> bytes:
    return _detection_message(detection).SerializeToString()


def decode_detection(data: bytes) -> Detection:
    """Return the detection.

    Raises
    ------
    DecodeError
        ``not_a_detection``.
    """
    try:
        return _detection(pb.Detection.FromString(data))
    except (ProtobufError, ValueError) as error:
        raise DecodeError("not_a_detection", str(error)) from error


def encode_alert(alert: Alert) -> bytes:
    return pb.Alert(
        alert_id=alert.alert_id,
        cell=alert.cell,
        component=alert.component,
        cause=alert.cause,
        state=alert.state,
        revision=alert.revision,
        severity=alert.severity,
        onset_ns=alert.onset_ns,
        detected_ns=alert.detected_ns,
        revised_ns=alert.revised_ns,
        confidence=alert.confidence,
        evidence=[_detection_message(detection) for detection in alert.evidence],
        ruled_out=[
            pb.RuledOut(component=r.component, cause=r.cause, reason=r.reason)
            for r in alert.ruled_out
        ],
        affected=alert.affected,
        summary=alert.summary,
        false_alarms_per_day=alert.false_alarms_per_day,
    ).SerializeToString()


def decode_alert(data: bytes) -> Alert:
    """Return the alert.

    Raises
    ------
    DecodeError
        ``not_an_alert``: no such message, or a cause, state or severity outside the closed lists.
    """
    try:
        message = pb.Alert.FromString(data)
        return Alert(
            alert_id=message.alert_id,
            cell=message.cell,
            component=message.component,
            cause=Cause(message.cause),
            state=AlertState(message.state),
            revision=message.revision,
            severity=Severity(message.severity),
            onset_ns=message.onset_ns,
            detected_ns=message.detected_ns,
            revised_ns=message.revised_ns,
            confidence=message.confidence,
            evidence=tuple(_detection(detection) for detection in message.evidence),
            ruled_out=tuple(
                RuledOut(component=r.component, cause=Cause(r.cause), reason=r.reason)
                for r in message.ruled_out
            ),
            affected=tuple(message.affected),
            summary=message.summary,
            false_alarms_per_day=message.false_alarms_per_day,
        )
    except (ProtobufError, ValueError) as error:
        raise DecodeError("not_an_alert", str(error)) from error


def _detection_message(detection: Detection) -> pb.Detection:
    return pb.Detection(
        detection_id=detection.detection_id,
        cell=detection.cell,
        component=detection.series.component,
        metric=detection.series.metric,
        attributes=detection.series.attributes,
        detector=detection.detector,
        scope=detection.scope,
        onset_ns=detection.onset_ns,
        detected_ns=detection.detected_ns,
        shift_sigmas=detection.shift_sigmas,
        before=detection.before,
        after=detection.after,
    )


def _detection(message: pb.Detection) -> Detection:
    return Detection(
        detection_id=message.detection_id,
        cell=message.cell,
        series=SeriesKey(message.component, message.metric, message.attributes),
        detector=message.detector,
        scope=Scope(message.scope),
        onset_ns=message.onset_ns,
        detected_ns=message.detected_ns,
        shift_sigmas=message.shift_sigmas,
        before=message.before,
        after=message.after,
    )
