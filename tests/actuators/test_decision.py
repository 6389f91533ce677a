from dataclasses import replace

import pytest

from actuators.decision import Stage, TransitionError, begin, chain_fault, decision_id
from actuators.records import Event, Mode, ReasonCode
from pipelines.messages.decisions import event_hash
from tests.actuators.inputs import alert, detection


def begun():
    return begin(
        alert(evidence=(detection("x", "y", name="d7"),)),
        decision_id=decision_id("a1", 1),
        event=Event.PROPOSED,
        reason_code=ReasonCode.ALERT_ANSWERED,
        reason="slow",
        at_ns=1,
        mode=Mode.AUTO,
        config_hash="c",
        hash_of=event_hash,
    )


def after(*events):
    decision = begun()
    for n, (event, code) in enumerate(events, start=2):
        decision.record(event, code, "because", at_ns=n)
    return decision


WRITTEN = ((Event.INVOKED, ReasonCode.WITHIN_POLICY), (Event.SUCCEEDED, ReasonCode.WRITTEN))
VERIFIED = (*WRITTEN, (Event.VERIFIED, ReasonCode.READ_BACK_EQUAL))


@pytest.mark.parametrize(
    ("events", "stage"),
    [
        ((), Stage.PROPOSED),
        (((Event.SKIPPED_STALE, ReasonCode.STALE_DATA),), Stage.ENDED),
        (((Event.ADVISED, ReasonCode.MODE_ADVISE),), Stage.WATCHING),
        (((Event.APPROVAL_REQUESTED, ReasonCode.MODE_APPROVE),), Stage.WAITING),
        (WRITTEN[:1], Stage.WRITING),
        (WRITTEN, Stage.WRITING),
        ((*WRITTEN[:1], (Event.IN_PROGRESS, ReasonCode.RESUMED)), Stage.WRITING),
        (VERIFIED, Stage.MEASURING),
        ((*VERIFIED, (Event.MEASURED, ReasonCode.EFFECT_WORSE)), Stage.CONCLUDING),
        ((*VERIFIED, (Event.IN_PROGRESS, ReasonCode.REVERTED_BY_PERSON)), Stage.REVERTING),
        (
            (
                *VERIFIED,
                (Event.MEASURED, ReasonCode.EFFECT_IMPROVED),
                (Event.KEPT, ReasonCode.EFFECT_IMPROVED),
            ),
            Stage.ENDED,
        ),
    ],
)
def test_last_event_tells_what_a_decision_waits_for(events, stage):
    assert after(*events).stage is stage


@pytest.mark.parametrize("event", [Event.VERIFIED, Event.APPROVED, Event.KEPT, Event.ROLLED_BACK])
def test_event_that_cannot_follow_is_refused(event):
    decision = begun()
    with pytest.raises(TransitionError, match=f"{event} after proposed in a1-1"):
        decision.record(event, ReasonCode.WRITTEN, "", at_ns=2)
    assert len(decision.events) == 1


def test_events_of_a_decision_are_a_chain():
    events = after(*VERIFIED).events
    assert [e.sequence for e in events] == [1, 2, 3, 4]
    assert [e.previous_hash for e in events] == ["", *(e.event_hash for e in events[:-1])]
    assert events[0].evidence_ids == ("d7",)
    assert chain_fault(events, event_hash) is None


@pytest.mark.parametrize(
    ("position", "fault"), [(0, "event 1 was changed"), (3, "event 4 was changed")]
)
def test_changed_event_breaks_the_chain(position, fault):
    events = after(*VERIFIED).events
    events[position] = replace(events[position], reason="another")
    assert chain_fault(events, event_hash) == fault


def test_rewritten_event_with_a_fitting_hash_breaks_the_chain_after_it():
    events = after(*VERIFIED).events
    forged = replace(events[1], reason="another", event_hash="")
    events[1] = replace(forged, event_hash=event_hash(forged))
    assert chain_fault(events, event_hash) == "event 3 does not follow event 2"
