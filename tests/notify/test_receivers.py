"""A receiver of each format, through an outage: what it checks is what such a product checks."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from detectors.records import Alert, AlertState, Severity
from pipelines import topics
from pipelines.embedded.broker import EmbeddedBroker, start_broker
from pipelines.messages.alerts import encode_alert
from pipelines.messages.decisions import encode_event
from pipelines.topics_admin import TopicSpec, create_topics
from tests.notify.bench import Bench
from tests.notify.conftest import Deliveries, Receiver, SteppedClock
from tests.record.messages import ALERT, SECOND_NS, decision_events

KEY = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
OTHER = replace(ALERT, alert_id="alert-2", component="link/leaf2:Ethernet1")


def resolved(alert: Alert) -> Alert:
    return replace(
        alert, revision=2, state=AlertState.RESOLVED, severity=Severity.INFO, summary="well again"
    )


def require_signed(headers: dict[str, str], body: bytes) -> None:
    """Check as a stranger would, without the sender's code."""
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = base64.b64encode(hmac.digest(KEY, text, hashlib.sha256)).decode()
    assert f"v1,{wanted}" in headers["webhook-signature"].split()


@dataclass
class Incidents:
    """What is open at the receiver; a repeated id changes nothing."""

    seen: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    history: list[tuple[str, str]] = field(default_factory=list)

    def take(self, message_id: str, subject: str, state: str) -> None:
        if message_id in self.seen:
            return
        self.seen.add(message_id)
        self.history.append((subject, state))
        (self.open.add if state == "firing" else self.open.discard)(subject)


def read(form: str, headers: dict[str, str], body: bytes) -> list[tuple[str, str, str]]:
    """Return id, subject and state of each alert that a message tells of."""
    told = json.loads(body)
    message_id = headers["webhook-id"]
    if form == "alertmanager_push":
        return [
            (
                f"{message_id}{a['labels']['alert_id']}",
                a["labels"]["alert_id"],
                "firing" if a["endsAt"] > "2026-11-30T12:00:30" else "resolved",
            )
            for a in told
        ]
    if form == "alertmanager":
        assert told["version"] == "4"
        return [
            (f"{message_id}{a['fingerprint']}", a["labels"]["alert_id"], a["status"])
            for a in told["alerts"]
        ]
    if form == "pagerduty":
        assert told["routing_key"] == "R0"
        state = {"trigger": "firing", "resolve": "resolved"}[told["event_action"]]
        return [(message_id, told["dedup_key"].removeprefix("trimtab/"), state)]
    if form == "slack":
        text = json.dumps(told["blocks"], ensure_ascii=False)
        subject = next(a for a in ("alert-1", "alert-2") if f"`{a}`" in text)
        return [(message_id, subject, "resolved" if "✅" in text else "firing")]
    if form == "cloudevents":
        assert (headers["ce-specversion"], headers["ce-id"]) == ("1.0", message_id)
        told = {"type": headers["ce-type"].removeprefix("trimtab."), "data": told}
    state = "resolved" if told["type"].endswith("resolved") else "firing"
    return [(message_id, told["data"]["alert_id"], state)]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    started = start_broker(log_path=tmp_path / "broker.log")
    create_topics(started.bootstrap, [TopicSpec(name=t, partitions=1) for t in topics.ALL])
    yield started
    started.stop()


@pytest.fixture
def bench(broker: EmbeddedBroker, receiver: Receiver) -> Bench:
    return Bench(broker, receiver, SteppedClock(), Deliveries())


FORMATS = ["standard", "alertmanager", "alertmanager_push", "slack", "pagerduty", "cloudevents"]


@pytest.mark.parametrize("form", FORMATS)
async def test_every_receiver_ends_with_the_truth(bench: Bench, form: str) -> None:
    """C71, C73: answers are lost, the endpoint is away, and still: in order, once, closed."""
    events = ("degradation.*",)
    # The first message arrives twice: its answer said 500. Then three find nobody ready.
    bench.receiver.answers = [(500, {}), (503, {}), (503, {}), (503, {})]
    bench.send(topics.ALERTS, encode_alert(ALERT), encode_alert(OTHER))
    bench.send(topics.DECISIONS, encode_event(decision_events()[0]))
    notifier = bench.notifier(format=form, events=events)
    await bench.until(notifier, lambda: len(bench.receiver.got) >= 2)
    bench.send(topics.ALERTS, encode_alert(resolved(OTHER)))
    for _ in range(60):
        bench.clock.at_ns += 400 * SECOND_NS
        await notifier.round()
        if sum(d.state == "delivered" for d in bench.deliveries.kept) >= 2:
            break
    bench.send(topics.ALERTS, encode_alert(resolved(ALERT)))
    await bench.until(
        notifier,
        lambda: (
            ("alert-1", "degradation.resolved", "delivered")
            in {(d.subject_id, d.event_type, d.state) for d in bench.deliveries.kept}
        ),
    )
    await notifier.close()

    incidents = Incidents()
    for headers, body in bench.receiver.got:
        require_signed(headers, body)
        assert headers["authorization"] == "Bearer t0"
        for told in read(form, headers, body):
            incidents.take(*told)
    assert incidents.open == set()
    for subject in ("alert-1", "alert-2"):
        states = [state for about, state in incidents.history if about == subject]
        assert states[-1] == "resolved"
        assert "firing" not in states[states.index("resolved") :]


async def test_two_notifiers_send_the_same_id(bench: Bench) -> None:
    """Both read the alert: the second was started before the first had recorded anything."""
    bench.send(topics.ALERTS, encode_alert(ALERT))
    for group in ("a", "b"):
        notifier = bench.notifier(group=group)
        await bench.until(notifier, lambda: bool(bench.deliveries.kept))
        await notifier.close()
        bench.deliveries.kept.clear()
    ids = [headers["webhook-id"] for headers, _ in bench.receiver.got]
    assert (len(ids), len(set(ids))) == (2, 1)


async def test_endpoint_that_was_away_six_hours_hears_a_digest(bench: Bench) -> None:
    """C72 end to end: forty alerts, two webhooks."""
    bench.receiver.answers = [(503, {})] * 60
    alerts = [replace(ALERT, alert_id=f"alert-{n}", component=f"gpu/h1:{n}") for n in range(40)]
    bench.send(topics.ALERTS, *map(encode_alert, alerts))
    notifier = bench.notifier(inhibit=False)
    await bench.until(notifier, lambda: len(bench.deliveries.kept) >= 4)
    bench.clock.at_ns += 6 * 3600 * SECOND_NS
    bench.receiver.answers = []
    bench.receiver.got.clear()
    done: set[str] = set()
    for _ in range(100):
        await notifier.round()
        await asyncio.sleep(0)
        done = {d.subject_id for d in bench.deliveries.kept if d.state == "delivered"}
        if len(done) == 41:
            break
    await notifier.close()
    types = [json.loads(body)["type"] for _, body in bench.receiver.got]
    assert types == ["degradation.detected", "degradation.digest"]
    assert done == {a.alert_id for a in alerts} | {d for d in done if d.startswith("digest:")}
