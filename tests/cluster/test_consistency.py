"""Each flaw of a topology is told once, and a fabric without one is silent."""

import pytest

from cluster.consistency import Consistency, counted
from cluster.topology import Host, Link, Switch, Topology


def leaves_and_spines(
    *, leaves: int = 2, spines: int = 2, nics: int = 2, cores: int = 0
) -> dict[str, list]:
    """Return the parts of a fabric at 400 Gbit/s, 1:1 with two NICs a leaf."""
    tiers = [("leaf", leaves, 1), ("spine", spines, 2), ("core", cores, 3)]
    links = [
        (f"h{n}:nic{k}", f"leaf{n}:e{k}") for n in range(1, leaves + 1) for k in range(1, nics + 1)
    ]
    links += [
        (f"leaf{n}:up{s}", f"spine{s}:e{n}")
        for n in range(1, leaves + 1)
        for s in range(1, spines + 1)
    ]
    links += [
        (f"spine{s}:up{c}", f"core{c}:e{s}")
        for s in range(1, spines + 1)
        for c in range(1, cores + 1)
    ]
    return {
        "switches": [
            Switch(name=f"{kind}{n}", cell="pod1", tier=tier)
            for kind, count, tier in tiers
            for n in range(1, count + 1)
        ],
        "hosts": [Host(name=f"h{n}", cell="pod1") for n in range(1, leaves + 1)],
        "links": [
            Link(lower=lower, upper=upper, capacity_bits_per_second=400e9) for lower, upper in links
        ],
    }


def told(parts: dict[str, list]) -> list[tuple[str, str, str, str]]:
    found = Consistency(Topology(**parts)).findings
    return [(f.severity, f.kind, f.component, f.text) for f in found]


@pytest.mark.parametrize("cores", [0, 2])
def test_a_whole_fabric_is_silent(cores):
    assert told(leaves_and_spines(cores=cores)) == []


def test_one_switch_alone_needs_no_uplinks():
    assert told(leaves_and_spines(leaves=1, spines=0)) == []


def test_a_leaf_without_uplinks_is_a_fault_and_an_island():
    parts = leaves_and_spines(leaves=3)
    parts["links"] = [link for link in parts["links"] if not link.lower.startswith("leaf3:")]
    assert told(parts) == [
        ("fault", "no_uplinks", "switch/leaf3", "is a leaf without uplinks"),
        (
            "fault",
            "island",
            "switch/leaf3",
            "no link joins it with another switch",
        ),
    ]


def test_islands_are_told_with_their_switches():
    parts = leaves_and_spines(leaves=3, spines=3, nics=1)
    # Leaf 3 hangs on spine 3 alone, the others on the other two.
    parts["links"] = [
        link
        for link in parts["links"]
        if link.lower.startswith("h") or link.lower.startswith("leaf3") == ("spine3" in link.upper)
    ]
    faults = [line for line in told(parts) if line[0] == "fault"]
    assert faults == [
        (
            "fault",
            "island",
            "switch/leaf3",
            "no link joins these 2 switches with the others: leaf3, spine3",
        )
    ]


def test_oversubscription_is_told_per_leaf_and_pod():
    parts = leaves_and_spines(nics=4, cores=1)
    looked = Consistency(Topology(**parts))
    assert [(leaf.name, leaf.ratio) for leaf in looked.leaves] == [("leaf1", 2.0), ("leaf2", 2.0)]
    assert [(pod.name, pod.ratio) for pod in looked.pods] == [("leaf1..leaf2", 4.0)]
    assert told(parts) == [
        (
            "note",
            "oversubscribed",
            "switch/leaf1",
            "leaf is 2:1 oversubscribed: 1,600 Gbit/s of hosts on 800 upwards; so are 1 more",
        ),
        (
            "note",
            "oversubscribed",
            "switch/leaf1..leaf2",
            "pod is 4:1 oversubscribed: 3,200 Gbit/s of hosts on 800 upwards",
        ),
    ]


def test_a_leaf_with_less_upwards_than_its_peers_is_noted():
    parts = leaves_and_spines(leaves=3, nics=1)
    parts["links"] = [link for link in parts["links"] if link.lower != "leaf2:up2"]
    assert told(parts) == [
        (
            "note",
            "uneven_uplinks",
            "switch/leaf2",
            "has 400 Gbit/s upwards, most of tier 1 have 800",
        )
    ]


def test_links_that_skip_a_tier_or_stay_in_one_are_faults():
    parts = leaves_and_spines(cores=1, nics=1)
    parts["links"] += [
        Link(lower="leaf1:x1", upper="core1:x1", capacity_bits_per_second=400e9),
        Link(lower="leaf1:x2", upper="leaf2:x2", capacity_bits_per_second=400e9),
        Link(lower="h1:x3", upper="spine1:x3", capacity_bits_per_second=400e9),
    ]
    faults = [
        (kind, component) for severity, kind, component, _ in told(parts) if severity == "fault"
    ]
    assert faults == [
        ("tier_gap", "link/leaf1:x1"),
        ("same_tier", "link/leaf1:x2"),
        ("host_above_leaf", "link/h1:x3"),
    ]


def test_a_host_without_a_link_is_noted():
    parts = leaves_and_spines()
    parts["hosts"].append(Host(name="h9", cell="pod1"))
    assert told(parts) == [("note", "host_without_link", "host/h9", "is plugged into no switch")]


def test_findings_are_counted_in_words():
    parts = leaves_and_spines(nics=4)
    looked = Consistency(Topology(**parts))
    assert (counted(looked.findings), counted([])) == ("1 note", "nothing amiss")
