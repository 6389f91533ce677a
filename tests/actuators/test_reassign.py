import pytest

from actuators import reassign
from actuators.proposal import Proposal, Refusal
from actuators.records import Change, ReasonCode
from actuators.settings import ReassignConfig
from detectors.records import Cause
from tests.actuators.inputs import Targets, alert, levels, view

ROLES = {"engine/chat-0": "prefill", "engine/chat-1": "prefill", "engine/chat-2": "prefill"} | {
    "engine/chat-3": "decode"
}


async def planned(requests, *, roles=ROLES, cause=Cause.DECODE_STARVED, limit=10):
    known = levels(
        {
            (engine, metric): value
            for engine, (running, waiting) in requests.items()
            for metric, value in (
                ("llm_requests_running", running),
                ("llm_requests_waiting", waiting),
            )
        }
    )
    targets = Targets({(engine, "role"): role for engine, role in roles.items()})
    targets.limits = dict.fromkeys(roles, limit)
    return await reassign.plan(
        alert("service/chat", cause, affected=("service/chat",)),
        view=view(known),
        pool=targets,
        config=ReassignConfig(),
        action_id="x",
    )


BUSY = {
    "engine/chat-0": (4.0, 0.0),
    "engine/chat-1": (1.0, 0.0),
    "engine/chat-2": (3.0, 0.0),
    "engine/chat-3": (10.0, 6.0),
}


async def test_least_loaded_engine_of_the_other_pool_moves():
    proposal = await planned(BUSY)
    assert isinstance(proposal, Proposal)
    action = proposal.action
    assert action.changes == (
        Change(target="engine/chat-1", path="role", from_value="prefill", to_value="decode"),
    )
    assert action.expected_gain_ratio == pytest.approx(0.5)
    assert proposal.scope == ("engine/chat-1", "service/chat")


async def test_pool_is_never_emptied():
    roles = {"engine/chat-0": "prefill", "engine/chat-3": "decode"}
    refusal = await planned(BUSY, roles=roles)
    assert isinstance(refusal, Refusal)
    assert refusal.reason_code is ReasonCode.NO_PROPOSAL


async def test_move_that_only_shifts_the_shortage_is_no_gain():
    requests = BUSY | {f"engine/chat-{n}": (15.0, 0.0) for n in range(3)}
    refusal = await planned(requests)
    assert refusal.reason_code is ReasonCode.NO_GAIN


async def test_unknown_load_is_not_taken_for_none():
    """C31, C74: what is not reported is unknown, not 0."""
    refusal = await planned({e: r for e, r in BUSY.items() if e != "engine/chat-2"})
    assert refusal.reason_code is ReasonCode.STALE_DATA


async def test_starved_prefill_takes_from_decode():
    roles = {"engine/chat-0": "prefill", "engine/chat-1": "decode", "engine/chat-2": "decode"}
    requests = {
        "engine/chat-0": (10.0, 5.0),
        "engine/chat-1": (2.0, 0.0),
        "engine/chat-2": (1.0, 0.0),
    }
    proposal = await planned(requests, roles=roles, cause=Cause.PREFILL_STARVED)
    assert (proposal.action.target, proposal.action.to_value) == ("engine/chat-2", "prefill")


def test_requests_that_wait_for_their_kv_cache_are_load_of_the_decode_engine():
    engine = "engine/chat-3"
    known = levels(
        {
            (engine, "llm_requests_running"): 4.0,
            (engine, "llm_requests_waiting"): 0.0,
            (engine, "llm_decode_prealloc_queue_requests"): 16.0,
            (engine, "llm_kv_cache_usage_ratio"): 0.9,
        }
    )
    assert reassign.load_of(engine, levels=known, limit=10) == reassign.Load(
        requests=20.0, pressure=2.0
    )
