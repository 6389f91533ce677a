"""Alerts that an endpoint wants in one message, and those it wants to hear of again."""

from dataclasses import dataclass, field, replace

from cluster.component import kind_of, owner_of
from detectors.records import Alert
from pipelines.config.notify import WebhookConfig
from pipelines.notify.notices import Bundle, Message, Notice, newest_first
from pipelines.notify.queue import GivenUp


@dataclass(slots=True)
class Groups:
    """Holds an endpoint's alerts back until their group is told; passes on everything else."""

    config: WebhookConfig
    _waiting: dict[str, list[Notice]] = field(default_factory=dict)
    _told_at_ns: dict[str, int] = field(default_factory=dict)
    _due_at_ns: dict[str, int] = field(default_factory=dict)

    def take(self, notice: Notice, *, now_ns: int) -> bool:
        """Hold the notice back for its group; False when it goes by itself."""
        if not self.config.group_by or not isinstance(notice.told, Alert):
            return False
        key = _key(notice.told, self.config)
        if key not in self._due_at_ns:
            soonest_ns = now_ns + int(self.config.group_wait_seconds * 1e9)
            interval_ns = int(self.config.group_interval_seconds * 1e9)
            told_ns = self._told_at_ns.get(key)
            next_ns = 0 if told_ns is None else told_ns + interval_ns
            self._due_at_ns[key] = max(soonest_ns, next_ns)
        self._waiting.setdefault(key, []).append(notice)
        return True

    def ready(self, *, now_ns: int) -> tuple[list[Message], list[GivenUp]]:
        """Return the groups whose wait is over, and revisions that newer ones took the place of."""
        messages: list[Message] = []
        given_up: list[GivenUp] = []
        for key in [key for key, due_ns in self._due_at_ns.items() if due_ns <= now_ns]:
            current, superseded = newest_first(self._waiting.pop(key))
            del self._due_at_ns[key]
            self._told_at_ns[key] = now_ns
            detail = "a newer state of it was told with its group"
            given_up += [GivenUp(notice=n, state="superseded", detail=detail) for n in superseded]
            messages.append(Bundle(kind="group", key=key, notices=tuple(current)))
        return messages, given_up

    def forget(self) -> list[Notice]:
        """Empty the groups and return what waited."""
        waiting = [notice for notices in self._waiting.values() for notice in notices]
        self._waiting.clear()
        self._due_at_ns.clear()
        return waiting


@dataclass(slots=True)
class Reminders:
    """Alerts that last and are told again after a while.

    How often an alert was told again follows from the time alone, so two notifiers, or one that
    was restarted, give a repetition the same id.
    """

    interval_seconds: float
    _lasting: dict[str, Notice] = field(default_factory=dict)

    def saw(self, notice: Notice) -> None:
        """Take note of an alert that the endpoint is told of."""
        if not self.interval_seconds or not isinstance(notice.told, Alert):
            return
        if not notice.is_firing:
            self._lasting.pop(notice.subject_id, None)
            return
        before = self._lasting.get(notice.subject_id)
        repeat = 0 if before is None else before.repeat
        self._lasting[notice.subject_id] = replace(notice, repeat=max(repeat, notice.repeat))

    def due(self, *, now_ns: int) -> list[Notice]:
        """Return the repetitions whose time has come, each once."""
        due = []
        for subject, notice in self._lasting.items():
            if not isinstance(notice.told, Alert):
                continue
            since_ns = now_ns - notice.told.detected_ns
            repeat = int(since_ns // int(self.interval_seconds * 1e9))
            if repeat > notice.repeat:
                again = replace(notice, repeat=repeat, at_ns=now_ns)
                self._lasting[subject] = again
                due.append(again)
        return due

    def forget(self) -> None:
        self._lasting.clear()


def _key(alert: Alert, config: WebhookConfig) -> str:
    labels = {
        "cell": alert.cell,
        "cause": str(alert.cause),
        "kind": kind_of(alert.component),
        "owner": owner_of(alert.component),
    }
    return ",".join(f'{name}="{labels[name]}"' for name in config.group_by)
