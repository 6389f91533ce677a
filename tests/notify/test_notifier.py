"""The notifier on a real broker and a real endpoint."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from detectors.records import AlertState
from pipelines import topics
from pipelines.config.notify import WebhookConfig
from pipelines.embedded.broker import EmbeddedBroker, start_broker
from pipelines.messages.alerts import encode_alert
from pipelines.messages.decisions import encode_event
from pipelines.notify.endpoint import Endpoint, retry_after_seconds
from pipelines.notify.notices import notice_of_alert
from pipelines.notify.signing import signature
from pipelines.topics_admin import TopicSpec, create_topics
from tests.notify.bench import KEYS, Bench, open_endpoint
from tests.notify.conftest import Deliveries, Receiver, SteppedClock
from tests.record.messages import ALERT, NOW_NS, decision_events

RESOLVED = replace(ALERT, revision=2, state=AlertState.RESOLVED)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    started = start_broker(log_path=tmp_path / "broker.log")
    create_topics(started.bootstrap, [TopicSpec(name=t, partitions=1) for t in topics.ALL])
    yield started
    started.stop()


@pytest.fixture
def bench(broker: EmbeddedBroker, receiver: Receiver) -> Bench:
    return Bench(broker, receiver, SteppedClock(), Deliveries())


async def test_alert_and_action_are_delivered_signed(bench: Bench) -> None:
    bench.send(topics.ALERTS, encode_alert(ALERT), b"rubbish", encode_alert(RESOLVED))
    bench.send(topics.DECISIONS, *map(encode_event, decision_events()))
    notifier = bench.notifier()
    await bench.until(notifier, lambda: len(bench.deliveries.kept) == 5)
    await notifier.close()
    types = [json.loads(body)["type"] for _, body in bench.receiver.got]
    assert sorted(types) == [
        "action.executing",
        "action.proposed",
        "action.succeeded",
        "degradation.detected",
        "degradation.resolved",
    ]
    assert types.index("degradation.detected") < types.index("degradation.resolved")
    for headers, body in bench.receiver.got:
        assert headers["webhook-signature"] == signature(
            KEYS,
            webhook_id=headers["webhook-id"],
            timestamp_seconds=int(headers["webhook-timestamp"]),
            body=body,
        )
        assert "." not in headers["webhook-id"]
    assert {d.state for d in bench.deliveries.kept} == {"delivered"}


async def test_retry_has_the_same_id_and_a_restart_sends_nothing_again(bench: Bench) -> None:
    bench.receiver.answers = [(503, {"Retry-After": "7"})]
    bench.send(topics.ALERTS, encode_alert(ALERT))
    notifier = bench.notifier()
    await bench.until(notifier, lambda: len(bench.deliveries.kept) == 1)
    bench.clock.at_ns += 20 * 10**9
    await bench.until(notifier, lambda: len(bench.deliveries.kept) == 2)
    await notifier.close()
    assert bench.deliveries.told() == [
        ("degradation.detected", 1, "retrying", 503),
        ("degradation.detected", 2, "delivered", 204),
    ]
    first, second = (headers["webhook-id"] for headers, _ in bench.receiver.got)
    assert first == second
    bench.send(topics.ALERTS, encode_alert(RESOLVED))
    restarted = bench.notifier()
    await bench.until(restarted, lambda: len(bench.deliveries.kept) == 3)
    await restarted.close()
    assert [d.event_type for d in bench.deliveries.kept[2:]] == ["degradation.resolved"]


async def test_restart_takes_up_what_was_under_way(bench: Bench) -> None:
    """What ended is known from the deliveries recorded, what did not goes on counting."""
    bench.receiver.answers = [(500, {})]
    other = replace(ALERT, alert_id="alert-2")
    bench.send(topics.ALERTS, encode_alert(ALERT), encode_alert(other))
    notifier = bench.notifier()
    await bench.until(notifier, lambda: len(bench.deliveries.kept) == 2)
    await notifier.close()
    earlier = {d.delivery_id: (d.state, d.attempt) for d in bench.deliveries.kept}
    failed = next(d for d in bench.deliveries.kept if d.state == "retrying")
    restarted = bench.notifier(earlier)
    await bench.until(restarted, lambda: len(bench.deliveries.kept) == 3)
    await restarted.close()
    last = bench.deliveries.kept[2]
    assert (last.delivery_id, last.attempt, last.state) == (failed.delivery_id, 2, "delivered")


async def send_once(endpoint: Endpoint) -> tuple[int, str]:
    answer = await endpoint.send(notice_of_alert(ALERT, ("telemetry.alerts", 0, 0)))
    await endpoint.close()
    return answer.status, answer.detail


def endpoint(url: str, **settings: object) -> Endpoint:
    config = WebhookConfig.model_validate({"name": "ops", "url": url} | settings)
    return open_endpoint(config, SteppedClock())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254"])
async def test_private_address_is_refused(receiver: Receiver, host: str) -> None:
    told = await send_once(endpoint(receiver.url.replace("127.0.0.1", host)))
    assert told == (0, "address is not public and allow_private is not set")
    assert receiver.got == []


async def test_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.answers = [(302, {"Location": receiver.url})]
    assert await send_once(endpoint(receiver.url, allow_private=True)) == (302, "")
    assert len(receiver.got) == 1


async def test_endpoint_that_hangs_times_out(receiver: Receiver) -> None:
    receiver.hold = asyncio.Event()
    slow = endpoint(receiver.url, allow_private=True, timeout_seconds=0.2)
    assert await send_once(slow) == (0, "TimeoutError")
    receiver.hold.set()


async def test_refused_connection_tells_no_url(unused_tcp_port: int) -> None:
    url = f"http://127.0.0.1:{unused_tcp_port}/hook?token=secret"
    status, detail = await send_once(endpoint(url, allow_private=True))
    assert (status, "secret" in detail) == (0, False)
    assert detail.startswith("ClientConnectorError")


async def test_alertmanager_endpoint_hears_of_alerts_only(receiver: Receiver) -> None:
    made = endpoint(receiver.url, format="alertmanager", allow_private=True, events=("*",))
    assert made.wants(notice_of_alert(ALERT, ("telemetry.alerts", 0, 0)))
    assert await send_once(made) == (204, "")
    assert json.loads(receiver.got[0][1])["receiver"] == "ops"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None),
        ("30", 30.0),
        ("Mon, 30 Nov 2026 12:01:00 GMT", 60.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
    ],
)
def test_retry_after_in_seconds_or_as_a_date(header: str, seconds: float | None) -> None:
    """C69."""
    assert retry_after_seconds(header, now_ns=NOW_NS) == seconds
