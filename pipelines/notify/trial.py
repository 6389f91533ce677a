"""A webhook that says it is only a test, and one that was sent before."""

from dataclasses import replace

from detectors.records import Alert, AlertState, Cause, Severity
from pipelines.config.notify import WebhookConfig
from pipelines.facts import Facts
from pipelines.notify.notices import Notice, notice_of_alert, notice_of_decision

_NOWHERE = ("", 0, 0)


def trial_notices(config: WebhookConfig, *, now_ns: int) -> list[Notice]:
    """Return the beginning and the end of an alert that nobody need act on."""
    opened = Alert(
        alert_id=f"test-{now_ns}",
        cell="test",
        component=f"target/{config.name}",
        cause=Cause.UNEXPLAINED,
        state=AlertState.OPENED,
        revision=1,
        severity=Severity.INFO,
        onset_ns=now_ns,
        detected_ns=now_ns,
        revised_ns=now_ns,
        confidence=1.0,
        evidence=(),
        summary=f"a test of webhook {config.name}: nothing is wrong",
    )
    resolved = replace(opened, state=AlertState.RESOLVED, revision=2)
    return [notice_of_alert(alert, _NOWHERE) for alert in (opened, resolved)]


def notice_again(
    facts: Facts, *, subject_id: str, endpoint: str, delivery_id: str
) -> Notice | None:
    """Return what a delivery told, from the alerts and decisions recorded; None when not there.

    A bundle, or a repetition, is not found again: its members are.
    """
    alerts = [notice_of_alert(a, _NOWHERE) for a in facts.revisions(subject_id)]
    decisions = [notice_of_decision(e, _NOWHERE) for e in facts.events(subject_id)]
    for notice in (*alerts, *decisions):
        if notice is not None and notice.webhook_id(endpoint) == delivery_id:
            return notice
    return None
