"""The simulator as a process: it ends when told, and goes on where it was killed."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.paths import ROOT
from tests.simulator.process import Simulator, fetch


@pytest.fixture
def simulator(tmp_path):
    started = Simulator(tmp_path)
    yield started
    if started.process is not None:
        started.end(signal.SIGKILL)


def sent_bytes(inventory) -> list[float]:
    url = next(t["url"] for t in inventory["collect"]["scrape"] if t["name"] == "node-h1")
    name = "node_infiniband_port_data_transmitted_bytes_total{"
    with urllib.request.urlopen(url, timeout=5.0) as answer:
        lines = answer.read().decode().splitlines()
    return [float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)]


def test_a_killed_simulator_goes_on_where_it_was(simulator):
    """C15: a switch does not reboot because its simulator was killed."""
    first = simulator.start()
    control = first["control_url"]
    fault = fetch(f"{control}/faults", {"kind": "long_answers"})
    before, sent = fetch(f"{control}/state"), sent_bytes(first)
    assert simulator.end(signal.SIGKILL) == -signal.SIGKILL
    again = simulator.start("--resume")
    after = fetch(f"{control}/state")
    assert again == first
    assert after["faults"] == before["faults"] == [fault]
    assert after["device_ns"] > before["device_ns"]
    assert after["step"] >= before["step"]
    assert all(b >= a for a, b in zip(sent, sent_bytes(again), strict=True))


def test_without_resume_it_begins_anew_and_ends_cleanly(simulator):
    first = simulator.start()
    assert simulator.end(signal.SIGTERM) == 0
    again = simulator.start()
    assert fetch(f"{again['control_url']}/clock")["start_ns"] > 0
    assert (
        again["collect"]["gnmi"][0]["password_file"]
        == (first["collect"]["gnmi"][0]["password_file"])
    )
    assert simulator.end(signal.SIGINT) == 0
    assert (simulator.folder / "log").read_text() == ""


def test_it_ends_with_its_parent(simulator):
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[1:])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, *simulator.argv()], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    simulator.inventory()
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        if not _runs(child):
            break
        time.sleep(0.1)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # An orphan whose new parent never asks stays as a zombie.
    asked = ["ps", "-o", "stat=", "-p", str(pid)]
    stat = subprocess.run(asked, capture_output=True, text=True, check=False)
    return not stat.stdout.strip().startswith("Z") and bool(stat.stdout.strip())


def test_a_wrong_option_is_told(tmp_path):
    argv = Simulator(tmp_path).argv("--speed", "0")
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == 2
    assert "--speed must be positive" in ended.stderr


def test_a_taken_port_is_told(simulator):
    simulator.start()
    argv = simulator.argv("--resume")
    second = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert second.returncode == 1
    assert second.stderr.splitlines()[-1].startswith("simulator: cannot listen on 127.0.0.1:")


def test_measured_tables_may_take_the_formula_s_place(simulator):
    name = "Llama-3.1-70B-Instruct-FP8_h200_sxm_vllm_tp4_{}.csv"
    prefill = "batch,input_tokens,prefix_tokens,latency_ms\n1,1000,0,50\n1,9000,0,450\n"
    (simulator.folder / name.format("prefill")).write_text(prefill)
    decode = "batch,context_tokens,step_latency_ms\n1,1000,8\n64,1000,12\n"
    (simulator.folder / name.format("decode")).write_text(decode)
    inventory = simulator.start("--tables", str(simulator.folder))
    assert fetch(f"{inventory['control_url']}/state")["attainment_ratio"] == 1.0
    json.dumps(inventory)
