"""Deciding for one cell: alerts and approvals in, decisions out."""

import asyncio
from dataclasses import dataclass, field

import structlog

from actuators import guard
from actuators.decision import (
    Decision,
    Review,
    Stage,
    begin,
    decision_id,
    may_be_decided_again,
)
from actuators.planner import Plan, Question, plan
from actuators.proposal import proposal_of
from actuators.records import Approval, Event, Mode, ReasonCode
from detectors.records import Alert, AlertState
from pipelines.agents.act_book import Book
from pipelines.agents.act_execute import Execution, unmeasured
from pipelines.agents.act_placement import Placing
from pipelines.agents.act_recover import recovered
from pipelines.messages.decisions import event_hash

log = structlog.get_logger()

# Refusals that a little later may be none: what they lack comes with the next frames.
_PASSING = frozenset(
    {
        ReasonCode.NO_PROPOSAL,
        ReasonCode.NO_GAIN,
        ReasonCode.DRIVER_UNREACHABLE,
        ReasonCode.STALE_ALERT,
        ReasonCode.STALE_DATA,
        ReasonCode.ACTION_IN_FLIGHT,
        ReasonCode.COOLDOWN,
    }
)
_PATIENCE_NS = 10_000_000_000
_AGAIN_NS = 10_000_000_000


@dataclass(slots=True)
class Cell:
    """Decides for one cell.

    An alert gets one decision; the same alert delivered again gets none. When nothing could be
    done for a passing reason it is looked at again as long as it is open, and gets another
    decision only when that leads to an action.
    """

    book: Book
    execution: Execution
    config_hash: str
    _asked_ns: dict[str, int] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def on_alert(self, alert: Alert, *, sent_ns: int) -> None:
        """Take one revision of an alert, which comes again as long as it stands.

        Parameters
        ----------
        sent_ns
            When it was put on its topic: a replayed alert is old.
        """
        async with self._lock:
            if not self.book.note_alert(alert, sent_ns):
                return
            if alert.state is AlertState.RESOLVED:
                self._cancel_waiting(alert)
            elif not self.book.of_alert(alert.alert_id):
                await self._decide(alert, ordinal=1)
        await self.execution.flush()

    async def on_approval(self, approval: Approval) -> None:
        """Take a person's word on a decision; said twice it is done once."""
        if approval.verb == "revert":
            await self.execution.idle(approval.decision_id)
        async with self._lock:
            decision = self.book.decisions.get(approval.decision_id)
            if decision is None:
                log.warning("approval of an unknown decision", decision_id=approval.decision_id)
                return
            match approval.verb:
                case "approve" if decision.stage is Stage.WAITING:
                    self._approve(decision, approval)
                case "reject" if decision.stage is Stage.WAITING:
                    self.book.record(
                        decision,
                        Event.REJECTED,
                        ReasonCode.REJECTED_BY_PERSON,
                        approval.why or "rejected",
                        actor=approval.who,
                    )
                case "revert" if decision.can_be_reverted:
                    self.execution.revert(
                        decision,
                        ReasonCode.REVERTED_BY_PERSON,
                        approval.why or "reverted",
                        approval.who,
                    )
                case _:
                    log.info(
                        "approval changes nothing",
                        decision_id=approval.decision_id,
                        verb=approval.verb,
                        stage=decision.stage,
                    )
        await self.execution.flush()

    async def tick(self) -> None:
        """Go round once a second: expiries, measurements, alerts still without an answer."""
        async with self._lock:
            for decision in self.book.at_stage(Stage.WAITING):
                self._expire(decision)
            for decision in self.book.at_stage(Stage.PROPOSED, Stage.READY):
                # Only a restart leaves a decision here.
                self._go(decision, self._permit(decision, again=decision.stage is Stage.READY))
            self.execution.step()
            for decision, reason in recovered(self.book, self.execution.config):
                self.execution.revert(decision, ReasonCode.RECOVERED, reason, "trimtab")
            await self._look_again()
            self._place_jobs()

    async def close(self) -> None:
        await self.execution.close()
        self.book.journal.close()

    def _place_jobs(self) -> None:
        """Place what jobs announced, all flows together, once for each set of jobs."""
        placing = Placing(self.book, self.execution)
        due = placing.due()
        if due is None:
            return
        review, this_id, objective = due
        now_ns = self.book.clock.now_ns()
        if now_ns - self._asked_ns.get(this_id, 0) < _AGAIN_NS:
            return
        self._asked_ns[this_id] = now_ns
        found = placing.plan(this_id, objective)
        if found.proposal is None:
            self.book.add(self._begun(review, this_id, found, Event.NOTHING))
            return
        decision = self._begun(review, this_id, found, Event.PROPOSED)
        permit = self._permit(decision, found=found)
        if permit.refused is not None and permit.reason_code in _PASSING:
            return
        self.book.add(decision)
        self._go(decision, permit)

    async def _look_again(self) -> None:
        now_ns = self.book.clock.now_ns()
        for alert in list(self.book.alerts.values()):
            if not self.book.is_open(alert.alert_id):
                continue
            decided = self.book.of_alert(alert.alert_id)
            if not decided:
                await self._decide(alert, ordinal=1)
            elif may_be_decided_again(decided, passing=_PASSING):
                asked_ns = self._asked_ns.get(alert.alert_id, decided[-1].last.at_ns)
                if now_ns - asked_ns >= _AGAIN_NS:
                    await self._decide(alert, ordinal=len(decided) + 1)

    async def _decide(self, alert: Alert, *, ordinal: int) -> None:
        """Plan and record; a passing refusal is told once, after some patience."""
        now_ns = self.book.clock.now_ns()
        self._asked_ns[alert.alert_id] = now_ns
        sent_ns = self.book.sent_ns.get(alert.alert_id, 0)
        told = ordinal == 1 and now_ns - sent_ns >= _PATIENCE_NS
        # One that came in late, as a replayed one does, is looked at once.
        if ordinal > 1 and not self._stands(alert.alert_id, now_ns):
            return
        this_id = decision_id(alert.alert_id, ordinal)
        found = await plan(
            Question(
                alert=alert,
                view=self.execution.view,
                ports=self.execution.drivers.ports,
                settings=self.execution.settings,
                action_id=f"{this_id}-action",
            )
        )
        if found.proposal is None or found.objective is None:
            if told or found.reason_code not in _PASSING:
                self.book.add(self._begun(alert, this_id, found, Event.NOTHING))
            return
        if ordinal == 1 and self.execution.waits(alert, found.objective, age_ns=now_ns - sent_ns):
            return
        decision = self._begun(alert, this_id, found, Event.PROPOSED)
        permit = self._permit(decision, alert=alert, found=found)
        if permit.refused is not None and permit.reason_code in _PASSING and not told:
            return
        self.book.add(decision)
        self._go(decision, permit)

    def _stands(self, alert_id: str, now_ns: int) -> bool:
        age_ns = now_ns - self.book.heard_ns.get(alert_id, 0)
        return age_ns <= self.execution.config.stale_seconds * 1e9

    def _begun(self, alert: Alert | Review, this_id: str, found: Plan, event: Event) -> Decision:
        config = self.execution.config
        proposal = found.proposal
        mode = config.mode if proposal is None else guard.mode_of(proposal, config)
        return begin(
            alert,
            decision_id=this_id,
            event=event,
            reason_code=found.reason_code,
            reason=found.reason,
            at_ns=self.book.clock.now_ns(),
            mode=mode,
            config_hash=self.config_hash,
            hash_of=event_hash,
            action=None if proposal is None else proposal.action,
            effect=None if found.objective is None else unmeasured(found.objective),
            rejected_alternatives=found.alternatives,
        )

    def _permit(
        self,
        decision: Decision,
        *,
        alert: Alert | None = None,
        found: Plan | None = None,
        again: bool = False,
    ) -> guard.Permit:
        """Ask the guard; an alert is as old as the last word that it stands."""
        action, effect = decision.action, decision.last.effect
        assert action is not None  # noqa: S101 - only proposals are asked about
        proposal = found.proposal if found is not None else None
        alert_id = decision.last.alert_id if alert is None else alert.alert_id
        component = "" if effect is None else effect.component
        newest = self.execution.feed.readings(component).newest
        situation = self.book.situation(
            self.execution.view,
            alert_sent_ns=self.book.heard_ns.get(alert_id, 0) if alert_id else None,
            objective=component,
            objective_received_ns=None if newest is None else newest.received_ns,
            besides=decision.decision_id,
        )
        ask = guard.recheck if again else guard.check
        return ask(
            proposal or proposal_of(action, self.execution.view), situation, self.execution.config
        )

    def _go(self, decision: Decision, permit: guard.Permit) -> None:
        if permit.refused is not None:
            self.book.record(
                decision,
                permit.refused,
                permit.reason_code,
                permit.reason,
                mode=permit.mode,
                checked=permit.checked,
            )
            return
        approved = decision.stage is Stage.READY
        if permit.mode is Mode.AUTO or approved:
            self.execution.invoke(decision, permit, approved=approved)
            return
        effect = decision.last.effect
        objective = None if effect is None else self.execution.objective(decision)
        alert = self.book.alerts.get(decision.last.alert_id)
        event = Event.ADVISED if permit.mode is Mode.ADVISE else Event.APPROVAL_REQUESTED
        self.book.record(
            decision,
            event,
            permit.reason_code,
            permit.reason,
            mode=permit.mode,
            effect=effect if objective is None else self.execution.baseline_of(objective, alert),
            checked=permit.checked,
        )

    def _approve(self, decision: Decision, approval: Approval) -> None:
        if self._expire(decision):
            return
        self.book.record(
            decision,
            Event.APPROVED,
            ReasonCode.APPROVED_BY_PERSON,
            approval.why or "approved",
            actor=approval.who,
        )
        self._go(decision, self._permit(decision, again=True))

    def _expire(self, decision: Decision) -> bool:
        age_seconds = (self.book.clock.now_ns() - decision.last.at_ns) / 1e9
        limit = self.execution.config.approval_expiry_seconds
        if age_seconds < limit:
            return False
        self.book.record(
            decision,
            Event.EXPIRED,
            ReasonCode.APPROVAL_EXPIRED,
            f"nobody decided within {limit:g} s",
        )
        return True

    def _cancel_waiting(self, alert: Alert) -> None:
        for decision in self.book.of_alert(alert.alert_id):
            if decision.stage is Stage.WAITING:
                self.book.record(
                    decision,
                    Event.EXPIRED,
                    ReasonCode.ALERT_RESOLVED,
                    "the alert was resolved before anybody decided",
                )
