"""``trimtab plan`` as people run it, on small files."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.plan.examples import EXAMPLES


def plan(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, arguments)])


def facts(*arguments: object) -> dict:
    told = plan("--format", "json", *arguments)
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout)


# Two leaves with two hosts each, two spines; all links 400 Gbit/s.
TOPOLOGY = """
switches = [
    { name = "leaf1", cell = "c", tier = 1 }, { name = "leaf2", cell = "c", tier = 1 },
    { name = "spine1", cell = "c", tier = 2 }, { name = "spine2", cell = "c", tier = 2 },
]
hosts = [
    { name = "h1", cell = "c" }, { name = "h2", cell = "c" },
    { name = "h3", cell = "c" }, { name = "h4", cell = "c" },
]
links = [
    { lower = "h1:n0", upper = "leaf1:e1", capacity_bits_per_second = 400e9 },
    { lower = "h2:n0", upper = "leaf1:e2", capacity_bits_per_second = 400e9 },
    { lower = "h3:n0", upper = "leaf2:e1", capacity_bits_per_second = 400e9 },
    { lower = "h4:n0", upper = "leaf2:e2", capacity_bits_per_second = 400e9 },
    { lower = "leaf1:u1", upper = "spine1:e1", capacity_bits_per_second = 400e9 },
    { lower = "leaf1:u2", upper = "spine2:e1", capacity_bits_per_second = 400e9 },
    { lower = "leaf2:u1", upper = "spine1:e2", capacity_bits_per_second = 400e9 },
    { lower = "leaf2:u2", upper = "spine2:e2", capacity_bits_per_second = 400e9 },
]
"""
# A ring that crosses the spines twice at each leaf: two flows up, two down.
JOBS = """
[[jobs]]
job_id = "ring"
priority = 3
hosts = ["h1", "h3", "h2", "h4"]
[[jobs.collectives]]
kind = "all_reduce"
bytes = 5e9
period_seconds = 1.0
"""
MORE = """
[[jobs]]
job_id = "more"
hosts = ["h1", "h3"]
[[jobs.collectives]]
kind = "send_recv"
bytes = 2.5e9
period_seconds = 0.5
"""


@pytest.fixture
def files(tmp_path) -> tuple[Path, Path]:
    topology, jobs = tmp_path / "topology.toml", tmp_path / "jobs.toml"
    topology.write_text(TOPOLOGY)
    jobs.write_text(JOBS)
    return topology, jobs


def test_the_plan_of_a_small_ring_is_exact(files):
    topology, jobs = files
    told = facts("--topology", topology, jobs)
    assert told["fabric"] == {
        "name": "topology.toml",
        "switches_by_tier": [2, 2],
        "nics": 4,
        "links": 4,
        "links_down": 0,
        "leaf_uplink_bits_per_second": 1600e9,
    }
    assert told["jobs"] == [
        {
            "job_id": "ring",
            "priority": 3,
            "ranks": 4,
            "steerable": True,
            "phases": [
                {
                    "start_seconds": 0.0,
                    "duration_seconds": 0.1,
                    "period_seconds": 1.0,
                    "collectives": ["all_reduce"],
                    "flows": 4,
                    "bits_per_second": 1600e9,
                }
            ],
            "idle_ratio": 0.9,
        }
    ]
    (one,) = told["sets"]
    assert (one["phases"], one["beside"], one["flows"]) == (["ring (all_reduce)"], [], 4)
    assert one["moved_flows"] is None
    placed = one["ways"][-1]
    assert (placed["name"], placed["highest_load_ratio"], placed["links_over"]) == ("placed", 1, 0)
    assert (placed["delivered_ratio"], placed["slowdown_by_job"]) == (1.0, {"ring": 1.0})
    assert one["certificate"]["bound"] == one["certificate"]["reached_ratio"] == 1.0
    assert one["certificate"]["component"].startswith("switch/leaf")
    assert (told["findings"], told["notes"], told["changes"]) == ([], [], [])


def test_ecmp_collides_for_some_seed_and_the_placement_never(files):
    topology, jobs = files
    worst = set()
    for seed in range(12):
        ways = facts("--topology", topology, jobs, "--seed", seed)["sets"][0]["ways"]
        by_name = {way["name"]: way for way in ways}
        worst.add(by_name["ecmp"]["highest_load_ratio"])
        assert by_name["placed"]["highest_load_ratio"] == 1.0
        assert list(by_name) == ["ecmp", "greedy", "placed"]
    assert 2.0 in worst


def test_without_a_link_the_bound_is_told_and_only_its_flows_move(files):
    topology, jobs = files
    told = facts("--topology", topology, jobs, "--without", "link/leaf1:u1")
    assert told["changes"] == ["without link/leaf1:u1"]
    assert (told["fabric"]["links_down"], told["fabric"]["leaf_uplink_bits_per_second"]) == (
        1,
        1200e9,
    )
    (one,) = told["sets"]
    by_name = {way["name"]: way for way in one["ways"]}
    assert list(by_name) == ["ecmp", "greedy", "anew", "placed"]
    # Two flows of 400 Gbit/s on the one link that is left.
    assert (one["certificate"]["bound"], one["certificate"]["reached_ratio"]) == (2.0, 1.0)
    assert by_name["placed"]["highest_load_ratio"] == by_name["anew"]["highest_load_ratio"] == 2.0
    # One up and one down lay on it.
    assert one["moved_flows"] == 2


def test_a_slower_link_loses_what_it_cannot_carry(files):
    topology, jobs = files
    told = facts("--topology", topology, jobs, "--link", "link/leaf1:u1=0.5", "--subflows", 4)
    (one,) = told["sets"]
    assert told["changes"] == ["link/leaf1:u1 at 50% of its capacity"]
    # Two flows as four sub-flows each: three of eight on 200 Gbit/s, five on 400.
    assert one["certificate"]["bound"] == pytest.approx(1.5)
    assert one["subflows"] == 16


def test_a_job_more_meets_the_others(files, tmp_path):
    topology, jobs = files
    more = tmp_path / "more.toml"
    more.write_text(MORE)
    told = facts("--topology", topology, jobs, "--add-job", more)
    assert [job["job_id"] for job in told["jobs"]] == ["ring", "more"]
    (one,) = told["sets"]
    assert one["phases"] == ["ring (all_reduce)", "more (send_recv)"]
    # Three flows of 400 Gbit/s leave leaf 1 by two links.
    assert one["certificate"]["bound"] == 2.0
    assert set(one["ways"][0]["slowdown_by_job"]) == {"ring", "more"}


def test_text_tells_jobs_ways_and_the_certificate(files):
    topology, jobs = files
    told = plan("--topology", topology, jobs)
    assert (told.exit_code, told.stderr) == (0, "")
    lines = told.stdout.splitlines()
    assert lines[:2] == [
        "topology.toml: 2 + 2 switches by tier, 4 NICs, 4 links between switches, "
        "1.6 Tbit/s up from the leaves",
        "wiring: nothing amiss",
    ]
    assert "certificate: no placement of these 4 flows gets below 100.0%; this one reaches " in (
        told.stdout
    )
    for words in ("ECMP, hashed 5-tuples", "greedy, largest first", "idle 90%", "ring takes"):
        assert words in told.stdout


def test_an_example_needs_no_file_and_writes_its_own(tmp_path):
    folder = tmp_path / "mine"
    first = facts("--example", "leaf-spine-64", "--write", folder)
    again = facts("--topology", folder / "topology.toml", folder / "jobs.toml")
    assert first["sets"] == again["sets"]
    assert first["jobs"] == again["jobs"]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_example_is_planned_as_well_as_can_be(name):
    told = facts("--example", name, "--subflows", 4)
    assert len(told["sets"]) >= 1
    for one in told["sets"]:
        ways = {way["name"]: way for way in one["ways"]}
        assert one["certificate"]["reached_ratio"] == pytest.approx(1.0)
        assert ways["placed"]["highest_load_ratio"] <= ways["ecmp"]["highest_load_ratio"]


def test_the_picture_is_well_formed_and_self_contained(files, tmp_path):
    topology, jobs = files
    file = tmp_path / "plan.svg"
    told = plan("--topology", topology, jobs, "--without", "link/leaf1:u1", "--picture", file)
    assert (told.exit_code, told.stderr) == (0, f"{file}: written\n")
    picture = ET.fromstring(file.read_text())
    words = [e.text for e in picture.iter("{http://www.w3.org/2000/svg}text")]
    for word in (
        "before: ECMP, hashed",
        "after: placed together",
        "what if: without link/leaf1:u1",
    ):
        assert word in words
    assert "http" not in file.read_text().replace("http://www.w3.org/2000/svg", "")


def test_check_tells_the_wiring_and_fails_on_a_fault(tmp_path):
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(TOPOLOGY)
    cut = [line for line in TOPOLOGY.splitlines() if '"leaf2:u' not in line]
    bad.write_text("\n".join(cut))
    told = plan("--topology", good, "--check")
    assert (told.exit_code, told.stdout) == (
        0,
        "2 leaves at 1:1 (leaf1 … leaf2): 800 Gbit/s of hosts, 800 upwards each\n"
        "good.toml: nothing amiss\n",
    )
    told = plan("--topology", bad, "--check")
    assert told.exit_code == 1
    assert "fault  no_uplinks            switch/leaf2: is a leaf without uplinks" in told.stdout
    assert "bad.toml: 2 faults" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "needs one of --topology FILE, --example NAME, --from-deployment; there is none"),
        (
            ["--topology", "{topology}", "--example", "leaf-spine-64"],
            "needs one of --topology FILE, --example NAME, --from-deployment; there is --topology "
            "and --example",
        ),
        (
            ["--example", "huge"],
            "--example: is 'huge', not one of leaf-spine-1024, leaf-spine-64, oversubscribed-128, "
            "rails-256, three-tier-256",
        ),
        (["--topology", "{folder}/none.toml"], "{folder}/none.toml: No such file or directory"),
        (
            ["--topology", "{topology}", "{folder}/none.toml"],
            "{folder}/none.toml: No such file or directory",
        ),
        (["--topology", "{topology}"], "no job to place: name files with jobs behind the options"),
        (
            ["--topology", "{topology}", "{topology}"],
            "{topology}: jobs: Field required",
        ),
        (
            ["--topology", "{topology}", "{jobs}", "--add-job", "{jobs}"],
            "job 'ring' is there twice; job_id tells jobs apart",
        ),
        (
            ["--topology", "{topology}", "{jobs}", "--without", "link/leaf9:u1"],
            "--without: no link between switches 'link/leaf9:u1', there are link/leaf1:u1, "
            "link/leaf1:u2, link/leaf2:u1, link/leaf2:u2",
        ),
        (
            ["--topology", "{topology}", "{jobs}", "--link", "link/leaf1:u1=7"],
            "--link: is 'link/leaf1:u1=7', not LINK=RATIO with a ratio from 0 to 1",
        ),
        (
            ["--example", "leaf-spine-64", "--picture", "plan.png"],
            "--picture: is 'plan.png', not a file that ends in .svg",
        ),
        (
            ["--example", "leaf-spine-64", "--picture", "{folder}/no/plan.svg"],
            "{folder}/no/plan.svg: cannot be written: No such file or directory",
        ),
        (
            ["--topology", "{topology}", "{jobs}", "--write", "{folder}/x"],
            "--write: writes an example's files, and there is no --example",
        ),
    ],
)
def test_what_cannot_be_planned_is_told_in_one_line(files, tmp_path, arguments, told):
    places = {"folder": tmp_path, "topology": files[0], "jobs": files[1]}
    result = plan(*(argument.format(**places) for argument in arguments))
    assert result.exit_code == 2
    assert any(line.startswith(told.format(**places)) for line in result.stderr.splitlines())
    assert "Traceback" not in result.stderr


def test_a_fabric_that_is_none_is_told_with_its_faults(files, tmp_path):
    path, jobs = tmp_path / "odd.toml", files[1]
    tier = '"spine1", cell = "c", tier = '
    path.write_text(TOPOLOGY.replace(f"{tier}2", f"{tier}3"))
    told = plan("--topology", path, jobs)
    assert told.exit_code == 2
    assert told.stderr.startswith("odd.toml: link/leaf1:u1 joins tiers 1 and 3")


def test_no_deployment_is_told_in_one_line(tmp_path):
    told = plan("--from-deployment", "--config", tmp_path / "none.toml")
    assert (told.exit_code, told.stderr) == (
        2,
        f"{tmp_path / 'none.toml'}: No such file or directory\n",
    )
