"""What is made of the switches' reports, and each thing that does not fit."""

from dataclasses import replace

import pytest

from cluster.discovered import Hints, Interface, Neighbour, SwitchReport, discover
from cluster.findings import Finding
from cluster.rewired import rewired
from cluster.topology import Gpu, Host, Link, NextHop, Route, SourcePortRule, Switch, Topology

ROUTER = frozenset({"ROUTER"})
STATION = frozenset({"STATION_ONLY"})


def hears(name: str, port: str, *, speed: float | None = 400e9, capabilities=ROUTER):
    return speed, Neighbour(system_name=name, port=port, capabilities=capabilities)


def report(name: str, **ports: tuple[float | None, Neighbour] | None) -> SwitchReport:
    """Return what a switch told; a port that hears nobody is None."""
    return SwitchReport(
        name=name,
        cell="pod1",
        system_names=(f"{name}.example.net",),
        interfaces=tuple(
            Interface(name=port, is_up=False)
            if told is None
            else Interface(name=port, bits_per_second=told[0], neighbours=(told[1],))
            for port, told in ports.items()
        ),
    )


def fabric(**changed: SwitchReport) -> list[SwitchReport]:
    """Return two leaves with a host each and one spine; some reports may be others."""
    reports = {
        "leaf1": report(
            "leaf1",
            e1=hears("h1", "mlx5_0", capabilities=STATION),
            e49=hears("spine1.example.net", "e1", speed=800e9),
        ),
        "leaf2": report(
            "leaf2",
            e1=hears("h2", "mlx5_0", capabilities=frozenset()),
            e49=hears("SPINE1", "e2", speed=800e9),
        ),
        "spine1": report(
            "spine1",
            e1=hears("leaf1.example.net", "e49", speed=800e9),
            e2=hears("leaf2", "e49", speed=800e9),
        ),
    }
    return list((reports | changed).values())


WHOLE = Topology(
    switches=(
        Switch(name="leaf1", cell="pod1", tier=1),
        Switch(name="leaf2", cell="pod1", tier=1),
        Switch(name="spine1", cell="pod1", tier=2),
    ),
    hosts=(Host(name="h1", cell="pod1"), Host(name="h2", cell="pod1")),
    links=(
        Link(lower="h1:mlx5_0", upper="leaf1:e1", capacity_bits_per_second=400e9),
        Link(lower="h2:mlx5_0", upper="leaf2:e1", capacity_bits_per_second=400e9),
        Link(lower="leaf1:e49", upper="spine1:e1", capacity_bits_per_second=800e9),
        Link(lower="leaf2:e49", upper="spine1:e2", capacity_bits_per_second=800e9),
    ),
)


def told(reports: list[SwitchReport], hints: Hints | None = None) -> list[str]:
    return [str(finding) for finding in discover(reports, hints).findings]


def test_the_topology_is_what_the_switches_hear():
    found = discover(fabric())
    assert (found.topology, found.findings) == (WHOLE, ())
    assert discover(fabric(), Hints(known=WHOLE)).findings == ()


def test_one_sided_lldp_is_told_and_the_link_kept():
    deaf = report("spine1", e1=None, e2=hears("leaf2", "e49", speed=800e9))
    found = discover(fabric(spine1=deaf))
    assert found.topology == WHOLE
    assert found.findings == (
        Finding(
            kind="one_sided",
            component="port/leaf1:e49",
            text="hears spine1 e1, which hears nobody there",
        ),
    )


def test_ends_that_hear_somebody_else_are_told_and_no_link():
    crossed = report(
        "spine1",
        e1=hears("leaf2", "e49", speed=800e9),
        e2=hears("leaf2", "e49", speed=800e9),
    )
    found = discover(fabric(spine1=crossed))
    assert [link.lower for link in found.topology.links] == ["h1:mlx5_0", "h2:mlx5_0", "leaf2:e49"]
    assert [(f.kind, f.component, f.text) for f in found.findings] == [
        ("contradiction", "port/leaf1:e49", "hears spine1 e1, which hears leaf2 e49 there"),
        ("contradiction", "port/spine1:e1", "hears leaf2 e49, which hears spine1 e2 there"),
    ]


def test_two_speeds_on_one_cable_are_told_and_the_lower_one_holds():
    slow = report(
        "spine1",
        e1=hears("leaf1", "e49", speed=400e9),
        e2=hears("leaf2", "e49", speed=800e9),
    )
    found = discover(fabric(spine1=slow))
    link = found.topology.links_by_port["leaf1:e49"]
    assert link.capacity_bits_per_second == 400e9
    assert [str(f) for f in found.findings] == [
        "fault  speed_mismatch        port/leaf1:e49: 800 Gbit/s here, 400 at spine1 e1"
    ]


@pytest.mark.parametrize(
    ("port", "kind", "text"),
    [
        (
            hears("core7", "e9"),
            "unknown_neighbour",
            "hears 'core7' e9, which forwards (ROUTER) and is no configured target",
        ),
        (hears("spine1", "e77"), "unknown_port", "hears spine1 e77, which has no such interface"),
        (
            hears("h3", "eth0", speed=None, capabilities=STATION),
            "no_speed",
            "its speed is not known; the link is left out",
        ),
    ],
)
def test_a_port_that_does_not_fit_is_told_and_left_out(port, kind, text):
    leaf = fabric()[0]
    speed, neighbour = port
    extra = Interface(name="e50", bits_per_second=speed, neighbours=(neighbour,))
    found = discover(fabric(leaf1=replace(leaf, interfaces=(*leaf.interfaces, extra))))
    assert found.topology == WHOLE
    assert [(f.kind, f.component, f.text) for f in found.findings] == [
        (kind, "port/leaf1:e50", text)
    ]


def test_a_host_that_forwards_is_a_host_by_name():
    leaf = report(
        "leaf1",
        e1=hears("gpu-7", "eth0"),
        e49=hears("spine1", "e1", speed=800e9),
    )
    assert [line.split()[1] for line in told(fabric(leaf1=leaf))] == ["unknown_neighbour"]
    found = discover(fabric(leaf1=leaf), Hints(hosts=("gpu-*",)))
    assert found.findings == ()
    assert [host.name for host in found.topology.hosts] == ["gpu-7", "h2"]


def test_a_nic_keeps_its_configured_name_where_lldp_tells_another():
    leaf = report(
        "leaf1",
        e1=hears("h1", "b8:ce:f6:00:00:01", capabilities=STATION),
        e49=hears("spine1", "e1", speed=800e9),
    )
    by_address = discover(fabric(leaf1=leaf)).topology
    assert by_address.links[0].lower == "h1:b8:ce:f6:00:00:01"
    found = discover(fabric(leaf1=leaf), Hints(known=WHOLE))
    assert (found.topology, found.findings) == (WHOLE, ())
    # A name that is configured elsewhere is another cable, not another name.
    moved = report(
        "leaf1",
        e1=hears("h2", "mlx5_0", capabilities=STATION),
        e49=hears("spine1", "e1", speed=800e9),
    )
    silent = report("leaf2", e1=None, e49=hears("spine1", "e2", speed=800e9))
    kinds = [
        f.kind for f in discover(fabric(leaf1=moved, leaf2=silent), Hints(known=WHOLE)).findings
    ]
    assert kinds == ["missing_link", "other_end"]


def test_a_switch_is_believed_before_an_agent_on_the_same_cable():
    leaf = fabric()[0]
    agent = Neighbour(system_name="spine1-bmc", port="aa:bb", capabilities=frozenset())
    uplink = leaf.interfaces[1]
    both = replace(uplink, neighbours=(agent, *uplink.neighbours))
    found = discover(fabric(leaf1=replace(leaf, interfaces=(leaf.interfaces[0], both))))
    assert found.topology == WHOLE
    assert [(f.severity, f.kind) for f in found.findings] == [("note", "several_neighbours")]


def test_tiers_are_counted_from_the_hosts_and_may_be_told():
    core = report("core1", e1=hears("spine1", "e9"))
    spine = fabric()[2]
    up = Interface(name="e9", bits_per_second=400e9, neighbours=(hears("core1", "e1")[1],))
    reports = [*fabric(spine1=replace(spine, interfaces=(*spine.interfaces, up))), core]
    tiers = {s.name: s.tier for s in discover(reports).topology.switches}
    assert tiers == {"leaf1": 1, "leaf2": 1, "spine1": 2, "core1": 3}
    # A leaf without hosts looks like a switch above the spines.
    empty = discover(reports, Hints(tiers={"core*": 1})).topology
    assert {s.name: s.tier for s in empty.switches}["core1"] == 1
    assert empty.links_by_port["core1:e1"].upper == "spine1:e9"


def test_switches_of_one_tier_that_are_joined_are_told():
    leaf1, leaf2, spine = fabric()
    peer1 = Interface(name="e60", bits_per_second=4e11, neighbours=(hears("leaf2", "e60")[1],))
    peer2 = Interface(name="e60", bits_per_second=4e11, neighbours=(hears("leaf1", "e60")[1],))
    found = discover(
        [
            replace(leaf1, interfaces=(*leaf1.interfaces, peer1)),
            replace(leaf2, interfaces=(*leaf2.interfaces, peer2)),
            spine,
        ]
    )
    assert found.topology == WHOLE
    assert [f.kind for f in found.findings] == ["same_tier"]


def test_what_differs_from_the_configured_topology_is_told():
    faster = [
        link.model_copy(update={"capacity_bits_per_second": 1600e9}) for link in WHOLE.links[2:3]
    ]
    moved = [link.model_copy(update={"upper": "spine1:e5"}) for link in WHOLE.links[3:]]
    gone = Link(lower="leaf1:e50", upper="spine1:e3", capacity_bits_per_second=800e9)
    known = WHOLE.model_copy(update={"links": (*WHOLE.links[1:2], *faster, *moved, gone)})
    leaf = fabric()[0]
    dark = replace(leaf, interfaces=(*leaf.interfaces, Interface(name="e50", is_up=False)))
    assert told(fabric(leaf1=dark), Hints(known=known)) == [
        "fault  other_speed           link/leaf1:e49: is configured with 1600 Gbit/s, and has 800",
        "fault  other_end             link/leaf2:e49: is configured to spine1:e5, "
        "and leads to spine1:e2",
        "fault  missing_link          link/leaf1:e50: is configured, and LLDP does not show it: "
        "leaf1:e50 is down",
        "fault  new_link              link/h1:mlx5_0: is not in the configured topology",
    ]


def test_what_only_a_person_knows_is_kept_where_it_fits():
    good = Route(
        switch="leaf1",
        prefix="10.0.2.0/24",
        next_hops=(NextHop(index="spine1", interface="e49"),),
    )
    loose = good.model_copy(update={"next_hops": (NextHop(index="spine2", interface="e50"),)})
    rule = SourcePortRule(
        switch="leaf1", interface="e49", first_port=50000, last_port=50099, sequence=10
    )
    dark = rule.model_copy(update={"interface": "e50", "sequence": 11})
    stays = Gpu(host="h1", uuid="GPU-1", index=0, nic="h1:mlx5_0")
    unplugged = Gpu(host="h1", uuid="GPU-2", index=1, nic="h1:mlx5_9")
    gone = Gpu(host="h9", uuid="GPU-9", index=0)
    known = WHOLE.model_copy(
        update={
            "routes": (good, loose),
            "source_port_rules": (rule, dark),
            "gpus": (stays, unplugged, gone),
        }
    )
    topology, left_out = rewired(WHOLE, known)
    assert topology.routes == (good,)
    assert topology.source_port_rules == (rule,)
    assert topology.gpus == (stays, unplugged.model_copy(update={"nic": ""}))
    assert [(f.kind, f.component) for f in left_out] == [
        ("route_left_out", "switch/leaf1"),
        ("rule_left_out", "switch/leaf1"),
        ("gpu_left_out", "gpu/h9:GPU-9"),
    ]
