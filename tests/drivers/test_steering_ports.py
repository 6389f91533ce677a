"""Source ports over the job channel: the driver's end and the job's."""

import errno
import socket

import pytest

from actuators.carry_out import Hands, bring_about
from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change, Event
from actuators.steering.capability import Rung, job_capability
from actuators.steering.classes import PortClasses
from actuators.steering.paths import source_port_path
from pipelines.drivers.steering import steering_driver
from pipelines.drivers.steering_ports import JobHand
from pipelines.job_ports import JobPorts
from pipelines.wire import jobs_pb2
from tests.actuators.inputs import no_pause
from tests.drivers.port_job import Channel, running

JOB = "job/train"
CHANGES = tuple(
    Change(target=JOB, path=source_port_path(rank, connection), from_value="0", to_value=str(port))
    for rank, connection, port in ((0, 0, 49152), (0, 1, 50176), (1, 0, 51200))
)


async def test_all_ports_of_a_job_travel_in_one_directive_and_are_read_back():
    channel = Channel({0: [1, 2], 1: [0]})
    async with running(channel) as jobs:
        driver = steering_driver({}, jobs)
        hold = Hands(driver=driver, retries=0, pause=no_pause)
        outcome = await bring_about(CHANGES, hold, written=lambda: None)
        again = await bring_about(CHANGES, hold, written=lambda: None)
        await driver.close()
    assert (outcome.event, again.event) == (Event.VERIFIED, Event.VERIFIED)
    assert len(channel.directives) == 1
    assert channel.moved == [(0, 0, 49152), (0, 1, 50176), (1, 0, 51200)]


async def test_job_is_told_the_old_ports_when_it_is_to_go_back():
    channel = Channel({0: [1, 2], 1: [0]})
    async with running(channel) as jobs:
        hand = JobHand(jobs)
        await hand.write(CHANGES)
        await hand.undo(CHANGES)
        assert set((await hand.read(CHANGES)).values()) == {"0"}


@pytest.mark.parametrize(
    ("state", "error"), [("refused", PermanentActuationError), ("unknown", TransientActuationError)]
)
async def test_answer_that_is_no_yes_is_an_error(state, error):
    channel = Channel({0: [1, 2], 1: [0]})
    channel.state = state
    async with running(channel) as jobs:
        hand = JobHand(jobs)
        with pytest.raises(error, match="said the job"):
            await hand.write(CHANGES)


def test_job_without_a_connection_to_choose_for_can_be_advised_about_only():
    assert job_capability(JOB, 3).best() is Rung.SOURCE_PORTS
    assert "no connection" in job_capability(JOB, 0).lacking[Rung.SOURCE_PORTS]


async def test_path_that_is_no_source_port_is_refused():
    async with running(Channel({0: [1]})) as jobs:
        hand = JobHand(jobs)
        odd = Change(target=JOB, path="learning_rate[rank=0]", from_value="", to_value="1")
        with pytest.raises(PermanentActuationError, match="learning_rate"):
            await hand.write([odd])


def directive(*values, parameter="source_port"):
    told = [jobs_pb2.RankValue(rank=r, connection=c, value=v) for r, c, v in values]
    return jobs_pb2.Directive(parameter=parameter, values=told)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (directive((0, 0, 49152), parameter="micro_batches"), "micro_batches"),
        (directive((9, 0, 49152)), "rank 9 has no connection 0"),
        (directive((0, 1, 49152)), "rank 0 has no connection 1"),
        (directive((0, 0, 80)), "80"),
        (directive((0, 0, 65536)), "65536"),
        (directive((0, 0, 49152.5)), "49152.5"),
        (directive((0, 0, 49152), (0, 1, 49152)), "connection 1"),
    ],
)
def test_directive_that_does_not_fit_is_refused_as_a_whole(asked, why):
    ports = JobPorts({0: [1]})
    answer = ports.take(asked)
    assert answer.state == "refused"
    assert why in answer.detail
    assert ports.port(0, 0) == 0


def test_taking_twice_moves_once():
    moved = []
    ports = JobPorts({0: [1]}, on_change=lambda *told: moved.append(told))
    answers = [ports.take(directive((0, 0, 49152))) for _ in range(2)]
    assert [(answer.state, answer.detail) for answer in answers] == [
        ("applied", "1 connections to move"),
        ("applied", "0 connections to move"),
    ]
    assert moved == [(0, 0, 49152)]


def taken_port():
    """Return a socket on a port that is free but for it."""
    opened = socket.socket()
    opened.bind(("127.0.0.1", 0))
    return opened, opened.getsockname()[1]


def test_socket_gets_its_port_or_the_next_of_the_class():
    busy, port = taken_port()
    classes = PortClasses(first_port=port, size=16, count=1)
    ports = JobPorts({0: [1]}, classes=classes)
    ports.take(directive((0, 0, port)))
    with busy, socket.socket() as opened:
        assert ports.bind(opened, 0, 0, "127.0.0.1") in range(port + 1, port + 16)


def test_class_without_a_free_port_is_an_error():
    busy, port = taken_port()
    ports = JobPorts({0: [1]}, classes=PortClasses(first_port=port, size=1, count=1))
    ports.take(directive((0, 0, port)))
    with busy, socket.socket() as opened, pytest.raises(OSError, match="in use") as caught:
        ports.bind(opened, 0, 0, "127.0.0.1")
    assert caught.value.errno == errno.EADDRINUSE


def test_connection_nobody_was_told_of_gets_any_port():
    ports = JobPorts({0: [1]})
    with socket.socket() as opened:
        assert ports.bind(opened, 0, 0, "127.0.0.1") > 0
    assert [c.source_port for c in ports.connections(0)] == [0]
