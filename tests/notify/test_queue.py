from dataclasses import replace
from random import Random

import pytest

from detectors.records import AlertState
from pipelines.notify.notices import Notice, notice_of_alert, notice_of_decision
from pipelines.notify.queue import LONGEST_QUEUE, Answer, EndpointQueue, GivenUp
from tests.record.messages import ALERT, NOW_NS, SECOND_NS, decision_events

STATES = {1: AlertState.OPENED, 2: AlertState.UPDATED, 3: AlertState.RESOLVED}
FAILED = Answer(status=500)
GOOD = Answer(status=204)


def revision(number: int, alert_id: str = "alert-1") -> Notice:
    alert = replace(ALERT, alert_id=alert_id, revision=number, state=STATES[number])
    return notice_of_alert(alert, ("telemetry.alerts", 0, number))


@pytest.fixture
def queue() -> EndpointQueue:
    return EndpointQueue(random=Random(1))


def test_one_revision_of_an_alert_at_a_time(queue: EndpointQueue) -> None:
    """C71: the resolved waits for the firing that is under way."""
    queue.add(revision(1), now_ns=NOW_NS)
    [firing] = queue.due(NOW_NS)
    queue.add(revision(3), now_ns=NOW_NS)
    assert queue.due(NOW_NS) == []
    assert queue.answered(firing, GOOD, now_ns=NOW_NS) == ("delivered", [])
    [resolved] = queue.due(NOW_NS)
    assert resolved.notice == revision(3)


def test_stale_firing_is_not_sent_after_its_resolved(queue: EndpointQueue) -> None:
    """C71: the firing failed, the resolved came: only the resolved is told."""
    queue.add(revision(1), now_ns=NOW_NS)
    [firing] = queue.due(NOW_NS)
    queue.answered(firing, FAILED, now_ns=NOW_NS)
    detail = "revision 3 came before it was delivered"
    stale = GivenUp(notice=revision(1), state="superseded", detail=detail)
    assert queue.add(revision(3), now_ns=NOW_NS) == [stale]
    [only] = queue.due(NOW_NS)
    assert (only.notice, len(queue)) == (revision(3), 1)


def test_resolved_that_came_during_a_failing_attempt_takes_its_place(
    queue: EndpointQueue,
) -> None:
    """C71."""
    queue.add(revision(1), now_ns=NOW_NS)
    [firing] = queue.due(NOW_NS)
    queue.add(revision(3), now_ns=NOW_NS)
    state, given_up = queue.answered(firing, FAILED, now_ns=NOW_NS)
    assert (state, [g.notice for g in given_up]) == ("retrying", [revision(1)])
    assert [p.notice for p in queue.due(NOW_NS)] == [revision(3)]


def test_every_event_of_a_decision_is_sent_in_order(queue: EndpointQueue) -> None:
    notices = [notice_of_decision(e, ("telemetry.decisions", 0, 0)) for e in decision_events()[:3]]
    for notice in notices:
        assert notice is not None
        assert queue.add(notice, now_ns=NOW_NS) == []
    sent = []
    for _ in notices:
        [pending] = queue.due(NOW_NS)
        sent.append(pending.notice)
        queue.answered(pending, GOOD, now_ns=NOW_NS)
    assert sent == notices


def test_retries_follow_the_schedule_then_end(queue: EndpointQueue) -> None:
    queue.add(revision(1), now_ns=NOW_NS)
    now_ns, waits, state = NOW_NS, [], "retrying"
    while state == "retrying":
        [pending] = queue.due(now_ns)
        state, _ = queue.answered(pending, FAILED, now_ns=now_ns)
        waits.append((pending.not_before_ns - now_ns) / 1e9)
        now_ns = pending.not_before_ns
    planned = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    assert state == "failed"
    assert all(p <= w <= 1.2 * p for p, w in zip(planned, waits, strict=False))
    assert len(waits) == len(planned) + 1


@pytest.mark.parametrize("status", [400, 401, 404, 301, 302])
def test_refusal_is_not_retried_for_ever(queue: EndpointQueue, status: int) -> None:
    """C70: a 400 ends after three attempts; redirects are not followed and end too."""
    queue.add(revision(1), now_ns=NOW_NS)
    states, now_ns = [], NOW_NS
    while len(queue):
        [pending] = queue.due(now_ns)
        states.append(queue.answered(pending, Answer(status=status), now_ns=now_ns)[0])
        now_ns += 10**15
    assert states == ["retrying", "retrying", "failed"]


def test_throttled_endpoint_is_left_alone_as_it_asks(queue: EndpointQueue) -> None:
    """C69: 429 with Retry-After holds back everything for that endpoint."""
    queue.add(revision(1), now_ns=NOW_NS)
    [pending] = queue.due(NOW_NS)
    answer = Answer(status=429, retry_after_seconds=30.0)
    assert queue.answered(pending, answer, now_ns=NOW_NS)[0] == "retrying"
    queue.add(revision(1, "alert-2"), now_ns=NOW_NS)
    assert queue.due(NOW_NS + 29 * SECOND_NS) == []
    assert len(queue.due(NOW_NS + 37 * SECOND_NS)) == 2


def test_gone_endpoint_is_disabled(queue: EndpointQueue) -> None:
    queue.add(revision(1), now_ns=NOW_NS)
    queue.add(revision(1, "alert-2"), now_ns=NOW_NS)
    first, second = queue.due(NOW_NS)
    queue.answered(second, FAILED, now_ns=NOW_NS)
    state, given_up = queue.answered(first, Answer(status=410), now_ns=NOW_NS)
    assert (state, [g.state for g in given_up]) == ("disabled", ["disabled"])
    assert [g.state for g in queue.add(revision(1, "alert-3"), now_ns=NOW_NS)] == ["disabled"]
    assert len(queue) == 0


def test_queue_of_a_dead_endpoint_is_bounded(queue: EndpointQueue) -> None:
    """C72: the oldest is given up and that is told."""
    given_up = []
    for number in range(LONGEST_QUEUE + 2):
        given_up += queue.add(revision(1, f"alert-{number}"), now_ns=NOW_NS)
    assert len(queue) == LONGEST_QUEUE
    assert [(g.notice.subject_id, g.state) for g in given_up] == [
        ("alert-0", "failed"),
        ("alert-1", "failed"),
    ]
