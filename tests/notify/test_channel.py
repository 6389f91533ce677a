"""Which notices reach an endpoint's queue: every stage together."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from cluster.topology import Switch, Topology
from detectors.records import Alert, AlertState
from pipelines.config.notify import SilenceConfig, WebhookConfig
from pipelines.notify.channel import Channel
from pipelines.notify.gate import Containers, Gate
from pipelines.notify.notices import Bundle, notice_of_alert
from pipelines.notify.queue import Answer
from tests.record.messages import ALERT, NOW_NS, SECOND_NS

TOPOLOGY = Topology(switches=(Switch(name="leaf1", cell="pod1", tier=1),))
PLACE = ("telemetry.alerts", 0, 0)
SWITCH = replace(ALERT, alert_id="of-switch", component="switch/leaf1")


def resolved(alert: Alert) -> Alert:
    return replace(alert, revision=alert.revision + 1, state=AlertState.RESOLVED)


class Line:
    """A channel with its gate, told alert after alert."""

    def __init__(
        self,
        *,
        silences: tuple[SilenceConfig, ...] = (),
        earlier: Mapping[str, tuple[str, int]] | None = None,
        **webhook: object,
    ) -> None:
        config = WebhookConfig.model_validate({"name": "ops", "url": "http://h/"} | webhook)
        self.gate = Gate(containers=Containers(TOPOLOGY), silences=silences)
        self.channel = Channel(config, random=Random(1), gate=self.gate, earlier=earlier or {})
        self.now_ns = NOW_NS

    def tell(self, alert: Alert) -> str:
        """Return ``queued``, the state it is held back with, or ``passed over``."""
        notice = notice_of_alert(alert, PLACE)
        self.gate.saw(alert)
        self.channel.note(notice)
        if not self.channel.takes(notice):
            return "passed over"
        held = self.channel.held_back(notice, now_ns=self.now_ns)
        if held is None:
            self.channel.add(notice, now_ns=self.now_ns)
            return "queued"
        return held[0].state if held else "held"

    def sent(self) -> list[str]:
        """Deliver all that is due."""
        self.channel.tick(now_ns=self.now_ns)
        subjects = []
        while due := self.channel.due(now_ns=self.now_ns):
            for pending in due:
                self.channel.queue.answered(pending, Answer(status=204), now_ns=self.now_ns)
                subjects.append(pending.notice.subject_id)
        return subjects


def test_alert_told_again_word_for_word_is_sent_once() -> None:
    line = Line()
    assert [line.tell(ALERT), line.tell(ALERT)] == ["queued", "passed over"]


def test_port_is_told_when_its_switch_is_well_again_and_it_is_not() -> None:
    line = Line()
    assert line.tell(SWITCH) == "queued"
    assert [line.tell(ALERT), line.tell(ALERT)] == ["inhibited", "held"]
    assert line.tell(resolved(SWITCH)) == "queued"
    assert line.tell(ALERT) == "queued"
    assert line.tell(resolved(ALERT)) == "queued"


def test_end_of_what_was_held_back_is_not_told() -> None:
    """Also when what held it back ended first."""
    line = Line()
    line.tell(SWITCH)
    line.tell(ALERT)
    line.tell(resolved(SWITCH))
    assert line.tell(resolved(ALERT)) == "inhibited"
    assert line.sent() == ["of-switch", "of-switch"]


def test_end_of_what_was_told_is_told_whatever_holds_back_now() -> None:
    line = Line()
    assert line.tell(ALERT) == "queued"
    line.tell(SWITCH)
    assert line.tell(resolved(ALERT)) == "queued"


def test_end_is_told_after_a_restart_when_the_beginning_was() -> None:
    delivered = {notice_of_alert(ALERT, PLACE).webhook_id("ops"): ("delivered", 1)}
    line = Line(earlier=delivered)
    line.tell(SWITCH)
    assert line.tell(ALERT) == "passed over"
    assert line.tell(resolved(ALERT)) == "queued"


def test_endpoint_that_wants_everything_inhibits_nothing() -> None:
    line = Line(inhibit=False)
    assert [line.tell(SWITCH), line.tell(ALERT)] == ["queued", "queued"]


def test_silenced_alert_is_told_when_the_silence_is_over() -> None:
    silence = SilenceConfig.model_validate({"ends": "2026-11-30T12:01:00Z"})
    line = Line(silences=(silence,))
    assert [line.tell(ALERT), line.tell(ALERT)] == ["silenced", "held"]
    line.now_ns += 60 * SECOND_NS
    assert line.tell(ALERT) == "queued"


def test_resolved_can_be_left_out() -> None:
    line = Line(send_resolved=False)
    assert [line.tell(ALERT), line.tell(resolved(ALERT))] == ["queued", "passed over"]


def test_lasting_alert_is_repeated_until_it_ends() -> None:
    line = Line(repeat_seconds=3600.0)
    line.tell(ALERT)
    assert line.sent() == ["alert-1"]
    line.now_ns += 3700 * SECOND_NS
    assert [line.sent(), line.sent()] == [["alert-1"], []]
    line.tell(resolved(ALERT))
    line.now_ns += 9000 * SECOND_NS
    assert line.sent() == ["alert-1"]


def test_repetition_that_was_delivered_before_a_restart_is_not_sent_again() -> None:
    first = notice_of_alert(ALERT, PLACE)
    again = notice_of_alert(ALERT, PLACE, repeat=1)
    earlier = {n.webhook_id("ops"): ("delivered", 1) for n in (first, again)}
    line = Line(repeat_seconds=3600.0, earlier=earlier)
    line.now_ns += 3700 * SECOND_NS
    assert line.tell(ALERT) == "passed over"
    assert line.sent() == []


def test_group_is_one_message() -> None:
    line = Line(group_by=["cell"], group_wait_seconds=30.0)
    line.tell(ALERT)
    line.tell(replace(ALERT, alert_id="alert-2"))
    assert line.sent() == []
    line.now_ns += 30 * SECOND_NS
    line.channel.tick(now_ns=line.now_ns)
    [pending] = line.channel.due(now_ns=line.now_ns)
    assert isinstance(pending.notice, Bundle)
    assert len(pending.notice.notices) == 2
