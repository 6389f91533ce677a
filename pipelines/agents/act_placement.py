"""When the flows of announced jobs are placed together, and the decision's id."""

import hashlib

from actuators import move_flows
from actuators.decision import Review, Stage
from actuators.planner import Plan
from actuators.proposal import Refusal
from actuators.records import Event, ReasonCode
from actuators.settings import ObjectiveConfig
from actuators.view import Job
from pipelines.agents.act_book import Book
from pipelines.agents.act_execute import Execution

_MOST_TRIES = 5


class Placing:
    """Reviews the placement of a cell's jobs when they join, leave or change what they send.

    Nothing is placed while an alert is open or a decision under way, nor before the job has shown
    how fast it is: the effect could not be told.
    """

    def __init__(self, book: Book, execution: Execution) -> None:
        self._book = book
        self._execution = execution

    def due(self) -> tuple[Review, str, ObjectiveConfig] | None:
        """Return what is to be decided now, the decision's id, and the job's objective."""
        jobs = [job for job in self._execution.view.jobs.values() if job.cell == self._book.cell]
        chosen = [job for job in jobs if job.collectives and _may_choose(job)]
        if not chosen or not self._execution.view.topology.source_port_rules:
            return None
        objective = self._objective(chosen)
        if objective is None or self._is_busy():
            return None
        decision_id = self._next_id(_signature(chosen))
        if decision_id is None:
            return None
        return Review(cell=self._book.cell, component=objective.component), decision_id, objective

    def plan(self, decision_id: str, objective: ObjectiveConfig) -> Plan:
        """Return the move of all flows to where they fit, or why there is none."""
        answer = move_flows.together(
            view=self._execution.view,
            config=self._execution.config.reroute,
            action_id=f"{decision_id}-action",
        )
        if isinstance(answer, Refusal):
            return Plan(
                proposal=None,
                objective=None,
                reason_code=answer.reason_code,
                reason=answer.reason,
            )
        return Plan(
            proposal=answer,
            objective=objective,
            reason_code=ReasonCode.ANNOUNCED,
            reason=answer.reason,
        )

    def _objective(self, jobs: list[Job]) -> ObjectiveConfig | None:
        """Return the objective of the most important job that has shown enough of it."""
        config = self._execution.config
        for job in sorted(jobs, key=lambda job: -job.priority):
            found = next((o for o in config.objectives if o.component == job.component), None)
            shown = self._execution.feed.readings(job.component)
            if found is not None and len(shown) >= 2 * config.effect.least_samples:
                return found
        return None

    def _is_busy(self) -> bool:
        book = self._book
        if any(book.is_open(alert_id) for alert_id in book.alerts):
            return True
        ended = (Stage.ENDED, Stage.WATCHING)
        return any(decision.stage not in ended for decision in book.decisions.values())

    def _next_id(self, signature: str) -> str | None:
        """Return the id of a decision about these jobs, None when it was decided.

        One that was kept is made again when a job has lost its ports since, as by a restart.
        """
        for n in range(1, _MOST_TRIES + 1):
            decision_id = f"placement-{signature}-{n}"
            before = self._book.decisions.get(decision_id)
            if before is None:
                return decision_id
            if before.last.event is not Event.KEPT or not self._has_lost_ports():
                return None
        return None

    def _has_lost_ports(self) -> bool:
        return any(
            connection.source_port == 0
            for job in self._execution.view.jobs.values()
            for rank in job.ranks
            for connection in rank.connections
        )


def _may_choose(job: Job) -> bool:
    return any(rank.connections for rank in job.ranks)


def _signature(jobs: list[Job]) -> str:
    """Return what tells one set of jobs and their traffic from another."""
    told = [
        (
            job.component,
            job.collectives,
            [(r.rank, r.nic, [c.peer for c in r.connections]) for r in job.ranks],
        )
        for job in sorted(jobs, key=lambda job: job.component)
    ]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:12]
