"""The questions of docs/sql.md on a small set of facts, through the recorder's own insert code."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

import pytest
from clickhouse_connect.driver.client import Client

from actuators.records import DecisionEvent, Event, ReasonCode
from cluster.frame import Layout, SeriesKey
from cluster.topology import Engine, Link, Service, Switch, Topology
from detectors.records import AlertState
from pipelines import topics
from pipelines.agents.record_write import RangeWriter
from pipelines.messages.alerts import encode_alert, encode_detection
from pipelines.messages.decisions import encode_event
from pipelines.messages.frames import encode_frame
from pipelines.storage.store import Claim, Store
from pipelines.storage.topology_rows import COLUMNS, topology_rows
from pipelines.wire import telemetry_pb2 as pb
from tests.paths import ROOT
from tests.record.conftest import FixedClock
from tests.record.messages import (
    ALERT,
    DETECTION,
    JOB_LAYOUT,
    NOW_NS,
    SECOND_NS,
    decision_events,
    frame,
)

ENGINES = (Engine(name="chat-0"), Engine(name="chat-1"))
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
QUESTION = re.compile(r"^## (\d+)\. .*?```sql\n(.*?)```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Message:
    offset: int
    value: bytes
    key: bytes = b"pod1"


def link_loads() -> list[bytes]:
    """Octets out: 50 a second on Ethernet1, where the counter is reset once; drops on its queue."""
    octets = [1000.0, 1050.0, 1100.0, 0.0, 50.0]
    drops = [0.0, 0.0, 120.0, 120.0, 120.0]
    values = [[out, 7.0, dropped] for out, dropped in zip(octets, drops, strict=True)]
    return [
        encode_frame(frame(values, sequence=1), with_layout=True),
        encode_frame(frame([[float("nan")] * 3], sequence=4), with_layout=False),
    ]


def optics_and_engines() -> list[bytes]:
    optics = Layout((SeriesKey("port/leaf1:Ethernet1", "net_if_pre_fec_ber_ratio"),))
    engines = Layout(tuple(SeriesKey(f"engine/chat-{n}", "llm_requests_running") for n in range(2)))
    made = [
        frame([[1e-5], [1e-6]], sequence=1, layout=optics, source="target/optics"),
        frame([[8.0, 2.0]], sequence=1, layout=engines, source="target/engines"),
    ]
    return [encode_frame(one, with_layout=True) for one in made]


def step_times() -> bytes:
    values = [[1.0], [1.0], [1.6], [1.8]]
    made = frame(
        values, sequence=1, layout=JOB_LAYOUT, source="job/pretrain", step_ns=30 * SECOND_NS
    )
    return encode_frame(made, with_layout=True)


def delivery(attempt: int, state: str, status: int) -> bytes:
    return pb.Delivery(
        delivery_id="msg_1",
        attempt=attempt,
        endpoint="ops",
        event_type="degradation.detected",
        subject_id="alert-1",
        at_ns=NOW_NS + attempt,
        state=state,
        status=status,
        cell="pod1",
    ).SerializeToString()


def taken_back() -> DecisionEvent:
    return replace(
        decision_events()[0],
        decision_id="decision-2",
        event=Event.ROLLED_BACK,
        reason_code=ReasonCode.REVERTED_BY_PERSON,
        reason="she said so",
        actor="ana",
        at_ns=NOW_NS + 60 * SECOND_NS,
    )


def facts() -> dict[str, list[bytes]]:
    resolved = replace(
        ALERT,
        alert_id="alert-0",
        state=AlertState.RESOLVED,
        revision=2,
        onset_ns=NOW_NS - 100 * SECOND_NS,
        detected_ns=NOW_NS - 90 * SECOND_NS,
        revised_ns=NOW_NS - 40 * SECOND_NS,
    )
    opened = replace(resolved, state=AlertState.OPENED, revision=1, revised_ns=resolved.detected_ns)
    again = replace(DETECTION, detection_id="det-2", shift_sigmas=-9.0)
    return {
        topics.FRAMES: [*link_loads(), *optics_and_engines(), step_times(), b"rubbish"],
        topics.DETECTIONS: [encode_detection(DETECTION), encode_detection(again)],
        topics.ALERTS: [encode_alert(a) for a in (opened, resolved, ALERT)],
        topics.DECISIONS: list(map(encode_event, [*decision_events(), taken_back()])),
        topics.DELIVERIES: [delivery(1, "retrying", 503), delivery(2, "delivered", 204)],
    }


@pytest.fixture
def filled(client: Client) -> Client:
    store = Store(client)
    writer = RangeWriter(store, FixedClock())
    for topic, values in facts().items():
        claim = Claim(
            epoch="e",
            topic=topic,
            partition=0,
            first=0,
            until=len(values),
            stored=date(2026, 11, 30),
        )
        writer.write(claim, [Message(offset, value) for offset, value in enumerate(values)])
    topology = Topology(
        switches=(
            Switch(name="leaf1", cell="pod1", tier=1),
            Switch(name="spine1", cell="pod1", tier=2),
        ),
        links=(Link(lower="leaf1:Ethernet1", upper="spine1:1", capacity_bits_per_second=1000.0),),
        services=(Service(name="chat", cell="pod1", engines=ENGINES),),
    )
    store.insert_rows("topology", COLUMNS, topology_rows(topology, now_ns=NOW_NS), token="t")
    return client


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(NOON.timestamp() + seconds, UTC)


SERIES = ("port/leaf1:Ethernet1", "net_queue_dropped_packets_total", 'queue="3"')
EXPECTED: dict[int, list[tuple[object, ...]]] = {
    1: [
        (
            "link/leaf1:Ethernet1",
            "link_degraded",
            "critical",
            NOON,
            "FEC errors rise on leaf1:Ethernet1",
            ["job/pretrain"],
        )
    ],
    2: [
        ("alert-0", "link/leaf1:Ethernet1", 10.0, 60.0),
        ("alert-1", "link/leaf1:Ethernet1", 5.0, "nan"),
    ],
    3: [
        (
            *("link/leaf1:Ethernet1", "weight_share", "1.0", "0.05", "kept"),
            *("job/pretrain", 1.6, 1.1, "improved"),
        ),
        ("link/leaf1:Ethernet1", "weight_share", "1.0", "0.05", "rolled_back", "", 0.0, 0.0, ""),
    ],
    4: [
        ("decision-1", "link/leaf1:Ethernet1", "kept", "effect_improved", "auto", "trimtab", 5),
        (
            *("decision-2", "link/leaf1:Ethernet1", "rolled_back", "reverted_by_person"),
            *("auto", "ana", 1),
        ),
    ],
    5: [(at(0), 1.0, 2), (at(60), 1.7, 2)],
    6: [
        ("port/leaf1:Ethernet1", at(0), 400.0, 0.4),
        ("port/leaf1:Ethernet2", at(0), 0.0, "nan"),
    ],
    7: [("port/leaf1:Ethernet1", at(2), 120.0)],
    8: [(*SERIES, 2, 9.0)],
    9: [
        ("never came", "switch/leaf1", 2, 0),
        ("refused: not_a_frame", "telemetry.frames", 1, 0),
    ],
    11: [],
    12: [(at(0), "leaf1", 1, 0.4, 0.0)],
    13: [("port/leaf1:Ethernet1", 1e-5, 1e-6)],
    14: [(at(0), "service/chat", "llm_requests_running", 2, 5.0, 8.0, "engine/chat-0")],
    15: [("link/leaf1:Ethernet1", 5.0, 8.0, 10.0)],
    16: [("decision-2", "link/leaf1:Ethernet1", "ana", "she said so", "0.05", "1.0")],
    10: [("ops", "degradation.detected", "alert-1", "delivered", 204, 2)],
}


def told(value: object) -> object:
    return "nan" if isinstance(value, float) and value != value else value  # noqa: PLR0124


def test_every_question_has_its_answer(filled: Client) -> None:
    questions = QUESTION.findall((ROOT / "docs" / "sql.md").read_text())
    answers = {
        int(number): [
            tuple(told(value) for value in row)
            for row in filled.query(sql, settings={"readonly": 1}).result_rows
        ]
        for number, sql in questions
    }
    assert answers == EXPECTED


def test_ledger_equals_the_readings(filled: Client) -> None:
    assert filled.query(
        "SELECT (SELECT sum(samples) FROM frames), (SELECT count() FROM samples), "
        "(SELECT sum(samples) FROM series)"
    ).first_row == (23, 23, 23)


def test_components_are_what_was_measured(filled: Client) -> None:
    rows = filled.query("SELECT component, kind, cell, series FROM components ORDER BY component")
    assert [tuple(row) for row in rows.result_rows] == [
        ("engine/chat-0", "engine", "pod1", 1),
        ("engine/chat-1", "engine", "pod1", 1),
        ("job/pretrain", "job", "pod1", 1),
        ("port/leaf1:Ethernet1", "port", "pod1", 3),
        ("port/leaf1:Ethernet2", "port", "pod1", 1),
    ]
