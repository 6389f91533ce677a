from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from cluster.topology import Engine, Gpu, Host, Link, Service, Switch, Topology
from detectors.records import Alert, AlertState, Cause
from pipelines.config.notify import SilenceConfig
from pipelines.notify.gate import Containers, Gate, HeldBack
from tests.record.messages import ALERT, NOW_NS, SECOND_NS

TOPOLOGY = Topology(
    switches=(
        Switch(name="leaf1", cell="pod1", tier=1),
        Switch(name="spine1", cell="pod1", tier=2),
    ),
    hosts=(Host(name="h1", cell="pod1"),),
    links=(Link(lower="leaf1:Ethernet49", upper="spine1:Ethernet1", capacity_bits_per_second=1e9),),
    gpus=(Gpu(host="h1", uuid="GPU-1", index=0),),
    services=(
        Service(name="chat", cell="pod1", engines=(Engine(name="chat-0", gpus=("gpu/h1:GPU-1",)),)),
    ),
)
LINK = "link/leaf1:Ethernet49"


def alert(component: str, cause: Cause = Cause.LINK_DEGRADED, **fields: object) -> Alert:
    made = replace(ALERT, component=component, cause=cause, alert_id=f"of {component}")
    return replace(made, **fields)  # type: ignore[arg-type]


@pytest.fixture
def gate() -> Gate:
    return Gate(containers=Containers(TOPOLOGY))


@pytest.mark.parametrize(
    ("component", "containers"),
    [
        ("port/leaf1:Ethernet49", ("switch/leaf1", LINK)),
        ("port/leaf1:Ethernet7", ("switch/leaf1",)),
        (LINK, ("switch/leaf1", "host/leaf1", "switch/spine1", "host/spine1")),
        ("link/elsewhere:1", ("switch/elsewhere", "host/elsewhere")),
        ("gpu/h1:GPU-1", ("host/h1",)),
        ("nic/h1:mlx5_0", ("host/h1",)),
        ("engine/chat-0", ("host/h1",)),
        ("engine/other", ()),
        ("job/pretrain", ()),
    ],
)
def test_what_a_component_is_part_of(component: str, containers: tuple[str, ...]) -> None:
    assert Containers(TOPOLOGY).of(component) == containers


def test_switch_holds_back_its_links_while_it_lasts(gate: Gate) -> None:
    switch = alert("switch/spine1", Cause.SILENT_DROP)
    gate.saw_all([alert(LINK), switch])
    detail = "by of switch/spine1 on switch/spine1: silent_drop"
    assert gate.inhibited(alert(LINK)) == HeldBack(state="inhibited", detail=detail)
    assert gate.inhibited(switch) is None
    gate.saw(replace(switch, state=AlertState.RESOLVED))
    assert gate.inhibited(alert(LINK)) is None


def test_silent_switch_explains_silent_ports_only(gate: Gate) -> None:
    gate.saw(alert("switch/leaf1", Cause.TELEMETRY_FAULT))
    assert gate.inhibited(alert("port/leaf1:Ethernet7", Cause.TELEMETRY_FAULT)) is not None
    assert gate.inhibited(alert("port/leaf1:Ethernet7")) is None


def silence(**fields: object) -> SilenceConfig:
    return SilenceConfig.model_validate({"ends": "2026-11-30T13:00:00+01:00"} | fields)


def test_silence_holds_back_what_fits_until_it_ends() -> None:
    gate = Gate(
        containers=Containers(TOPOLOGY),
        silences=(silence(component="link/leaf1:*", ends="2026-11-30T13:01:00+01:00", why="work"),),
    )
    held = HeldBack(state="silenced", detail="until 2026-11-30T12:01:00+00:00: work")
    assert gate.silenced(alert(LINK), now_ns=NOW_NS) == held
    assert gate.silenced(alert("link/leaf2:Ethernet1"), now_ns=NOW_NS) is None
    assert gate.silenced(alert(LINK), now_ns=NOW_NS + 60 * SECOND_NS) is None


def test_silence_begins_when_it_says() -> None:
    starts = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
    later = silence(starts=starts, ends=datetime(2026, 11, 30, 13, tzinfo=UTC))
    gate = Gate(containers=Containers(TOPOLOGY), silences=(later,))
    assert gate.silenced(alert(LINK), now_ns=NOW_NS) is None
    assert gate.silenced(alert(LINK), now_ns=NOW_NS + 30 * SECOND_NS) is not None


def test_silence_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValidationError, match="need a time zone"):
        silence(ends="2026-11-30T13:00:00")
