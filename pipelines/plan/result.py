"""A plan as it is told: numbers and names only, so that text, JSON and picture say the same."""

from dataclasses import dataclass

from cluster.consistency import Subscription
from cluster.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricFacts:
    """What is planned on; rates in bits per second, of one direction."""

    name: str
    switches_by_tier: tuple[int, ...]
    nics: int
    links: int
    links_down: int
    leaf_uplink_bits_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseFacts:
    """A phase of a job; times within its period, when every flow gets what it wants."""

    start_seconds: float
    duration_seconds: float
    period_seconds: float
    collectives: tuple[str, ...]
    flows: int
    bits_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """A job; ``idle_ratio`` is the share of a period it does not send, 0.0 when it never pauses."""

    job_id: str
    priority: int
    ranks: int
    steerable: bool
    phases: tuple[PhaseFacts, ...]
    idle_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What one way of choosing paths comes to.

    Attributes
    ----------
    name
        ``ecmp``, ``greedy``, ``placed``; with a what-if ``placed`` is the placement before it with
        few moves, and ``anew`` what a fresh one would come to.
    highest_load_ratio
        The largest load wanted of a link over its capacity.
    links_over
        Directed links of which more is wanted than they carry.
    delivered_ratio
        What flows get, max-min fair, over what they want.
    slowdown_by_job
        How much longer the phase takes than alone on a network without limits but the NICs.
    """

    name: str
    highest_load_ratio: float
    highest_link: str
    links_over: int
    delivered_ratio: float
    slowdown_by_job: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateFacts:
    """Why no placement can be better: the bound, how much of it is reached, what limits it.

    Attributes
    ----------
    bound
        A highest load that no placement of these flows, and of those beside them, gets below.
    """

    bound: float
    reached_ratio: float
    component: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFacts:
    """Phases that are placed together.

    Attributes
    ----------
    beside
        Jobs that have no phase here: their heaviest is on the network, as it was placed.
    moved_flows
        How many changed their path with the what-if; None without one.
    """

    phases: tuple[str, ...]
    beside: tuple[str, ...]
    flows: int
    subflows: int
    ways: tuple[Way, ...]
    certificate: CertificateFacts
    moved_flows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFacts:
    """The whole plan.

    Attributes
    ----------
    changes
        What of the what-if holds here, one line each.
    worst_load_ratio
        By way: the highest load of a link when every job is in the phase that loads it most.
    """

    fabric: FabricFacts
    changes: tuple[str, ...]
    findings: tuple[Finding, ...]
    leaves: tuple[Subscription, ...]
    pods: tuple[Subscription, ...]
    jobs: tuple[JobFacts, ...]
    notes: tuple[str, ...]
    sets: tuple[SetFacts, ...]
    worst_load_ratio: dict[str, float]
