"""What Alertmanager, Slack, PagerDuty and CloudEvents receivers are sent."""

import json
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from urllib.parse import unquote

import pytest

from detectors.records import Alert, AlertState, Severity
from pipelines.notify.alertmanager import alertmanager_body, pushed_body
from pipelines.notify.bodies import cloudevent, standard_body
from pipelines.notify.chat import pagerduty_body, slack_body
from pipelines.notify.fields import LARGEST_BODY_BYTES
from pipelines.notify.notices import Bundle, Notice, notice_of_alert, notice_of_decision
from tests.record.messages import ALERT, SECOND_NS, decision_events

PLACE = ("telemetry.alerts", 0, 7)
RESOLVED = replace(
    ALERT,
    revision=2,
    state=AlertState.RESOLVED,
    severity=Severity.WARNING,
    revised_ns=ALERT.onset_ns + 60 * SECOND_NS,
)
LONG = replace(ALERT, summary="Ж€😀<&>" * 1250)


def many(count: int, alert: Alert = ALERT) -> Bundle:
    alerts = [replace(alert, alert_id=f"alert-{n}") for n in range(count)]
    notices = tuple(notice_of_alert(one, PLACE) for one in alerts)
    return Bundle(kind="digest", key="1", notices=notices)


def told(alert: Alert) -> Notice:
    return notice_of_alert(alert, PLACE)


def texts(blocks: Iterable[dict[str, dict[str, str]]]) -> list[str]:
    return [block["text"]["text"] for block in blocks]


def test_pushed_alert_has_one_identity_and_ends_by_itself() -> None:
    """C73: the severity changed between the two, the labels did not."""
    [firing] = json.loads(pushed_body(told(ALERT), lasts_seconds=240.0))
    [resolved] = json.loads(pushed_body(told(RESOLVED), lasts_seconds=240.0))
    assert firing["labels"] == resolved["labels"]
    assert firing["labels"]["alertname"] == "link_degraded"
    assert (firing["endsAt"], resolved["endsAt"]) == (
        "2026-11-30T12:04:05.000Z",
        "2026-11-30T12:01:00.000Z",
    )
    assert firing["startsAt"] == resolved["startsAt"]
    assert [a["annotations"]["severity"] for a in (firing, resolved)] == ["critical", "warning"]


def test_push_of_many_has_them_all() -> None:
    assert len(json.loads(pushed_body(many(3000), lasts_seconds=240.0))) == 3000


def test_alertmanager_receiver_is_told_how_many_were_left_out() -> None:
    body = json.loads(alertmanager_body(many(60), receiver="ops"))
    assert (len(body["alerts"]), body["truncatedAlerts"], body["status"]) == (50, 10, "firing")
    assert "alert_id" not in body["commonLabels"]
    assert body["commonLabels"]["cell"] == "pod1"


def test_decision_has_no_alertmanager_body() -> None:
    decision = notice_of_decision(decision_events()[0], PLACE)
    assert decision is not None
    with pytest.raises(TypeError, match="only alerts"):
        alertmanager_body(decision, receiver="ops")
    with pytest.raises(TypeError, match="one alert at a time"):
        pagerduty_body(decision, routing_key="k")


@pytest.mark.parametrize("message", [told(ALERT), told(LONG), many(60, LONG)])
def test_slack_takes_it(message: Notice | Bundle) -> None:
    """C70: headers, sections and blocks within Slack's limits, whatever comes."""
    body = json.loads(slack_body(message))
    header, *sections = texts(body["blocks"])
    assert len(header) <= 150
    assert sections
    assert all(len(text) <= 3000 for text in sections)
    assert len(body["blocks"]) <= 50
    assert body["text"]
    assert not any("<" in text for text in sections)


def test_slack_tells_of_a_decision_and_how_to_read_it() -> None:
    decision = notice_of_decision(decision_events()[0], PLACE)
    assert decision is not None
    _, section = texts(json.loads(slack_body(decision))["blocks"])
    assert "reroute link/leaf1:Ethernet1 weight_share: 1.0 → 0.05" in section
    assert "trimtab explain decision-1" in section


def test_pagerduty_trigger_and_resolve_have_one_key() -> None:
    """C73: also where the id is longer than the key may be."""
    for alert_id in ("alert-1", "x" * 400):
        trigger, resolve = (
            json.loads(pagerduty_body(told(replace(a, alert_id=alert_id)), routing_key="R0"))
            for a in (ALERT, RESOLVED)
        )
        assert [e["event_action"] for e in (trigger, resolve)] == ["trigger", "resolve"]
        assert trigger["dedup_key"] == resolve["dedup_key"]
        assert len(trigger["dedup_key"]) <= 255
    assert trigger["routing_key"] == "R0"
    assert trigger["payload"]["severity"] in {"critical", "error", "warning", "info"}


def test_pagerduty_summary_is_cut_on_a_character() -> None:
    """C70."""
    summary = json.loads(pagerduty_body(told(LONG), routing_key="k"))["payload"]["summary"]
    assert len(summary) == 1024
    assert summary.endswith("…")


def test_cloudevent_in_binary_mode() -> None:
    odd = replace(ALERT, component='link/leaf 1:"%é')
    body, headers = cloudevent(told(odd), endpoint="ops")
    assert headers == {
        "ce-specversion": "1.0",
        "ce-id": told(odd).webhook_id("ops"),
        "ce-source": "trimtab/pod1",
        "ce-type": "trimtab.degradation.detected",
        "ce-time": "2026-11-30T12:00:05.000Z",
        "ce-subject": "link/leaf%201:%22%25%C3%A9",
    }
    assert unquote(headers["ce-subject"]) == odd.component
    assert json.loads(body)["alert_id"] == "alert-1"


@pytest.mark.parametrize("count", [2, 60, 3000])
def test_digest_as_a_standard_webhook(count: int) -> None:
    """C70, C72: it says how many there are, shows the first, and stays small."""
    body = standard_body(many(count, LONG), endpoint="ops")
    assert len(body) < LARGEST_BODY_BYTES
    told_of = json.loads(body)
    assert told_of["type"] == "degradation.digest"
    assert (told_of["data"]["count"], told_of["data"]["firing"]) == (count, count)
    shown = told_of["data"]["notices"]
    assert shown
    first = many(count, LONG).notices[0]
    assert shown[0]["id"] == first.webhook_id("ops")


def test_bundle_of_the_same_has_the_same_id_in_any_order() -> None:
    bundle = many(5)
    shuffled = list(bundle.notices)
    Random(3).shuffle(shuffled)
    assert replace(bundle, notices=tuple(shuffled)).webhook_id("ops") == bundle.webhook_id("ops")
    assert many(4).webhook_id("ops") != bundle.webhook_id("ops")
