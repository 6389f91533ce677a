"""An endpoint is tried from the command line, and a delivery sent again under its own id."""

import json
import threading
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from pipelines import topics
from pipelines.agents.record_write import RangeWriter
from pipelines.cli.main import main
from pipelines.messages.alerts import encode_alert
from pipelines.notify.notices import notice_of_alert
from pipelines.storage.store import Claim, Store
from pipelines.wire import telemetry_pb2 as pb
from tests.cli.test_facts import Message
from tests.record.conftest import FixedClock
from tests.record.messages import ALERT, NOW_NS

DELIVERY = notice_of_alert(ALERT, ("", 0, 0)).webhook_id("ops")


class Heard:
    def __init__(self):
        self.status = 204
        self.got = []
        heard = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                heard.got.append((self.headers["webhook-id"], json.loads(body)))
                self.send_response(heard.status)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture
def heard():
    made = Heard()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def run(client, database, scratch_database, tmp_path, heard):
    lost = pb.Delivery(
        delivery_id=DELIVERY,
        attempt=10,
        endpoint="ops",
        event_type="degradation.detected",
        subject_id=ALERT.alert_id,
        at_ns=NOW_NS,
        state="failed",
    ).SerializeToString()
    writer = RangeWriter(Store(client), FixedClock())
    for topic, value in ((topics.ALERTS, encode_alert(ALERT)), (topics.DELIVERIES, lost)):
        day = date(2026, 11, 30)
        claim = Claim(epoch="e", topic=topic, partition=0, first=0, until=1, stored=day)
        writer.write(claim, [Message(0, value)])
    (tmp_path / "topology.toml").write_text("")
    (tmp_path / "secret").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    config = tmp_path / "trimtab.toml"
    config.write_text(
        "[broker]\nurl = 'kafka://127.0.0.1:9'\n"
        f"[database]\nurl = '{database.url}'\nname = '{scratch_database}'\n"
        f"[[webhooks]]\nname = 'ops'\nurl = '{heard.url}'\nsecret_file = 'secret'\n"
        "allow_private = true\n"
    )

    def _run(*arguments):
        return CliRunner().invoke(main, ["webhook", *arguments, "--config", str(config)])

    return _run


def test_test_alert_begins_and_ends(run, heard):
    told = run("test", "ops")

    assert told.exit_code == 0
    types = [body["type"] for _, body in heard.got]
    assert types == ["degradation.detected", "degradation.resolved"]
    assert "nothing is wrong" in heard.got[0][1]["data"]["summary"]


def test_endpoint_that_refuses_is_told(run, heard):
    heard.status = 401
    told = run("test", "ops")

    assert (told.exit_code, len(heard.got)) == (1, 1)
    assert "status 401" in told.output


def test_webhook_that_is_not_configured_is_told(run):
    told = run("test", "nope")

    assert told.exit_code == 2
    assert "no webhook 'nope'; there are ['ops']" in told.output


def test_delivery_is_sent_again_under_its_own_id(run, heard):
    told = run("replay", DELIVERY)

    assert told.exit_code == 0
    assert [(i, body["data"]["alert_id"]) for i, body in heard.got] == [(DELIVERY, "alert-1")]


def test_delivery_that_never_was_is_told(run, heard):
    told = run("replay", "msg_0")

    assert (told.exit_code, heard.got) == (1, [])
    assert "no delivery 'msg_0'" in told.output
