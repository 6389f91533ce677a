"""From an alert to one pick: every actuator that answers its cause is asked, the arbiter picks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from actuators import adjust_batch, move_flows, reassign, reroute
from actuators.arbiter import pick
from actuators.policy import Answer, answers
from actuators.ports import ActuationError, Fabric, Jobs, ServingPool, TransientActuationError
from actuators.proposal import Proposal, Refusal
from actuators.records import ActionKind, Alternative, ReasonCode
from actuators.settings import AdjustBatchConfig, ObjectiveConfig, ReassignConfig, RerouteConfig
from actuators.view import View
from cluster import component as names
from detectors.records import Alert

_KINDS = {
    Answer.MOVE_FLOWS: ActionKind.REROUTE,
    Answer.DRAIN_LINK: ActionKind.REROUTE,
    Answer.LESS_FOR_THE_SLOW_RANK: ActionKind.ADJUST_BATCH,
    Answer.FEWER_REQUESTS_AT_ONCE: ActionKind.ADJUST_BATCH,
    Answer.MOVE_AN_ENGINE: ActionKind.REASSIGN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The world as planning may ask it; what is absent cannot be acted on."""

    fabric: Fabric | None = None
    pools: Mapping[str, ServingPool] = field(default_factory=dict)
    jobs: Jobs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the actuators, and what jobs and services are tuned for."""

    reroute: RerouteConfig = field(default_factory=RerouteConfig)
    reassign: ReassignConfig = field(default_factory=ReassignConfig)
    adjust_batch: AdjustBatchConfig = field(default_factory=AdjustBatchConfig)
    objectives: tuple[ObjectiveConfig, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An alert, and all there is to answer it with."""

    alert: Alert
    view: View
    ports: Ports
    settings: Settings
    action_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The pick and its objective, or why there is none; and what was not picked."""

    proposal: Proposal | None
    objective: ObjectiveConfig | None
    reason_code: ReasonCode
    reason: str
    alternatives: tuple[Alternative, ...] = ()


async def plan(q: Question) -> Plan:
    """Return what to do about an alert; nothing is changed by it."""
    alert = q.alert
    ways = answers(alert.cause)
    if not ways:
        return _nothing(ReasonCode.NO_ACTUATOR, f"no actuator answers {alert.cause}")
    asked = [answer for way in ways if (answer := await _ask(way, q)) is not None]
    best, alternatives = pick(asked)
    if best is None:
        return _refused(asked, alternatives, alert)
    objective = objective_of(alert, best, q.settings.objectives, q.view)
    if objective is None:
        lost = Alternative(
            action_kind=best.action.kind, target=best.action.target, reason=best.reason
        )
        return Plan(
            proposal=None,
            objective=None,
            reason_code=ReasonCode.NO_PROPOSAL,
            reason="no configured objective would tell whether it helps",
            alternatives=(lost, *alternatives),
        )
    return Plan(
        proposal=best,
        objective=objective,
        reason_code=ReasonCode.ALERT_ANSWERED,
        reason=best.reason,
        alternatives=alternatives,
    )


def objective_of(
    alert: Alert, proposal: Proposal, objectives: Sequence[ObjectiveConfig], view: View
) -> ObjectiveConfig | None:
    """Return the objective the action is judged by.

    That of the first component that the alert says suffers, else of what is changed, else of the
    only job known.
    """
    by_component = {objective.component: objective for objective in objectives}
    changed = (*proposal.scope, *proposal.touched)
    candidates = [
        *alert.affected,
        *changed,
        *(s for c in (alert.component, *changed) if (s := view.service_of(c))),
        *(list(view.jobs) if len(view.jobs) == 1 else []),
    ]
    return next((by_component[c] for c in candidates if c in by_component), None)


async def _ask(way: Answer, q: Question) -> Proposal | Refusal | None:
    """Return the actuator's answer; None when it does not apply to such a component."""
    try:
        return await _answer(way, q)
    except ActuationError as error:
        code = (
            ReasonCode.DRIVER_UNREACHABLE
            if isinstance(error, TransientActuationError)
            else ReasonCode.DRIVER_REFUSED
        )
        return Refusal(
            kind=_KINDS[way], target=q.alert.component, reason_code=code, reason=str(error)
        )
    except Exception as error:  # noqa: BLE001 - one actuator's fault must not silence the others
        reason = f"could not be planned: {type(error).__name__}: {error}"
        return _no_port(way, q.alert, reason)


async def _answer(way: Answer, q: Question) -> Proposal | Refusal | None:
    match way:
        case Answer.MOVE_FLOWS:
            return _move_flows(q)
        case Answer.DRAIN_LINK:
            return await _drain(q)
        case Answer.LESS_FOR_THE_SLOW_RANK:
            return await _less_for_rank(q)
        case Answer.FEWER_REQUESTS_AT_ONCE:
            return await _fewer_requests(q)
        case Answer.MOVE_AN_ENGINE:
            return await _move_engine(q)


def _move_flows(q: Question) -> Proposal | Refusal | None:
    link = reroute.link_of(q.alert.component, q.view.topology)
    if link is None or not q.view.topology.source_port_rules:
        return None
    if q.ports.jobs is None:
        return _no_port(Answer.MOVE_FLOWS, q.alert, "there is no job channel")
    speed, told = reroute.speed_ratio(q.alert, None, q.view)
    if speed is None:
        return _no_port(Answer.MOVE_FLOWS, q.alert, "nothing tells how slow the link is")
    return move_flows.off_link(link, speed, told, view=q.view, action_id=q.action_id)


async def _drain(q: Question) -> Proposal | Refusal:
    if q.ports.fabric is None:
        return _no_port(Answer.DRAIN_LINK, q.alert, "no switch may be written to")
    link = reroute.link_of(q.alert.component, q.view.topology)
    pinned = 0 if link is None else move_flows.pinned_on(link, q.view)
    if pinned:
        reason = f"{pinned} flows cross the link by their source ports: weights move none of them"
        return _no_port(Answer.DRAIN_LINK, q.alert, reason)
    return await reroute.plan(
        q.alert,
        view=q.view,
        fabric=q.ports.fabric,
        config=q.settings.reroute,
        action_id=q.action_id,
    )


async def _less_for_rank(q: Question) -> Proposal | Refusal | None:
    job = q.view.job_of_gpu(q.alert.component)
    if job is None:
        if q.view.engine_of_gpu(q.alert.component) is not None:
            return None
        return _no_port(Answer.LESS_FOR_THE_SLOW_RANK, q.alert, "no announced job runs on it")
    if q.ports.jobs is None:
        return _no_port(Answer.LESS_FOR_THE_SLOW_RANK, q.alert, "there is no job channel")
    return await adjust_batch.plan_job(
        q.alert,
        job=job,
        view=q.view,
        jobs=q.ports.jobs,
        config=q.settings.adjust_batch,
        action_id=q.action_id,
    )


async def _fewer_requests(q: Question) -> Proposal | Refusal | None:
    engine = q.view.engine_of_gpu(q.alert.component)
    if names.kind_of(q.alert.component) == "gpu" and engine is None:
        return None
    engine = engine or _fullest_engine(q.alert.component, q.view)
    service = None if engine is None else q.view.service_of(engine)
    pool = None if service is None else q.ports.pools.get(names.name_of(service))
    if engine is None or pool is None:
        return _no_port(Answer.FEWER_REQUESTS_AT_ONCE, q.alert, "no engine of it may be changed")
    return await adjust_batch.plan_engine(
        q.alert,
        engine=engine,
        view=q.view,
        pool=pool,
        config=q.settings.adjust_batch,
        action_id=q.action_id,
    )


async def _move_engine(q: Question) -> Proposal | Refusal:
    service = q.view.service_of(q.alert.component)
    pool = None if service is None else q.ports.pools.get(names.name_of(service))
    if pool is None:
        return _no_port(Answer.MOVE_AN_ENGINE, q.alert, "no service of it may be changed")
    return await reassign.plan(
        q.alert, view=q.view, pool=pool, config=q.settings.reassign, action_id=q.action_id
    )


def _fullest_engine(component: str, view: View) -> str | None:
    """Return the engine itself, or of a service or pool the one whose KV cache is fullest."""
    if names.kind_of(component) == "engine":
        return component
    service = view.service_of(component)
    engines = [e for e, s in view.topology.service_of_engine.items() if s.component == service]
    return max(
        engines,
        key=lambda engine: view.levels.level(engine, "llm_kv_cache_usage_ratio") or 0.0,
        default=None,
    )


def _refused(
    asked: Sequence[Proposal | Refusal], alternatives: tuple[Alternative, ...], alert: Alert
) -> Plan:
    refusal = next((answer for answer in asked if isinstance(answer, Refusal)), None)
    if refusal is not None:
        code, reason = refusal.reason_code, refusal.reason
    elif asked:
        code, reason = ReasonCode.NO_GAIN, "no proposal gains more than it costs"
    else:
        code, reason = ReasonCode.NO_PROPOSAL, f"no actuator applies to {alert.component}"
    return Plan(
        proposal=None,
        objective=None,
        reason_code=code,
        reason=reason,
        alternatives=alternatives,
    )


def _nothing(code: ReasonCode, reason: str) -> Plan:
    return Plan(proposal=None, objective=None, reason_code=code, reason=reason)


def _no_port(way: Answer, alert: Alert, reason: str) -> Refusal:
    return Refusal(
        kind=_KINDS[way],
        target=alert.component,
        reason_code=ReasonCode.NO_PROPOSAL,
        reason=reason,
    )
