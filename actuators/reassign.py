"""Moves one engine between prefill and decode when one of the two starves."""

from collections.abc import Mapping
from dataclasses import dataclass

from actuators.ports import ServingPool
from actuators.proposal import Proposal, Refusal
from actuators.records import Action, ActionKind, Change, ReasonCode
from actuators.settings import ReassignConfig
from actuators.view import Levels, View
from detectors.records import Alert, Cause

_KIND = ActionKind.REASSIGN
_STARVED = {Cause.DECODE_STARVED: "decode", Cause.PREFILL_STARVED: "prefill"}
# Where requests wait besides an engine's own queue when prefill and decode are apart.
_DISAGGREGATED = (
    "llm_prefill_inflight_queue_requests",
    "llm_decode_prealloc_queue_requests",
    "llm_decode_transfer_queue_requests",
)
_OTHER = {"decode": "prefill", "prefill": "decode"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What an engine has to do: requests it runs and keeps waiting, and its pressure.

    A pressure of 1.0 is all it can hold.
    """

    requests: float
    pressure: float


def load_of(engine: str, *, levels: Levels, limit: int | None) -> Load | None:
    """Return an engine's load; None when its queue is not known."""
    running = levels.level(engine, "llm_requests_running")
    waiting = levels.level(engine, "llm_requests_waiting")
    if running is None or waiting is None:
        return None
    waiting += sum(levels.level(engine, queue) or 0.0 for queue in _DISAGGREGATED)
    usage = levels.level(engine, "llm_kv_cache_usage_ratio") or 0.0
    full = float(limit) if limit else max(running, 1.0)
    return Load(requests=running + waiting, pressure=max(usage, (running + waiting) / full))


async def plan(
    alert: Alert, *, view: View, pool: ServingPool, config: ReassignConfig, action_id: str
) -> Proposal | Refusal:
    """Return the move of the least loaded engine of the other role.

    Raises
    ------
    ActuationError
        The service could not be asked.
    """
    service = view.service_of(alert.component)
    if service is None or alert.cause not in _STARVED:
        return _refusal(alert, ReasonCode.NO_PROPOSAL, f"{alert.component!r} is of no service")
    roles = await pool.roles(service)
    limits = await pool.concurrency_limits(service)
    return move(
        alert,
        service=service,
        roles=roles,
        loads={
            engine: load_of(engine, levels=view.levels, limit=limits.get(engine))
            for engine in roles
        },
        config=config,
        action_id=action_id,
    )


def move(
    alert: Alert,
    *,
    service: str,
    roles: Mapping[str, str],
    loads: Mapping[str, Load | None],
    config: ReassignConfig,
    action_id: str,
) -> Proposal | Refusal:
    """Return the move, or why there is none, from roles and loads by engine."""
    wanted = _STARVED[alert.cause]
    donors = sorted(engine for engine, role in roles.items() if role == _OTHER[wanted])
    takers = sorted(engine for engine, role in roles.items() if role == wanted)
    if len(donors) <= config.least_engines:
        return _refusal(
            alert,
            ReasonCode.NO_PROPOSAL,
            f"{_OTHER[wanted]} has {len(donors)} engines, at least {config.least_engines} stay",
        )
    known = {engine: load for engine in (*donors, *takers) if (load := loads.get(engine))}
    if len(known) < len(donors) + len(takers) or not takers:
        return _refusal(alert, ReasonCode.STALE_DATA, "the load of some engines is not known")
    giving = sum(known[engine].pressure for engine in donors)
    taking = sum(known[engine].pressure for engine in takers)
    now = max(taking / len(takers), giving / len(donors))
    after = max(taking / (len(takers) + 1), giving / (len(donors) - 1))
    gain = 1.0 - after / now if now > 0.0 else 0.0
    basis = (
        f"{wanted} is at {taking / len(takers):.0%} of what it holds with {len(takers)} engines, "
        f"{_OTHER[wanted]} at {giving / len(donors):.0%} with {len(donors)}; one more for "
        f"{wanted} brings the fuller of both from {now:.0%} to {after:.0%}"
    )
    if gain <= 0.0:
        return _refusal(alert, ReasonCode.NO_GAIN, basis)
    engine = min(donors, key=lambda name: (known[name].requests, name))
    return Proposal(
        action=Action(
            action_id=action_id,
            kind=_KIND,
            target=engine,
            parameter="role",
            from_value=_OTHER[wanted],
            to_value=wanted,
            changes=(
                Change(target=engine, path="role", from_value=_OTHER[wanted], to_value=wanted),
            ),
            expected_gain_ratio=gain,
            expected_cost_seconds=config.drain_seconds,
            driver="serving",
        ),
        scope=(engine, service),
        touched=(engine,),
        reason=basis,
    )


def _refusal(alert: Alert, code: ReasonCode, reason: str) -> Refusal:
    return Refusal(kind=_KIND, target=alert.component, reason_code=code, reason=reason)
