"""TLS towards a target: both sides show a certificate, and clear text is never fallen back to."""

import contextlib
import shutil
import subprocess

import grpc
import pytest
from gnmi_pb import gnmi_pb2_grpc

from pipelines.collect.streams import End
from tests.collect.fakes import until
from tests.collect.test_gnmi import KEY, SYNC, Scene, Switch, notification, serving


@pytest.fixture
def certificate(tmp_path):
    """A self-signed certificate for ``switch.example``, for both sides and as their authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here")
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    names = ["-subj", "/CN=switch.example", "-addext", "subjectAltName=DNS:switch.example"]
    files = ["-nodes", "-days", "2", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*new, *names, *files], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "cert.pem", tmp_path / "key.pem"


@contextlib.asynccontextmanager
async def serving_tls(switch, certificate):
    cert, key = (path.read_bytes() for path in certificate)
    credentials = grpc.ssl_server_credentials([(key, cert)], cert, require_client_auth=True)
    server = grpc.aio.server()
    gnmi_pb2_grpc.add_gNMIServicer_to_server(switch, server)
    port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    try:
        yield port
    finally:
        await server.stop(0)


def target(certificate, **changes):
    cert, key = certificate
    tls = {"ca_file": cert, "cert_file": cert, "key_file": key, "server_name": "switch.example"}
    return {"insecure": False, "tls": tls | changes}


async def test_both_sides_show_a_certificate_under_a_name_of_its_own(certificate):
    async with serving_tls(Switch([notification(1, 1), SYNC]), certificate) as port:
        scene = Scene(port, target=target(certificate))
        async with scene.running():
            await until(lambda: scene.readings().get(KEY))
    assert scene.readings() == {KEY: [(1, 1.0)]}


@pytest.mark.parametrize(
    "changes",
    [
        {"cert_file": None, "key_file": None},
        {"server_name": "another.example"},
        {"ca_file": "missing.pem"},
    ],
)
async def test_what_does_not_fit_is_tried_again_and_nothing_is_read(certificate, changes):
    switch = Switch([notification(1, 1), SYNC])
    async with serving_tls(switch, certificate) as port:
        scene = Scene(port, target=target(certificate, **changes))
        async with scene.running():
            await until(lambda: len(scene.subscriber.ends) >= 2)
    assert set(scene.subscriber.ends) == {End.UNAVAILABLE}
    assert (switch.requests, scene.readings()) == ([], {})


async def test_clear_text_is_never_fallen_back_to(certificate, tmp_path):
    (tmp_path / "password").write_text("hush")
    secrets = {"username": "u", "password_file": tmp_path / "password"}
    switch = Switch([notification(1, 1), SYNC])
    async with serving(switch) as port:
        scene = Scene(port, target=target(certificate) | secrets)
        async with scene.running():
            await until(lambda: len(scene.subscriber.ends) >= 2)
    assert (switch.requests, switch.metadata) == ([], [])
