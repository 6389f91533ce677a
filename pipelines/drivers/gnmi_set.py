"""Next-hop weights by gNMI: changes of several switches are all in force, or none is."""

import asyncio
from collections.abc import Mapping, Sequence

import grpc
import structlog

from actuators.ports import ActuationError, PermanentActuationError
from actuators.records import Change
from cluster.topology import Topology
from pipelines.clock import Clock
from pipelines.config.collect import GnmiTarget
from pipelines.config.load import Loaded, read_secret
from pipelines.drivers.gnmi_session import Session

log = structlog.get_logger()


class GnmiSet:
    """The `Driver` and `Fabric` of the switches that are ``writable``.

    A change is written with a commit to be confirmed. A switch that does not know that extension
    gets its old values back from us unless `confirm` comes within the same time; should this
    process die before, the action is taken up again from what was recorded before writing.
    """

    name = "gnmi"

    def __init__(
        self, sessions: Mapping[str, Session], topology: Topology, *, rollback_seconds: float
    ) -> None:
        self._sessions = dict(sessions)
        self._topology = topology
        self._rollback_seconds = rollback_seconds
        self._timers: dict[str, asyncio.Task[None]] = {}

    async def weights(self, switch: str) -> Mapping[str, int]:
        paths = [
            route.weight_path(hop)
            for route in self._topology.routes
            if route.switch == switch
            for hop in route.next_hops
        ]
        return await self._session(f"switch/{switch}").get(paths)

    async def read(self, changes: Sequence[Change]) -> Mapping[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for target, group in _by_target(changes).items():
            values = await self._session(target).get([change.path for change in group])
            found |= {(target, path): str(value) for path, value in values.items()}
        return found

    async def write(self, changes: Sequence[Change]) -> None:
        """Write switch after switch; when one fails, what was written before is undone."""
        written: list[list[Change]] = []
        for target, group in _by_target(changes).items():
            session = self._session(target)
            written.append(group)
            try:
                await session.set({change.path: int(change.to_value) for change in group})
            except ActuationError:
                await self._undo(written)
                raise
            if not session.pending:
                self._start_timer(target, group)

    async def confirm(self, changes: Sequence[Change]) -> None:
        for target in _by_target(changes):
            timer = self._timers.pop(target, None)
            if timer is not None:
                timer.cancel()
            await self._session(target).confirm()

    async def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        for session in self._sessions.values():
            await session.channel.close()

    async def _undo(self, written: list[list[Change]]) -> None:
        for group in reversed(written):
            session = self._session(group[0].target)
            timer = self._timers.pop(group[0].target, None)
            if timer is not None:
                timer.cancel()
            try:
                if session.takes_commits is False:
                    await _restore(session, group)
                else:
                    await session.cancel()
            except ActuationError as error:
                # The caller reads back and tells what remains.
                log.warning("change not undone", switch=session.name, detail=str(error))

    def _start_timer(self, target: str, group: list[Change]) -> None:
        previous = self._timers.pop(target, None)
        if previous is not None:
            previous.cancel()
        self._timers[target] = asyncio.create_task(self._restore_later(target, group))

    async def _restore_later(self, target: str, group: list[Change]) -> None:
        await asyncio.sleep(self._rollback_seconds)
        self._timers.pop(target, None)
        try:
            await _restore(self._session(target), group)
            log.warning("unconfirmed change taken back", target=target)
        except ActuationError as error:
            log.error("unconfirmed change not taken back", target=target, detail=str(error))  # noqa: TRY400

    def _session(self, target: str) -> Session:
        session = self._sessions.get(target)
        if session is None:
            raise PermanentActuationError(
                f"{target} is not writable; writable are {sorted(self._sessions)}"
            )
        return session


def gnmi_set(loaded: Loaded, clock: Clock) -> GnmiSet:
    """Return the driver for the configuration's writable gNMI targets."""
    rollback_seconds = loaded.config.act.reroute.commit_rollback_seconds
    sessions = sessions_of(loaded, clock)
    return GnmiSet(sessions, loaded.topology, rollback_seconds=rollback_seconds)


def sessions_of(loaded: Loaded, clock: Clock) -> dict[str, Session]:
    """Return a session by component (``switch/leaf1``) of each writable gNMI target."""
    rollback_seconds = loaded.config.act.reroute.commit_rollback_seconds
    # Grows from run to run, as arbitration asks for.
    election_id = clock.now_ns()
    return {
        f"switch/{target.name}": Session(
            name=target.name,
            channel=_channel(target, loaded),
            metadata=_metadata(target, loaded),
            election_id=election_id,
            rollback_seconds=rollback_seconds,
        )
        for target in loaded.config.collect.gnmi
        if target.writable
    }


async def _restore(session: Session, group: list[Change]) -> None:
    await session.set({change.path: int(change.from_value) for change in reversed(group)})
    await session.confirm()


def _by_target(changes: Sequence[Change]) -> dict[str, list[Change]]:
    groups: dict[str, list[Change]] = {}
    for change in changes:
        groups.setdefault(change.target, []).append(change)
    return groups


def _channel(target: GnmiTarget, loaded: Loaded) -> grpc.aio.Channel:
    options = [("grpc.keepalive_time_ms", 20_000), ("grpc.keepalive_timeout_ms", 10_000)]
    if target.insecure:
        return grpc.aio.insecure_channel(target.address, options=options)
    tls = target.tls
    if tls.server_name:
        options.append(("grpc.ssl_target_name_override", tls.server_name))  # type: ignore[arg-type]
    files = (tls.ca_file, tls.key_file, tls.cert_file)
    ca, key, cert = (None if f is None else loaded.resolve(f).read_bytes() for f in files)
    credentials = grpc.ssl_channel_credentials(ca, key, cert)
    return grpc.aio.secure_channel(target.address, credentials, options=options)


def _metadata(target: GnmiTarget, loaded: Loaded) -> tuple[tuple[str, str], ...]:
    if not target.username:
        return ()
    password = (
        "" if target.password_file is None else read_secret(loaded.resolve(target.password_file))
    )
    return (("username", target.username), ("password", password))
