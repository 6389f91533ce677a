"""What follows a decision to act: write, verify, measure, keep or take back."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import median

import structlog

from actuators.carry_out import Hands, Outcome, Pause, bring_about, take_back
from actuators.decision import Decision, Stage
from actuators.effect import Baseline, as_effect, baseline, measure, of_effect
from actuators.guard import Permit
from actuators.planner import Settings
from actuators.ports import ActuationError
from actuators.records import Action, Effect, Event, ReasonCode, Verdict
from actuators.settings import ObjectiveConfig
from actuators.steadiness import waits_for
from actuators.view import View
from cluster import component as names
from detectors.records import Alert
from pipelines.agents.act_book import Book
from pipelines.agents.act_drivers import Drivers
from pipelines.agents.act_feed import Feed
from pipelines.config.act import ActConfig

log = structlog.get_logger()

_CODES = {
    Verdict.IMPROVED: ReasonCode.EFFECT_IMPROVED,
    Verdict.NEUTRAL: ReasonCode.EFFECT_NEUTRAL,
    Verdict.WORSE: ReasonCode.EFFECT_WORSE,
    Verdict.UNKNOWN: ReasonCode.EFFECT_UNKNOWN,
}


@dataclass(slots=True)
class Execution:
    """Carries the decisions of one cell through; writes run as tasks of their own.

    Attributes
    ----------
    flush
        Returns when what was recorded has reached Kafka: nothing is written before.
    """

    book: Book
    feed: Feed
    view: View
    drivers: Drivers
    config: ActConfig
    flush: Callable[[], Awaitable[None]]
    pause: Pause = asyncio.sleep
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _link_loads: dict[str, float] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """Settings of the actuators, as planning takes them."""
        return Settings(
            reroute=self.config.reroute,
            reassign=self.config.reassign,
            adjust_batch=self.config.adjust_batch,
            objectives=self.config.objectives,
        )

    def objective(self, decision: Decision) -> ObjectiveConfig | None:
        """Return what a decision is judged by, as the configuration has it now."""
        effect = decision.last.effect
        component = "" if effect is None else effect.component
        return next((o for o in self.config.objectives if o.component == component), None)

    def baseline_of(self, objective: ObjectiveConfig, alert: Alert | None) -> Effect:
        """Return the objective's levels until now, as an effect still to be measured."""
        now_ns = self.book.clock.now_ns()
        return as_effect(
            objective,
            baseline(
                self.feed.readings(objective.component),
                onset_ns=0 if alert is None else alert.onset_ns,
                action_ns=now_ns,
                config=self.config.effect,
                span_seconds=self._span_seconds(objective),
            ),
        )

    def waits(self, alert: Alert, objective: ObjectiveConfig, *, age_ns: int) -> bool:
        """Tell whether the harm still has to show or to come to rest; planned anew meanwhile."""
        config = self.config.effect
        if age_ns >= config.patience_seconds * 1e9:
            return False
        readings = self.feed.readings(objective.component)
        healthy = readings.before(alert.onset_ns)
        since = readings.since(alert.onset_ns, until_received_ns=self.book.clock.now_ns())
        reason = waits_for(since, median(healthy) if healthy else None, objective, config)
        if reason:
            log.info("action waits", alert_id=alert.alert_id, reason=reason)
        return bool(reason)

    def invoke(self, decision: Decision, permit: Permit, *, approved: bool) -> None:
        """Begin to write; the baseline is recorded with it, so that a restart can still judge."""
        alert = self.book.alerts.get(decision.last.alert_id)
        objective = self.objective(decision)
        load = self._link_load(decision)
        if load is not None:
            self._link_loads[decision.decision_id] = load
        self.book.record(
            decision,
            Event.INVOKED,
            ReasonCode.WITHIN_POLICY,
            "approved, and still within every limit" if approved else permit.reason,
            effect=None if objective is None else self.baseline_of(objective, alert),
            checked=permit.checked,
        )
        self._start(decision, self._write(decision))

    def revert(self, decision: Decision, code: ReasonCode, why: str, actor: str) -> None:
        """Begin to take back; recorded first, so that a restart goes on with it."""
        self.book.record(decision, Event.IN_PROGRESS, code, why, actor=actor)
        self._start(decision, self._take_back(decision))

    def step(self) -> None:
        """Look after every decision that waits for time or for a task that a restart ended."""
        for decision in self.book.at_stage(
            Stage.WRITING, Stage.REVERTING, Stage.MEASURING, Stage.CONCLUDING, Stage.WATCHING
        ):
            if decision.decision_id in self.tasks:
                continue
            match decision.stage:
                case Stage.WRITING:
                    self._resume(decision)
                case Stage.REVERTING:
                    self._start(decision, self._take_back(decision))
                case Stage.MEASURING:
                    self._measure(decision, since=Event.VERIFIED)
                case Stage.WATCHING:
                    self._measure(decision, since=Event.ADVISED)
                case Stage.CONCLUDING:
                    self._conclude(decision)

    async def idle(self, decision_id: str) -> None:
        """Return when no write of a decision is under way."""
        task = self.tasks.get(decision_id)
        if task is not None:
            await asyncio.wait({task})

    async def close(self) -> None:
        """Stop; the outcome of what was being written is read back at the next start."""
        tasks = list(self.tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _resume(self, decision: Decision) -> None:
        self.book.record(
            decision,
            Event.IN_PROGRESS,
            ReasonCode.RESUMED,
            "taken up after a restart: what is there is read back first",
        )
        self._start(decision, self._write(decision))

    def _start(self, decision: Decision, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self.tasks[decision.decision_id] = task
        task.add_done_callback(lambda _: self.tasks.pop(decision.decision_id, None))

    async def _write(self, decision: Decision) -> None:
        def written() -> None:
            self.book.record(
                decision, Event.SUCCEEDED, ReasonCode.WRITTEN, "the target took the change"
            )

        await self._carry(
            decision, lambda action, hands: bring_about(action.changes, hands, written=written)
        )

    async def _take_back(self, decision: Decision) -> None:
        last = decision.last
        await self._carry(
            decision,
            lambda action, hands: take_back(
                action.changes, hands, reason_code=last.reason_code, reason=last.reason
            ),
            actor=last.actor,
        )

    async def _carry(
        self,
        decision: Decision,
        work: Callable[[Action, Hands], Awaitable[Outcome]],
        *,
        actor: str = "trimtab",
    ) -> None:
        action = decision.action
        assert action is not None  # noqa: S101 - only an action is invoked
        await self.flush()
        try:
            driver = self.drivers.of(action, self.view)
            hands = Hands(driver=driver, retries=self.config.retries, pause=self.pause)
            outcome = await work(action, hands)
        except ActuationError as error:
            outcome = Outcome(
                event=Event.FAILED, reason_code=ReasonCode.DRIVER_REFUSED, reason=str(error)
            )
        except Exception as error:
            log.exception("action not carried out", decision_id=decision.decision_id)
            outcome = Outcome(
                event=Event.FAILED,
                reason_code=ReasonCode.OUTCOME_UNKNOWN,
                reason=f"{type(error).__name__}: {error}",
            )
        self.book.record(decision, outcome.event, outcome.reason_code, outcome.reason, actor=actor)

    def _measure(self, decision: Decision, *, since: Event) -> None:
        config = self.config.effect
        base = decision.effect_at(Event.INVOKED if since is Event.VERIFIED else since)
        at_ns = decision.at_ns(since)
        objective = self.objective(decision)
        if base is None or at_ns is None or objective is None:
            self._judge(decision, None, "no objective was measured before the action")
            return
        start_ns = at_ns + int(config.settle_seconds * 1e9)
        late_seconds = (self.book.clock.now_ns() - start_ns) / 1e9 - config.window_seconds
        after = self.feed.readings(objective.component).received_after(start_ns)
        # After a restart the readings from before it are gone: the window may last once more.
        enough = len(after) >= config.least_samples
        ended = late_seconds >= (0.0 if enough else config.window_seconds)
        effect = measure(
            objective,
            of_effect(base),
            after,
            config=config,
            ended=ended,
            span_seconds=self._span_seconds(objective),
        )
        if ended or (effect.verdict is Verdict.WORSE and since is Event.VERIFIED):
            self._judge(decision, effect, _told(effect, since))

    def _judge(self, decision: Decision, effect: Effect | None, reason: str) -> None:
        verdict = Verdict.UNKNOWN if effect is None else effect.verdict
        before = self._link_loads.pop(decision.decision_id, None)
        load = self._link_load(decision)
        if before is not None and load is not None:
            told = f"{before / 1e9:.4g} to {load / 1e9:.4g} Gbit/s"
            reason = f"{reason}; what its lower end sends went from {told}"
        self.book.record(decision, Event.MEASURED, _CODES[verdict], reason, effect=effect)
        if decision.stage is Stage.CONCLUDING:
            self._conclude(decision)

    def _conclude(self, decision: Decision) -> None:
        last = decision.last
        if last.reason_code is ReasonCode.EFFECT_WORSE:
            self.revert(decision, ReasonCode.EFFECT_WORSE, last.reason, "trimtab")
            return
        self.book.record(decision, Event.KEPT, last.reason_code, "the change stays in force")

    def _link_load(self, decision: Decision) -> float | None:
        """Return what the lower end of the link under action sends, bits per second."""
        target = "" if decision.action is None else decision.action.target
        if names.kind_of(target) != "link":
            return None
        octets = self.view.levels.rate(f"port/{names.name_of(target)}", "net_if_out_octets_total")
        return None if octets is None else octets * 8.0

    def _span_seconds(self, objective: ObjectiveConfig) -> float:
        return self.config.effect.slide_seconds if objective.better == "higher" else 0.0


def unmeasured(objective: ObjectiveConfig) -> Effect:
    """Return an effect that names the objective, and no level yet."""
    return as_effect(objective, Baseline(healthy=float("nan"), before=float("nan"), noise_ratio=0))


def _told(effect: Effect, since: Event) -> str:
    what = f"{effect.component} {effect.metric}"
    if effect.samples == 0:
        return f"{what} had no reading in the window"
    without = "without the advised action " if since is Event.ADVISED else ""
    return (
        f"{without}{what} went from {effect.before:.4g} to {effect.after:.4g} "
        f"(healthy {effect.healthy:.4g}): gain between {effect.gain_low_ratio:+.1%} and "
        f"{effect.gain_high_ratio:+.1%} over {effect.samples} readings, {effect.verdict}"
    )
