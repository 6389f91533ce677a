"""What deciding and acting tell: decisions, actions, effects, and their closed catalogues."""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """Who has the last word on an action."""

    AUTO = "auto"
    APPROVE = "approve"
    ADVISE = "advise"
    OFF = "off"


class ActionKind(StrEnum):
    REROUTE = "reroute"
    REASSIGN = "reassign"
    ADJUST_BATCH = "adjust_batch"


class Event(StrEnum):
    """Every state a decision passes through; append-only."""

    PROPOSED = "proposed"
    ADVISED = "advised"
    APPROVAL_REQUESTED = "approval_requested"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    INVOKED = "invoked"
    IN_PROGRESS = "in_progress"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    VERIFIED = "verified"
    MEASURED = "measured"
    KEPT = "kept"
    ROLLED_BACK = "rolled_back"
    NOTHING = "nothing"
    SKIPPED_NO_CHANGE = "skipped_no_change"
    SKIPPED_STALE = "skipped_stale"
    SKIPPED_COOLDOWN = "skipped_cooldown"
    SKIPPED_BREAKER = "skipped_breaker"
    SKIPPED_CONFLICT = "skipped_conflict"


class ReasonCode(StrEnum):
    """Why an event happened, as data; append-only."""

    ALERT_ANSWERED = "alert_answered"
    ANNOUNCED = "announced"
    NO_ACTUATOR = "no_actuator"
    NO_PROPOSAL = "no_proposal"
    NO_GAIN = "no_gain"
    LAST_PATH = "last_path"
    ALREADY_SO = "already_so"
    OTHER_PICKED = "other_picked"
    MODE_ADVISE = "mode_advise"
    MODE_APPROVE = "mode_approve"
    MODE_OFF = "mode_off"
    KILL_SWITCH = "kill_switch"
    STALE_ALERT = "stale_alert"
    STALE_DATA = "stale_data"
    ALERT_RESOLVED = "alert_resolved"
    COOLDOWN = "cooldown"
    FLAP_BUDGET = "flap_budget"
    BLAST_RADIUS = "blast_radius"
    ACTION_IN_FLIGHT = "action_in_flight"
    APPROVED_BY_PERSON = "approved_by_person"
    REJECTED_BY_PERSON = "rejected_by_person"
    REVERTED_BY_PERSON = "reverted_by_person"
    RECOVERED = "recovered"
    APPROVAL_EXPIRED = "approval_expired"
    WITHIN_POLICY = "within_policy"
    WRITTEN = "written"
    READ_BACK_EQUAL = "read_back_equal"
    READ_BACK_DIFFERS = "read_back_differs"
    DRIVER_REFUSED = "driver_refused"
    DRIVER_UNREACHABLE = "driver_unreachable"
    OUTCOME_UNKNOWN = "outcome_unknown"
    RESUMED = "resumed"
    EFFECT_IMPROVED = "effect_improved"
    EFFECT_NEUTRAL = "effect_neutral"
    EFFECT_WORSE = "effect_worse"
    EFFECT_UNKNOWN = "effect_unknown"


class Verdict(StrEnum):
    IMPROVED = "improved"
    NEUTRAL = "neutral"
    WORSE = "worse"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One write to one target; undone by writing ``from_value`` back.

    Attributes
    ----------
    target
        Component written to: ``switch/leaf1``, ``engine/chat-3``, ``job/pretrain``.
    path
        What is written there, in the driver's own words.
    """

    target: str
    path: str
    from_value: str
    to_value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A planned change of the cluster, whole and reversible.

    Attributes
    ----------
    parameter
        What of the target: ``weight_share``, ``role``, ``concurrency_limit``, ``micro_batches``.
    changes
        Every single write, in order; undone in reverse.
    expected_gain_ratio
        Predicted relative gain of the objective, 0.4 = 40 %.
    expected_cost_seconds
        How long the change itself disturbs.
    """

    action_id: str
    kind: ActionKind
    target: str
    parameter: str
    from_value: str
    to_value: str
    changes: tuple[Change, ...]
    expected_gain_ratio: float
    expected_cost_seconds: float
    driver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A proposal that was not picked, with the reason."""

    action_kind: ActionKind
    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What an action did to the objective.

    Attributes
    ----------
    healthy, before, after
        Level of the objective before the degradation (NaN when unknown), before the action, after
        it; in the metric's unit.
    gain_low_ratio, gain_high_ratio
        Interval of the relative gain; positive = better.
    samples
        Readings of the objective after the action.
    """

    component: str
    metric: str
    better: str
    healthy: float
    before: float
    after: float
    gain_low_ratio: float
    gain_high_ratio: float
    samples: int
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionEvent:
    """One state that a decision passed through, with all that explains it.

    Attributes
    ----------
    sequence
        Counts the events of one decision from 1.
    at_ns
        Clock of the act worker.
    actor
        ``trimtab``, or the person who approved, rejected or reverted.
    action
        None when the decision is to do nothing.
    previous_hash, event_hash
        Chain of the events of one decision: a changed history shows.
    """

    decision_id: str
    alert_id: str
    cell: str
    component: str
    cause: str
    sequence: int
    at_ns: int
    event: Event
    reason_code: ReasonCode
    reason: str
    mode: Mode
    actor: str = "trimtab"
    action: Action | None = None
    effect: Effect | None = None
    constraints_checked: tuple[str, ...] = ()
    rejected_alternatives: tuple[Alternative, ...] = ()
    evidence_ids: tuple[str, ...] = ()
    config_hash: str = ""
    previous_hash: str = ""
    event_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What a person asks about a decision: ``approve``, ``reject`` or ``revert``."""

    request_id: str
    decision_id: str
    cell: str
    verb: str
    who: str
    why: str
    at_ns: int
