"""Which of a cell's reroutes are to be taken back because their link is well again."""

from collections.abc import Iterator

from actuators import recovery
from actuators.decision import Decision
from pipelines.agents.act_book import Book
from pipelines.config.act import ActConfig


def recovered(book: Book, config: ActConfig) -> Iterator[tuple[Decision, str]]:
    """Yield every decision to take back now, with the reason; none while the kill switch is pulled.

    A component with another open alert is not well.
    """
    if not config.enabled:
        return
    now_ns = book.clock.now_ns()
    ill = {a.component for a in book.alerts.values() if book.is_open(a.alert_id)}
    for decision in list(book.decisions.values()):
        last = decision.last
        if not recovery.is_ours(decision) or last.action is None:
            continue
        if last.component in ill or last.alert_id not in book.alerts:
            continue
        wait_seconds = recovery.hold_down_seconds(
            last.action.target, book.decisions.values(), now_ns=now_ns, config=config.reroute
        )
        well_seconds = (now_ns - book.sent_ns[last.alert_id]) / 1e9
        if well_seconds >= wait_seconds:
            yield decision, f"{last.component} has been well for {well_seconds:.0f} s"
