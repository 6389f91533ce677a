"""Rules, weights and ports of one switch by gNMI: read, written as one transaction, confirmed."""

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from actuators.carry_out import inverse
from actuators.ports import ActuationError, PermanentActuationError
from actuators.records import Change
from actuators.steering import paths
from actuators.steering.change_set import ABSENT
from actuators.steering.rules import Rule, rule_of_leaves, rule_of_text
from pipelines.drivers.gnmi_session import Session

log = structlog.get_logger()

_RULES = "/rules/rule["
Value = int | str | bool


class SwitchHand:
    """Steers one switch.

    What it writes is undone unless `confirm` follows within the session's rollback time: by the
    switch where it takes commits, else by us, for as long as this process lives.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._timer: asyncio.Task[None] | None = None

    async def rules(self, instance: str = "default") -> dict[int, Rule]:
        """Return the rules of our policy by number; one we cannot say is left out.

        Raises
        ------
        ActuationError
            The switch could not be asked, or has no policy forwarding.
        """
        found = _grouped(await self.session.leaves(paths.policy_path(instance)))
        rules = {}
        for number, leaves in found.items():
            try:
                rules[number] = rule_of_leaves(leaves)
            except ValueError as error:
                log.warning("rule not understood", switch=self.session.name, detail=str(error))
        return rules

    async def read(self, changes: Sequence[Change]) -> dict[str, str]:
        """Return the value at each change's path; empty where nothing is."""
        tops = dict.fromkeys(_top(change.path) for change in changes)
        leaves: dict[str, str] = {}
        for top in tops:
            leaves |= await self.session.leaves(top)
        by_number = _grouped(leaves)
        return {change.path: _value(change.path, leaves, by_number) for change in changes}

    async def write(self, changes: Sequence[Change]) -> None:
        """Bring the switch to the changes' ``to_value`` in one Set.

        Raises
        ------
        ActuationError
            Refused, or not known whether it was taken: read back.
        """
        values, delete = _writes(changes)
        await self.session.set(values, delete=delete)
        if not self.session.pending:
            self._start_timer(changes)

    async def confirm(self) -> None:
        self._stop_timer()
        await self.session.confirm()

    async def undo(self, changes: Sequence[Change]) -> None:
        """Take back at once what `write` wrote and nobody confirmed."""
        self._stop_timer()
        if self.session.takes_commits is False:
            await self._restore(changes)
        else:
            await self.session.cancel()

    async def close(self) -> None:
        self._stop_timer()
        await self.session.channel.close()

    def _start_timer(self, changes: Sequence[Change]) -> None:
        self._stop_timer()
        self._timer = asyncio.create_task(self._restore_later(tuple(changes)))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _restore_later(self, changes: Sequence[Change]) -> None:
        await asyncio.sleep(self.session.rollback_seconds)
        try:
            await self._restore(changes)
            log.warning("unconfirmed change taken back", target=self.session.name)
        except ActuationError as error:
            log.error(  # noqa: TRY400
                "unconfirmed change not taken back", target=self.session.name, detail=str(error)
            )

    async def _restore(self, changes: Sequence[Change]) -> None:
        values, delete = _writes(inverse(changes))
        await self.session.set(values, delete=delete)
        await self.session.confirm()


def _writes(changes: Sequence[Change]) -> tuple[dict[str, Value], list[str]]:
    """Return what a Set writes and deletes to bring the changes about."""
    values: dict[str, Value] = {}
    delete: list[str] = []
    for change in changes:
        if paths.rule_number(change.path) is not None:
            _write_rule(change, values, delete)
        elif change.to_value == ABSENT:
            delete.append(_removed(change.path))
        else:
            values |= _written(change)
    return values, delete


def _write_rule(change: Change, values: dict[str, Value], delete: list[str]) -> None:
    """Write what differs only, so that the switch changes the rule in place."""
    old, new = _leaves(change.path, change.from_value), _leaves(change.path, change.to_value)
    if not new:
        delete.append(change.path)
        return
    values.update({f"{change.path}/{k}": v for k, v in new.items() if old.get(k) != v})
    delete.extend(f"{change.path}/{leaf}" for leaf in old if leaf not in new)


def _leaves(path: str, text: str) -> Mapping[str, str | int]:
    if text == ABSENT:
        return {}
    try:
        return rule_of_text(paths.rule_number(path) or 0, text).leaves()
    except ValueError as error:
        raise PermanentActuationError(f"{path}: {error}") from error


def _removed(path: str) -> str:
    """Return what is deleted so that a path has no value: a list's entry goes as a whole."""
    if paths.is_policy_name(path) or paths.bound_interface(path) is not None:
        return path.partition("/config/")[0]
    return path


def _written(change: Change) -> dict[str, Value]:
    interface = paths.bound_interface(change.path)
    if interface is not None:
        entry = change.path.partition("/config/")[0]
        return {
            f"{entry}/config/interface-id": interface,
            f"{entry}/interface-ref/config/interface": interface,
            change.path: change.to_value,
        }
    if paths.enabled_interface(change.path) is not None:
        return {change.path: change.to_value == "true"}
    if paths.is_weight(change.path):
        return {change.path: int(change.to_value)}
    if paths.is_policy_name(change.path):
        return {change.path: change.to_value}
    raise PermanentActuationError(f"{change.target} has no {change.path!r} that can be steered by")


def _top(path: str) -> str:
    """Return what is read for a path: all rules of a policy at once, else the path itself."""
    return path.partition(_RULES)[0] + "/rules" if _RULES in path else path


def _value(path: str, leaves: Mapping[str, str], by_number: Mapping[int, Mapping[str, str]]) -> str:
    number = paths.rule_number(path)
    if number is None:
        return leaves.get(path, ABSENT)
    told = by_number.get(number)
    if told is None:
        return ABSENT
    try:
        return rule_of_leaves(told).text()
    except ValueError as error:
        return f"not understood: {error}"


def _grouped(leaves: Mapping[str, str]) -> dict[int, dict[str, str]]:
    """Return the leaves below each rule by its number."""
    grouped: dict[int, dict[str, str]] = {}
    for path, value in leaves.items():
        entry, found, rest = path.rpartition("]/")
        number = paths.rule_number(f"{entry}]") if found else None
        if number is not None:
            grouped.setdefault(number, {})[rest] = value
    return grouped
