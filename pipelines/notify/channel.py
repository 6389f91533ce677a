"""An endpoint's way from a notice to an attempt, stage after stage."""

from collections.abc import Mapping
from random import Random

from detectors.records import Alert
from pipelines.config.notify import WebhookConfig
from pipelines.notify.gate import Gate, HeldBack
from pipelines.notify.groups import Groups, Reminders
from pipelines.notify.notices import Message, Notice, members
from pipelines.notify.queue import EndpointQueue, GivenUp, Pending

# States of a delivery that is not over: what is held back is asked about again.
_NOT_OVER = frozenset({"", "retrying", "silenced", "inhibited"})


class Channel:
    """Stages in order: told before, held back, repeated, grouped, queued.

    Parameters
    ----------
    earlier
        State and attempts by webhook-id, of deliveries that earlier runs recorded.
    """

    def __init__(
        self,
        config: WebhookConfig,
        *,
        random: Random,
        gate: Gate,
        earlier: Mapping[str, tuple[str, int]],
    ) -> None:
        self.queue = EndpointQueue(random=random, bundles=config.format != "pagerduty")
        self._config = config
        self._gate = gate
        self._earlier = earlier
        self._groups = Groups(config)
        self._reminders = Reminders(config.repeats_after_seconds)
        self._known: set[str] = set()
        # Subjects that were told, and webhooks that were told to be held back.
        self._through: set[str] = set()
        self._held: set[str] = set()

    def note(self, notice: Notice) -> None:
        """Take note of an alert's state, whether or not this revision is wanted."""
        self._reminders.saw(notice)

    def takes(self, notice: Notice) -> bool:
        """Tell whether the notice is new here."""
        delivery_id = notice.webhook_id(self._config.name)
        state, _ = self._earlier.get(delivery_id, ("", 0))
        if state == "delivered" and notice.is_firing:
            self._through.add(notice.subject_id)
        if state not in _NOT_OVER or delivery_id in self._known:
            return False
        is_end = isinstance(notice.told, Alert) and not notice.is_firing
        return self._config.send_resolved or not is_end

    def held_back(self, notice: Notice, *, now_ns: int) -> list[GivenUp] | None:
        """Return what is told of a notice that is held back, once each; None when it is not.

        The end of what was told is told; the end of what was held back is not.
        """
        held = self._reason(notice, now_ns)
        if held is None and notice.subject_id in self._held and not notice.is_firing:
            held = HeldBack(state="inhibited", detail="its beginning was held back")
        was_told = notice.subject_id in self._through and not notice.is_firing
        if held is None or was_told:
            self._held.discard(notice.subject_id)
            return None
        delivery_id = notice.webhook_id(self._config.name)
        is_new = delivery_id not in self._held
        self._held.add(delivery_id)
        if notice.subject_id not in self._through:
            self._held.add(notice.subject_id)
        if not notice.is_firing:
            self._held -= {notice.subject_id, delivery_id}
        return [GivenUp(notice=notice, state=held.state, detail=held.detail)] if is_new else []

    def add(self, notice: Notice, *, now_ns: int) -> list[GivenUp]:
        """Queue a notice, or let it wait for its group; returns what is given up for it."""
        self._known.add(notice.webhook_id(self._config.name))
        if isinstance(notice.told, Alert):
            (self._through.add if notice.is_firing else self._through.discard)(notice.subject_id)
        if self._groups.take(notice, now_ns=now_ns):
            return []
        return self._queued(notice, now_ns)

    def tick(self, *, now_ns: int) -> list[GivenUp]:
        """Queue what time alone brings: repetitions and groups."""
        given_up: list[GivenUp] = []
        for notice in self._reminders.due(now_ns=now_ns):
            if self.takes(notice) and self._reason(notice, now_ns) is None:
                given_up += self.add(notice, now_ns=now_ns)
        messages, superseded = self._groups.ready(now_ns=now_ns)
        for message in messages:
            given_up += self._queued(message, now_ns)
        return given_up + superseded

    def due(self, *, now_ns: int) -> list[Pending]:
        return self.queue.due(now_ns)

    def forget(self) -> None:
        """Drop what is not under way: whoever has its partition now reads it again."""
        dropped: list[Message] = [*self.queue.forget(), *self._groups.forget()]
        for message in dropped:
            for notice in members(message):
                self._known.discard(notice.webhook_id(self._config.name))
        self._reminders.forget()

    def _reason(self, notice: Notice, now_ns: int) -> HeldBack | None:
        if not isinstance(notice.told, Alert):
            return None
        silenced = self._gate.silenced(notice.told, now_ns=now_ns)
        if silenced is not None or not self._config.inhibit:
            return silenced
        return self._gate.inhibited(notice.told)

    def _queued(self, message: Message, now_ns: int) -> list[GivenUp]:
        _, attempts = self._earlier.get(message.webhook_id(self._config.name), ("", 0))
        return self.queue.add(message, now_ns=now_ns, attempts=attempts)
