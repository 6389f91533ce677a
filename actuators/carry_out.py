"""Brings changes about, and takes them back, through a driver: read, write, read back, confirm.

Both can be called again at any time: what is there already is not written again.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from actuators.ports import ActuationError, Driver, TransientActuationError
from actuators.records import Change, Event, ReasonCode

_VERIFY_READS = 20
_VERIFY_PAUSE_SECONDS = 0.5
_RETRY_PAUSE_SECONDS = 1.0

Pause = Callable[[float], Awaitable[None]]
Values = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How it ended: ``verified``, ``rolled_back`` or ``failed``, with the reason."""

    event: Event
    reason_code: ReasonCode
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """A driver, how often it is tried, and how to wait."""

    driver: Driver
    retries: int
    pause: Pause


def inverse(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the changes that undo these, in reverse."""
    return tuple(
        Change(target=c.target, path=c.path, from_value=c.to_value, to_value=c.from_value)
        for c in reversed(changes)
    )


async def bring_about(
    changes: Sequence[Change], hands: Hands, *, written: Callable[[], None]
) -> Outcome:
    """Bring the targets to the changes' ``to_value``; ``written`` is called before verifying.

    An unknown outcome is read back. What was changed by somebody else since planning is left
    alone, and the action fails. A failed action is taken back as far as possible; what remains
    is told exactly.
    """
    try:
        found = await _read(changes, hands)
        foreign = [c for c in changes if _at(c, found) not in {c.from_value, c.to_value}]
        if foreign:
            return _failed(
                ReasonCode.READ_BACK_DIFFERS, f"changed by somebody else: {_told(foreign, found)}"
            )
        already = not _open(changes, found)
        if not already:
            await _write(changes, hands)
            written()
        found = await _settled(changes, hands)
        if _open(changes, found):
            return await _backed_out(
                changes, hands, ReasonCode.READ_BACK_DIFFERS, "what is there is not what was asked"
            )
        await _confirm(changes, hands)
        # A device that holds a change only for a while may have taken it back by now.
        if _open(changes, await _read(changes, hands)):
            return await _backed_out(
                changes, hands, ReasonCode.READ_BACK_DIFFERS, "it did not last"
            )
    except TransientActuationError as error:
        return await _backed_out(changes, hands, ReasonCode.DRIVER_UNREACHABLE, str(error))
    except ActuationError as error:
        return await _backed_out(changes, hands, ReasonCode.DRIVER_REFUSED, str(error))
    how = "was so already" if already else "read back equal"
    return Outcome(
        event=Event.VERIFIED,
        reason_code=ReasonCode.READ_BACK_EQUAL,
        reason=f"{how} in {len(changes)} of {len(changes)} places",
    )


async def take_back(
    changes: Sequence[Change], hands: Hands, *, reason_code: ReasonCode, reason: str
) -> Outcome:
    """Bring back to ``from_value`` what is at ``to_value``; what somebody changed since stays."""
    back = inverse(changes)
    try:
        found = await _read(back, hands)
        ours = [c for c in back if _at(c, found) == c.from_value]
        if ours:
            await _write(ours, hands)
            found = await _settled(ours, hands, keep=found)
            if _open(ours, found):
                return _failed(ReasonCode.READ_BACK_DIFFERS, f"remaining: {_told(ours, found)}")
            await _confirm(ours, hands)
    except ActuationError as error:
        code = (
            ReasonCode.DRIVER_UNREACHABLE
            if isinstance(error, TransientActuationError)
            else ReasonCode.DRIVER_REFUSED
        )
        return _failed(code, f"could not be taken back: {error}; {await _remaining(back, hands)}")
    foreign = [c for c in back if _at(c, found) not in {c.from_value, c.to_value}]
    left = f"; left as somebody set it: {_told(foreign, found)}" if foreign else ""
    return Outcome(event=Event.ROLLED_BACK, reason_code=reason_code, reason=f"{reason}{left}")


async def _write(changes: Sequence[Change], hands: Hands) -> None:
    """Write; after a passing failure read back, and write again only what is not there."""
    open_changes = list(changes)
    for attempt in range(hands.retries + 1):
        try:
            await hands.driver.write(open_changes)
        except TransientActuationError:
            if attempt == hands.retries:
                raise
            await hands.pause(_RETRY_PAUSE_SECONDS * 2**attempt)
            open_changes = _open(changes, await _read(changes, hands))
            if not open_changes:
                return
        else:
            return


async def _read(changes: Sequence[Change], hands: Hands) -> Values:
    for attempt in range(hands.retries + 1):
        try:
            return await hands.driver.read(changes)
        except TransientActuationError:
            if attempt == hands.retries:
                raise
            await hands.pause(_RETRY_PAUSE_SECONDS * 2**attempt)
    raise TransientActuationError("not read")


async def _settled(changes: Sequence[Change], hands: Hands, keep: Values | None = None) -> Values:
    """Read until the changes are there, or the time for it is up."""
    found = {**(keep or {}), **await _read(changes, hands)}
    for _ in range(_VERIFY_READS):
        if not _open(changes, found):
            break
        await hands.pause(_VERIFY_PAUSE_SECONDS)
        found |= await _read(changes, hands)
    return found


async def _confirm(changes: Sequence[Change], hands: Hands) -> None:
    """Make the changes last; a confirmation that fails is judged by what is there afterwards."""
    for attempt in range(hands.retries + 1):
        try:
            await hands.driver.confirm(changes)
        except TransientActuationError:
            if attempt == hands.retries:
                raise
            await hands.pause(_RETRY_PAUSE_SECONDS * 2**attempt)
        else:
            return


async def _backed_out(
    changes: Sequence[Change], hands: Hands, code: ReasonCode, reason: str
) -> Outcome:
    back = inverse(changes)
    try:
        found = await hands.driver.read(back)
        ours = [c for c in back if _at(c, found) == c.from_value]
        if ours:
            await _write(ours, hands)
            await _confirm(ours, hands)
    except ActuationError as error:
        reason = f"{reason}; taking it back failed: {error}"
    return _failed(code, f"{reason}; {await _remaining(back, hands)}")


async def _remaining(back: Sequence[Change], hands: Hands) -> str:
    """Return what still differs from how it was before the action."""
    try:
        found = await hands.driver.read(back)
    except ActuationError as error:
        return f"what remains is not known: {error}"
    left = _open(back, found)
    return f"remaining: {_told(left, found)}" if left else "everything is as it was"


def _at(change: Change, found: Values) -> str | None:
    return found.get((change.target, change.path))


def _open(changes: Sequence[Change], found: Values) -> list[Change]:
    return [c for c in changes if _at(c, found) != c.to_value]


def _told(changes: Sequence[Change], found: Values) -> str:
    return ", ".join(f"{c.target} {c.path} is {_at(c, found)!r}" for c in changes)


def _failed(code: ReasonCode, reason: str) -> Outcome:
    return Outcome(event=Event.FAILED, reason_code=code, reason=reason)
