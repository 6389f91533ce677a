"""An endpoint that was away for hours hears what is true now, not everything that was."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from detectors.records import AlertState
from pipelines.notify.notices import Bundle, Notice, notice_of_alert
from pipelines.notify.queue import Answer, EndpointQueue, GivenUp, Pending
from tests.record.messages import ALERT, NOW_NS, SECOND_NS

AWAY, GOOD = Answer(status=0), Answer(status=204)
HOUR_NS = 3600 * SECOND_NS


def revision(number: int, alert_id: str, *, at_ns: int = NOW_NS) -> Notice:
    state = AlertState.OPENED if number == 1 else AlertState.RESOLVED
    alert = replace(ALERT, alert_id=alert_id, revision=number, state=state, revised_ns=at_ns)
    return notice_of_alert(alert, ("telemetry.alerts", 0, number))


def attempts(queue: EndpointQueue, answer: Answer, *, now_ns: int) -> Iterator[Pending]:
    for pending in queue.due(now_ns):
        queue.answered(pending, answer, now_ns=now_ns)
        yield pending


def away_for_six_hours(queue: EndpointQueue, alerts: int) -> int:
    """Queue alerts over six hours, every second of them over by the end; returns the end."""
    step_ns = 6 * HOUR_NS // alerts
    sent = 0
    for number in range(alerts):
        now_ns = NOW_NS + number * step_ns
        queue.add(revision(1, f"alert-{number}", at_ns=now_ns), now_ns=now_ns)
        sent += len(list(attempts(queue, AWAY, now_ns=now_ns)))
        if number % 2:
            queue.add(revision(2, f"alert-{number}", at_ns=now_ns), now_ns=now_ns)
    # No hammering: one at a time, thirty seconds apart.
    assert sent < 6 * 3600 / 30 + 600
    return NOW_NS + 6 * HOUR_NS


def test_backlog_of_an_outage_is_one_digest() -> None:
    """C72: 3,000 alerts in six hours: one webhook finds the endpoint back, one tells the rest."""
    queue = EndpointQueue(random=Random(1))
    now_ns = away_for_six_hours(queue, 3000)
    [probe] = queue.due(now_ns + HOUR_NS)
    state, given_up = queue.answered(probe, GOOD, now_ns=now_ns + HOUR_NS)
    assert (state, {g.state for g in given_up}) == ("delivered", {"superseded"})
    assert isinstance(probe.notice, Notice)
    assert probe.notice.at_ns > NOW_NS + 5 * HOUR_NS
    [digest] = queue.due(now_ns + HOUR_NS)
    assert isinstance(digest.notice, Bundle)
    assert len(digest.notice.notices) == 2999
    firing = [notice.is_firing for notice in digest.notice.notices]
    assert firing == sorted(firing, reverse=True)
    queue.answered(digest, GOOD, now_ns=now_ns + HOUR_NS)
    assert len(queue) == 0


def test_digest_is_not_overtaken_by_what_came_later() -> None:
    """C71: the digest says firing, so the resolved that came meanwhile waits for it."""
    queue = EndpointQueue(random=Random(1))
    now_ns = away_for_six_hours(queue, 4) + HOUR_NS
    [probe] = queue.due(now_ns)
    queue.answered(probe, GOOD, now_ns=now_ns)
    [digest] = queue.due(now_ns)
    queue.add(revision(2, "alert-0"), now_ns=now_ns)
    assert queue.due(now_ns) == []
    queue.answered(digest, AWAY, now_ns=now_ns)
    assert queue.due(now_ns + SECOND_NS) == []
    [again] = queue.due(now_ns + 10 * SECOND_NS)
    assert again.notice == digest.notice
    queue.answered(again, GOOD, now_ns=now_ns + 10 * SECOND_NS)
    assert [p.notice for p in queue.due(now_ns + 10 * SECOND_NS)] == [revision(2, "alert-0")]


def test_pager_is_told_of_what_lasts_only() -> None:
    """It knows no digest: what began and ended while it was away is given up."""
    queue = EndpointQueue(random=Random(1), bundles=False)
    queue.add(revision(1, "told"), now_ns=NOW_NS - HOUR_NS)
    assert len(list(attempts(queue, GOOD, now_ns=NOW_NS - HOUR_NS))) == 1
    now_ns = away_for_six_hours(queue, 4) + HOUR_NS
    queue.add(revision(2, "told"), now_ns=now_ns)
    [probe] = queue.due(now_ns)
    _, given_up = queue.answered(probe, GOOD, now_ns=now_ns)
    assert [(g.notice.subject_id, g.state) for g in given_up] == [
        (subject, "superseded") for subject in ended_untold(probe)
    ]
    left = {p.notice.subject_id for p in queue.due(now_ns)} | {probe.notice.subject_id}
    assert left >= {"alert-0", "alert-2", "told"} - {probe.notice.subject_id}


def ended_untold(probe: Pending) -> list[str]:
    return [s for s in ("alert-1", "alert-3") if s != probe.notice.subject_id]


def test_short_failure_makes_no_digest() -> None:
    queue = EndpointQueue(random=Random(1))
    for alert_id in ("a", "b", "c"):
        queue.add(revision(1, alert_id), now_ns=NOW_NS)
    assert len(list(attempts(queue, AWAY, now_ns=NOW_NS))) == 3
    later_ns = NOW_NS + 10 * SECOND_NS
    sent = list(attempts(queue, GOOD, now_ns=later_ns))
    assert [type(p.notice) for p in sent] == [Notice, Notice, Notice]


def test_digest_of_pairs_gives_up_older_states() -> None:
    queue = EndpointQueue(random=Random(1))
    queue.add(revision(1, "a"), now_ns=NOW_NS)
    list(attempts(queue, AWAY, now_ns=NOW_NS))
    out_ns = NOW_NS + HOUR_NS
    for alert_id in ("b", "c"):
        queue.add(revision(1, alert_id), now_ns=out_ns)
        queue.add(revision(2, alert_id), now_ns=out_ns)
    [probe] = queue.due(out_ns)
    _, given_up = queue.answered(probe, GOOD, now_ns=out_ns)
    superseded: list[GivenUp] = [g for g in given_up if g.state == "superseded"]
    assert {g.notice.subject_id for g in superseded} <= {"a", "b", "c"}
    [digest] = queue.due(out_ns)
    assert isinstance(digest.notice, Bundle)
    assert all(not n.is_firing for n in digest.notice.notices if n.subject_id != "a")
