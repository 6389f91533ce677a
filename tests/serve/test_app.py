from contextlib import nullcontext

import pytest
from aiohttp.test_utils import TestClient, TestServer

from pipelines.serve.app import Console, console_app
from tests.serve.conftest import an_alert

_TOKEN = "console-token"


class Asked(list):
    def __call__(self, **fields):
        self.append(fields)
        return "r1"


@pytest.fixture
def asked():
    return Asked()


@pytest.fixture
async def client(facts, asked):
    console = Console(name="test", token=_TOKEN, reader=lambda: nullcontext(facts), ask=asked)
    async with TestClient(TestServer(console_app(console))) as client:
        yield client


async def test_overview_shows_the_alert_and_links_to_the_story(client):
    answer = await client.get("/")
    page = await answer.text()

    assert answer.status == 200
    assert "link/leaf1:Ethernet50" in page
    assert 'href="/decisions/dec1"' in page


async def test_what_a_device_names_itself_is_never_markup(client, facts):
    facts.alert_revisions.append(
        an_alert(alert_id="a2", component="port/<script>alert(1)</script>")
    )

    page = await (await client.get("/")).text()

    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)" in page


async def test_story_page_has_the_change_and_the_three_verbs(client):
    page = await (await client.get("/decisions/dec1")).text()

    assert "switch/leaf1" in page
    for verb in ("approve", "reject", "revert"):
        assert f'formaction="/decisions/dec1/{verb}"' in page


async def test_decision_that_does_not_exist_is_told(client):
    answer = await client.get("/decisions/nope")

    assert (answer.status, await answer.text()) == (404, "no decision 'nope'\n")


async def test_approval_with_the_token_reaches_the_worker(client, asked):
    answer = await client.post(
        "/api/v1/decisions/dec1/approve",
        json={"who": "ada", "why": "seen it"},
        headers={"Authorization": f"Bearer {_TOKEN}"},
    )

    assert (answer.status, await answer.json()) == (202, {"request_id": "r1"})
    assert asked == [
        {"decision_id": "dec1", "cell": "pod1", "verb": "approve", "who": "ada", "why": "seen it"}
    ]


async def test_form_with_the_token_reaches_the_worker(client, asked):
    form = {"who": "ada", "why": "", "token": _TOKEN}
    answer = await client.post("/decisions/dec1/revert", data=form, allow_redirects=False)

    assert (answer.status, answer.headers["Location"]) == (303, "/decisions/dec1?asked=revert")
    assert asked[0]["verb"] == "revert"


@pytest.mark.parametrize("token", ["", "wrong", _TOKEN + "x"])
async def test_nothing_changes_without_the_token(client, asked, token):
    headers = {"Authorization": f"Bearer {token}"}
    answer = await client.post(
        "/api/v1/decisions/dec1/approve", json={"who": "eve"}, headers=headers
    )

    assert (answer.status, asked) == (401, [])


async def test_console_without_a_token_file_lets_nobody_change_anything(facts, asked):
    console = Console(name="t", token="", reader=lambda: nullcontext(facts), ask=asked)
    async with TestClient(TestServer(console_app(console))) as client:
        answer = await client.post(
            "/api/v1/decisions/dec1/approve",
            json={"who": "eve"},
            headers={"Authorization": "Bearer "},
        )

    assert (answer.status, asked) == (401, [])


async def test_request_must_say_who_asks(client, asked):
    answer = await client.post(
        "/api/v1/decisions/dec1/approve",
        json={"who": " "},
        headers={"Authorization": f"Bearer {_TOKEN}"},
    )

    assert (answer.status, asked) == (400, [])


async def test_verb_that_does_not_exist_is_told(client, asked):
    answer = await client.post(
        "/api/v1/decisions/dec1/explode",
        json={"who": "ada"},
        headers={"Authorization": f"Bearer {_TOKEN}"},
    )

    assert (answer.status, asked) == (404, [])


async def test_api_gives_alerts_with_their_evidence(client):
    (alert,) = await (await client.get("/api/v1/alerts")).json()

    assert alert["component"] == "link/leaf1:Ethernet50"
    assert alert["evidence"][0]["series"]["metric"] == "net_if_pre_fec_ber_ratio"


async def test_every_page_forbids_scripts_and_frames(client):
    policy = (await client.get("/")).headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
