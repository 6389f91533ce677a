import os
import signal
import sys
import time

import pytest

from pipelines.errors import ConfigError
from pipelines.supervise.child import ChildSpec
from pipelines.supervise.supervisor import ChildFailedError, Supervisor

_FOREVER = [sys.executable, "-c", "import time; time.sleep(600)"]


def _spec(tmp_path, name="one", argv=_FOREVER, **fields):
    return ChildSpec(name=name, argv=argv, log_path=tmp_path / f"{name}.log", **fields)


def _until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def supervised():
    supervisors = []

    def start(*specs):
        supervisor = Supervisor(specs)
        supervisors.append(supervisor)
        supervisor.start()
        return supervisor

    yield start
    for supervisor in supervisors:
        supervisor.stop()


def test_killed_child_is_started_again(tmp_path, supervised):
    supervisor = supervised(_spec(tmp_path))
    first = supervisor.children["one"].pid
    os.kill(first, signal.SIGKILL)

    ended = []
    _until(lambda: ended.extend(supervisor.watch()) or bool(supervisor.children["one"].restarts))

    assert ended == ["one"]
    assert supervisor.children["one"].pid not in {None, first}


def test_wrong_configuration_is_not_started_again(tmp_path, supervised):
    supervisor = supervised(_spec(tmp_path, argv=[sys.executable, "-c", "raise SystemExit(2)"]))

    with pytest.raises(ChildFailedError, match="one cannot run, see"):
        _until(lambda: bool(supervisor.watch()))


def test_stop_leaves_no_child_behind(tmp_path, supervised):
    supervisor = supervised(_spec(tmp_path), _spec(tmp_path, name="two"))
    pids = [child.pid for child in supervisor.children.values()]

    supervisor.stop()

    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_child_that_does_not_answer_is_waited_for(tmp_path, supervised):
    supervisor = supervised(_spec(tmp_path, ready_url="http://127.0.0.1:9/readyz"))

    assert list(supervisor.waiting()) == ["one"]


def test_child_without_a_probe_is_ready_when_it_runs(tmp_path, supervised):
    assert supervised(_spec(tmp_path)).waiting() == {}


def test_two_children_of_one_name_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="one name"):
        Supervisor([_spec(tmp_path), _spec(tmp_path)])


def test_restart_does_in_between_what_no_child_may_see(tmp_path, supervised):
    supervisor = supervised(_spec(tmp_path), _spec(tmp_path, name="two"), _spec(tmp_path, name="3"))
    before = {name: child.pid for name, child in supervisor.children.items()}
    seen = []

    supervisor.restart(
        ["one", "two"], between=lambda: seen.extend(c.pid for c in supervisor.children.values())
    )

    assert seen == [None, None, before["3"]]
    after = {name: child.pid for name, child in supervisor.children.items()}
    assert after["3"] == before["3"]
    assert not {after["one"], after["two"]} & {None, *before.values()}
