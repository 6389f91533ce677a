"""pygnmi, a client nobody here wrote, subscribes, gets and sets on a simulated switch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulator.process import Simulator, password
from tests.simulator.test_gnmic import OCTETS, WEIGHT


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    simulator = Simulator(tmp_path_factory.mktemp("pygnmi"))
    inventory = simulator.start()
    try:
        target = next(t for t in inventory["collect"]["gnmi"] if t["name"] == "leaf2")
        host, _, port = target["address"].rpartition(":")
        argv = [sys.executable, str(Path(__file__).with_name("pygnmi_client.py"))]
        argv += [host, port, target["username"], password(inventory), WEIGHT, OCTETS]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    finally:
        simulator.end()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _value(answer):
    return answer["notification"][0]["update"][0]["val"]


def test_capabilities_name_models(told):
    assert told["models"] > 0


def test_set_is_what_the_next_get_reads(told):
    assert (_value(told["before"]), _value(told["after"])) == (20, 7)


def test_sampled_counter_rises(told):
    octets = [int(value) for value in told["octets"]]

    assert octets == sorted(octets)
    assert octets[-1] > octets[0]
