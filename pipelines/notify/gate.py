"""Why an alert is held back from an endpoint: a silence, or an alert on what it is part of."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from cluster.component import kind_of, name_of, owner_of
from cluster.topology import Topology
from detectors.records import Alert, AlertState, Cause
from pipelines.config.notify import SilenceConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """``silenced`` or ``inhibited``, and by what."""

    state: str
    detail: str


class Containers:
    """What a component is part of, by the configured topology and by its name."""

    def __init__(self, topology: Topology) -> None:
        self._links = topology.links_by_port
        self._ends = {link.component: (link.lower, link.upper) for link in topology.links}
        self._gpus = {
            engine.component: engine.gpus
            for service in topology.services
            for engine in service.engines
        }

    def of(self, component: str) -> tuple[str, ...]:
        """Return what holds the component back when it is itself degraded."""
        kind, owner = kind_of(component), owner_of(component)
        if kind == "port":
            link = self._links.get(name_of(component))
            return (f"switch/{owner}", *([] if link is None else [link.component]))
        if kind == "link":
            ends = self._ends.get(component, (name_of(component),))
            devices = [end.partition(":")[0] for end in ends]
            return tuple(f"{what}/{device}" for device in devices for what in ("switch", "host"))
        if kind in {"nic", "gpu"}:
            return (f"host/{owner}",)
        if kind == "engine":
            hosts = dict.fromkeys(f"host/{owner_of(gpu)}" for gpu in self._gpus.get(component, ()))
            return tuple(hosts)
        return ()


@dataclass(slots=True)
class Gate:
    """Knows what is degraded now and answers why an alert is not told.

    Read every alert with ``saw`` before asking about it. What holds an alert back may end while
    the alert lasts: open alerts are told again on their topic every few seconds, so it is asked
    about again.
    """

    containers: Containers
    silences: tuple[SilenceConfig, ...] = ()
    _open: dict[str, dict[str, Alert]] = field(default_factory=dict)

    def saw(self, alert: Alert) -> None:
        of_component = self._open.setdefault(alert.component, {})
        if alert.state is AlertState.RESOLVED:
            of_component.pop(alert.alert_id, None)
        else:
            of_component[alert.alert_id] = alert

    def saw_all(self, alerts: Iterable[Alert]) -> None:
        for alert in alerts:
            self.saw(alert)

    def silenced(self, alert: Alert, *, now_ns: int) -> HeldBack | None:
        now = datetime.fromtimestamp(now_ns / 1e9, UTC)
        for silence in self.silences:
            if _fits(silence, alert) and _is_on(silence, now):
                until = silence.ends.astimezone(UTC).isoformat(timespec="seconds")
                detail = f"until {until}" + (f": {silence.why}" if silence.why else "")
                return HeldBack(state="silenced", detail=detail)
        return None

    def inhibited(self, alert: Alert) -> HeldBack | None:
        """Tell of an alert on what the component is part of.

        A telemetry fault of a container explains only telemetry faults of its parts.
        """
        for container in self.containers.of(alert.component):
            for other in self._open.get(container, {}).values():
                if other.cause is not Cause.TELEMETRY_FAULT or alert.cause is other.cause:
                    detail = f"by {other.alert_id} on {container}: {other.cause}"
                    return HeldBack(state="inhibited", detail=detail)
        return None


def _fits(silence: SilenceConfig, alert: Alert) -> bool:
    return (
        fnmatchcase(alert.component, silence.component)
        and fnmatchcase(str(alert.cause), silence.cause)
        and fnmatchcase(alert.cell, silence.cell)
    )


def _is_on(silence: SilenceConfig, now: datetime) -> bool:
    return (silence.starts is None or silence.starts <= now) and now < silence.ends
