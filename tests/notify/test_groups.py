from dataclasses import replace

import pytest

from detectors.records import AlertState
from pipelines.config.notify import WebhookConfig
from pipelines.notify.groups import Groups, Reminders
from pipelines.notify.notices import Bundle, Notice, notice_of_alert, notice_of_decision
from tests.record.messages import ALERT, NOW_NS, SECOND_NS, decision_events

PLACE = ("telemetry.alerts", 0, 0)


def notice(alert_id: str, *, revision: int = 1, component: str = "link/leaf1:E1") -> Notice:
    state = AlertState.OPENED if revision == 1 else AlertState.RESOLVED
    made = replace(ALERT, alert_id=alert_id, revision=revision, state=state, component=component)
    return notice_of_alert(made, PLACE)


@pytest.fixture
def groups() -> Groups:
    settings = {"name": "ops", "url": "http://h/", "group_by": ["cell", "owner"]}
    config = WebhookConfig.model_validate(settings)
    return Groups(config)


def test_alerts_of_a_group_are_told_together_after_the_wait(groups: Groups) -> None:
    assert groups.take(notice("a"), now_ns=NOW_NS)
    assert groups.take(notice("b"), now_ns=NOW_NS + 20 * SECOND_NS)
    assert groups.take(notice("c", component="link/leaf2:E1"), now_ns=NOW_NS + 20 * SECOND_NS)
    assert groups.ready(now_ns=NOW_NS + 29 * SECOND_NS) == ([], [])
    told, given_up = groups.ready(now_ns=NOW_NS + 30 * SECOND_NS)
    key = 'cell="pod1",owner="leaf1"'
    assert told == [Bundle(kind="group", key=key, notices=(notice("a"), notice("b")))]
    assert given_up == []


def test_next_message_of_a_group_waits_for_its_interval(groups: Groups) -> None:
    groups.take(notice("a"), now_ns=NOW_NS)
    groups.ready(now_ns=NOW_NS + 30 * SECOND_NS)
    groups.take(notice("b"), now_ns=NOW_NS + 40 * SECOND_NS)
    assert groups.ready(now_ns=NOW_NS + 329 * SECOND_NS)[0] == []
    assert len(groups.ready(now_ns=NOW_NS + 330 * SECOND_NS)[0]) == 1


def test_group_tells_the_newest_state_of_each_alert(groups: Groups) -> None:
    groups.take(notice("a"), now_ns=NOW_NS)
    groups.take(notice("b"), now_ns=NOW_NS)
    groups.take(notice("a", revision=2), now_ns=NOW_NS)
    [told], given_up = groups.ready(now_ns=NOW_NS + 30 * SECOND_NS)
    assert isinstance(told, Bundle)
    assert told.notices == (notice("b"), notice("a", revision=2))
    assert [(g.notice, g.state) for g in given_up] == [(notice("a"), "superseded")]


def test_decisions_wait_for_no_group(groups: Groups) -> None:
    decision = notice_of_decision(decision_events()[0], PLACE)
    assert decision is not None
    assert not groups.take(decision, now_ns=NOW_NS)


def test_lasting_alert_is_told_again_each_interval_once() -> None:
    reminders = Reminders(3600.0)
    reminders.saw(notice("a"))
    at = [ALERT.detected_ns + seconds * SECOND_NS for seconds in (3599, 3600, 3601, 7200)]
    repeats = [[n.repeat for n in reminders.due(now_ns=now_ns)] for now_ns in at]
    assert repeats == [[], [1], [], [2]]
    reminders.saw(notice("a", revision=2))
    assert reminders.due(now_ns=ALERT.detected_ns + 99_999 * SECOND_NS) == []


def test_two_notifiers_give_a_repetition_one_id() -> None:
    ids = set()
    for first_seen in (10, 4000):
        reminders = Reminders(3600.0)
        reminders.saw(notice("a"))
        [again] = reminders.due(now_ns=ALERT.detected_ns + (7200 + first_seen % 60) * SECOND_NS)
        ids.add(again.webhook_id("ops"))
    assert len(ids) == 1
    assert notice("a").webhook_id("ops") not in ids
