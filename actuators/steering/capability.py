"""What a switch or job can be steered by, as it was probed."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum


class Rung(StrEnum):
    """The actuation ladder, best first."""

    SOURCE_PORTS = "source_ports"
    """Hosts choose the path of each connection by its source port; no switch is written to."""
    POLICY_RULES = "policy_rules"
    """One forwarding rule a flow."""
    WEIGHTS = "weights"
    """Shares of the next hops, for whatever is sent to a prefix."""
    DRAIN = "drain"
    """A port is taken out of use; nothing finer."""
    ADVICE = "advice"
    """A person is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What one target can be steered by.

    Attributes
    ----------
    target
        ``switch/leaf1`` or ``job/pretrain``.
    rungs
        `Rung.ADVICE` is always among them.
    lacking
        Why a rung is not there, by rung.
    takes_commits
        It undoes a change by itself unless that is confirmed in time.
    counts_rules
        It counts the packets of each rule.
    most_rules
        How many flow rules it takes; None = not known.
    models
        YANG modules it names, as ``name@version``.
    """

    target: str
    rungs: Set[Rung]
    lacking: Mapping[Rung, str] = field(default_factory=dict)
    takes_commits: bool = False
    counts_rules: bool = False
    most_rules: int | None = None
    models: tuple[str, ...] = ()

    def has(self, rung: Rung) -> bool:
        return rung is Rung.ADVICE or rung in self.rungs

    def best(self) -> Rung:
        return next(rung for rung in Rung if self.has(rung))

    def text(self) -> str:
        """Return what it can do and why not more, in one line."""
        can = ", ".join(rung for rung in Rung if self.has(rung))
        why = "; ".join(f"no {rung}: {reason}" for rung, reason in self.lacking.items())
        commits = "commits confirmed" if self.takes_commits else "no commits"
        return f"{self.target}: {can} ({commits})" + (f"; {why}" if why else "")


def advice_only(target: str, reason: str) -> Capability:
    """Return the capability of what cannot be reached or may not be touched."""
    rungs: list[Rung] = [rung for rung in Rung if rung is not Rung.ADVICE]
    lacking: dict[Rung, str] = dict.fromkeys(rungs, reason)
    return Capability(target=target, rungs=frozenset({Rung.ADVICE}), lacking=lacking)


def job_capability(job: str, connections: int) -> Capability:
    """Return what a job (``job/pretrain``) can be steered by.

    ``connections`` is how many it announced whose source port can be chosen.
    """
    if connections == 0:
        return advice_only(job, "no connection whose source port can be chosen")
    return Capability(target=job, rungs=frozenset({Rung.SOURCE_PORTS, Rung.ADVICE}))
