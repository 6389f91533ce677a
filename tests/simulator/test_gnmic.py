"""gnmic, a client nobody here wrote, works against a simulated switch."""

import json
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.simulator.process import Simulator, password

WEIGHT = (
    "/network-instances/network-instance[name=default]"
    "/protocols/protocol[identifier=STATIC][name=DEFAULT]"
    "/static-routes/static[prefix=10.0.1.0/24]/next-hops/next-hop[index=spine3]"
    "/config/wecmp-weight"
)
OCTETS = "/interfaces/interface[name=Ethernet51]/state/counters/out-octets"

_LONGEST_SECONDS = 20.0


def find() -> str | None:
    usual = Path.home() / "go" / "bin" / "gnmic"
    return (
        os.environ.get("TRIMTAB_GNMIC")
        or shutil.which("gnmic")
        or (str(usual) if usual.exists() else None)
    )


pytestmark = pytest.mark.skipif(
    find() is None, reason="gnmic is not here: put it on PATH or name it in TRIMTAB_GNMIC"
)


class Gnmic:
    """Runs gnmic against leaf2."""

    def __init__(self, inventory):
        target = next(t for t in inventory["collect"]["gnmi"] if t["name"] == "leaf2")
        self._argv = [find(), "-a", target["address"], "--insecure", "-e", "json_ietf"]
        self._argv += ["-u", target["username"], "-p", password(inventory)]

    def __call__(self, *arguments, check=True):
        done = subprocess.run(
            [*self._argv, *arguments], capture_output=True, text=True, timeout=20, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout if check else done.stderr

    def json(self, *arguments):
        return json.loads(self(*arguments))

    def weight(self):
        return next(iter(self.json("get", "--path", WEIGHT)[0]["updates"][0]["values"].values()))

    def stream(self, *arguments, notifications):
        """Return the events of a subscription's first notifications."""
        argv = [*self._argv, "--format", "event", "subscribe", "--mode", "stream", *arguments]
        text, ends = "", 0
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            watch = threading.Timer(_LONGEST_SECONDS, process.kill)
            watch.start()
            assert process.stdout is not None
            while ends < notifications and (line := process.stdout.readline()):
                text += line
                ends += line.rstrip() == "]"  # each notification is one array
            watch.cancel()
            process.kill()
        return events(text)


def events(text):
    """Return what gnmic writes as one JSON array after the other."""
    decoder, found = json.JSONDecoder(), []
    while text := text.strip():
        array, end = decoder.raw_decode(text)
        found += array
        text = text[end:]
    return found


@pytest.fixture(scope="module")
def gnmic(tmp_path_factory):
    simulator = Simulator(tmp_path_factory.mktemp("simulator"))
    try:
        yield Gnmic(simulator.start())
    finally:
        simulator.end()


def test_capabilities(gnmic):
    told = gnmic("capabilities")
    assert "openconfig-interfaces" in told
    assert "JSON_IETF" in told


def test_get_and_set(gnmic):
    gnmic("set", "--update-path", WEIGHT, "--update-value", "5")
    assert gnmic.weight() == 5
    gnmic("set", "--replace-path", WEIGHT, "--replace-value", "20")
    assert gnmic.weight() == 20
    assert "no such path" in gnmic("get", "--path", "/nonsense", check=False)


def test_commit_confirmed(gnmic):
    begin = ["set", "--update-path", WEIGHT, "--update-value", "1", "--commit-request"]
    gnmic(*begin, "--commit-id", "one", "--rollback-duration", "60s")
    assert gnmic.weight() == 1
    assert "awaits confirmation" in gnmic(*begin, "--commit-id", "two", check=False)
    gnmic("set", "--commit-id", "one", "--commit-cancel")
    assert gnmic.weight() == 20
    gnmic(*begin, "--commit-id", "three", "--rollback-duration", "60s")
    gnmic("set", "--commit-id", "three", "--commit-confirm")
    assert gnmic.weight() == 1
    gnmic("set", "--update-path", WEIGHT, "--update-value", "20")
    gnmic(*begin, "--commit-id", "four", "--rollback-duration", "1s")
    time.sleep(1.3)
    assert gnmic.weight() == 20


def test_subscribe_once(gnmic):
    every = "/interfaces/interface[name=*]/state/counters/out-octets"
    once = ["--format", "event", "subscribe", "--mode", "once"]
    told = events(gnmic(*once, "--path", every))
    assert len({event["tags"]["interface_name"] for event in told}) == 20


def test_subscribe_to_samples(gnmic):
    told = gnmic.stream(
        *("--stream-mode", "sample", "--sample-interval", "500ms", "--path", OCTETS),
        notifications=4,
    )
    values = [int(next(iter(event["values"].values()))) for event in told]
    assert len(values) == 4
    assert values == sorted(set(values))
    assert {event["tags"]["interface_name"] for event in told} == {"Ethernet51"}


def test_subscribe_to_changes(gnmic):
    told = gnmic.stream("--stream-mode", "on-change", "--path", WEIGHT, notifications=1)
    assert [next(iter(event["values"].values())) for event in told] == [20]


def test_subscribe_as_the_target_defines(gnmic):
    path = "/interfaces/interface[name=Ethernet51]/state"
    told = gnmic.stream("--stream-mode", "target-defined", "--path", path, notifications=2)
    names = {name.rpartition("/")[2] for event in told for name in event["values"]}
    assert {"oper-status", "out-octets"} <= names
