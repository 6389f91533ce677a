"""The demo's result: one row a fault."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.demo.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What Trimtab made of one fault, as the database tells it.

    Attributes
    ----------
    delay_seconds
        From the fault's true start to the alert, device time; None when nothing was told.
    component
        The one that the alert named.
    action
        What was changed, from and to; empty when nothing was.
    healthy, before, after
        The objective before the fault, degraded, and after the action.
    verdict
        Of the effect, as measured.
    """

    fault: Fault
    delay_seconds: float | None = None
    component: str = ""
    cause: str = ""
    decision_id: str = ""
    action: str = ""
    objective: str = ""
    healthy: float | None = None
    before: float | None = None
    after: float | None = None
    verdict: str = ""

    @property
    def found(self) -> bool:
        return (self.component, self.cause) == (self.fault.component, self.fault.cause)

    @property
    def holds(self) -> bool:
        """True when the right component was found and acted on, and the objective improved."""
        return self.found and bool(self.action) and self.verdict == "improved"


_HEADER = (
    "fault",
    "true start",
    "alert after s",
    "component named",
    "action",
    "objective",
    "before",
    "degraded",
    "after",
    "verdict",
)


def table(outcomes: Sequence[Outcome], *, first_ns: int) -> str:
    """Return the result as a Markdown table; true starts count in seconds from ``first_ns``."""
    rows = [_HEADER, *(_row(outcome, first_ns) for outcome in outcomes)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def _row(outcome: Outcome, first_ns: int) -> tuple[str, ...]:
    fault = outcome.fault
    wrong = "" if outcome.found or not outcome.component else f" (is {fault.component})"
    delay = "never" if outcome.delay_seconds is None else f"{outcome.delay_seconds:.1f}"
    return (
        fault.scripted.title,
        f"{(fault.started_ns - first_ns) / 1e9:.0f} s",
        delay,
        (outcome.component or "none") + wrong,
        outcome.action or "none",
        outcome.objective or "-",
        _number(outcome.healthy),
        _number(outcome.before),
        _number(outcome.after),
        outcome.verdict or "none",
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
