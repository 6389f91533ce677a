"""The console's routes: whoever reaches the address may read, changing needs the token."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import jinja2
from aiohttp import web
from clickhouse_connect.driver.exceptions import Error
from kafka.errors import KafkaError

from actuators.records import DecisionEvent
from detectors.records import Alert
from pipelines.agents.explain import explain
from pipelines.approvals import VERBS
from pipelines.serve.plain import alert_fields, event_fields, iso

_CONSOLE: web.AppKey["Console"] = web.AppKey("console")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Reader(Protocol):
    """Reads what the database holds; `pipelines.facts.Facts` is one."""

    def alerts(self, *, limit: int) -> list[Alert]: ...

    def revisions(self, alert_id: str) -> list[Alert]: ...

    def decisions(self, *, limit: int) -> list[DecisionEvent]: ...

    def events(self, decision_id: str) -> list[DecisionEvent]: ...


class Ask(Protocol):
    """Hands a person's request to the act worker and returns its id; may block."""

    def __call__(self, *, decision_id: str, cell: str, verb: str, who: str, why: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What the routes need.

    Attributes
    ----------
    token
        Whoever has it may approve, reject and revert; empty: nobody may.
    reader
        Opens a reader for one request, in a thread of its own; may block.
    """

    name: str
    token: str
    reader: Callable[[], AbstractContextManager[Reader]]
    ask: Ask

    def may_change(self, given: str) -> bool:
        return bool(self.token) and hmac.compare_digest(self.token.encode(), given.encode())


def console_app(console: Console) -> web.Application:
    """Return the application: pages for people, ``/api/v1`` for programs."""
    app = web.Application(middlewares=[_with_headers, _told_errors], client_max_size=64 * 1024)
    app[_CONSOLE] = console
    app.add_routes(
        [
            web.get("/", _overview),
            web.get("/decisions/{id}", _decision),
            web.post("/decisions/{id}/{verb}", _ask_by_form),
            web.get("/api/v1/alerts", _api_alerts),
            web.get("/api/v1/decisions", _api_decisions),
            web.get("/api/v1/decisions/{id}", _api_decision),
            web.post("/api/v1/decisions/{id}/{verb}", _ask_by_api),
            web.get("/healthz", _healthz),
            web.get("/readyz", _readyz),
        ]
    )
    return app


_PAGES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
)
_PAGES.filters["iso"] = iso

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def _with_headers(request: web.Request, handler: Handler) -> web.StreamResponse:
    response = await handler(request)
    response.headers.update(_HEADERS)
    return response


@web.middleware
async def _told_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a missing database or broker in one line, not with a trace."""
    try:
        return await handler(request)
    except Error as error:
        return web.Response(status=503, text=f"the database does not answer: {error}\n")
    except KafkaError as error:
        return web.Response(status=503, text=f"the broker does not answer: {error}\n")


async def _read(request: web.Request, read: Callable[[Reader], Any]) -> Any:
    """Run a read off the event loop."""
    console = request.app[_CONSOLE]

    def with_reader() -> Any:
        with console.reader() as reader:
            return read(reader)

    return await asyncio.to_thread(with_reader)


async def _overview(request: web.Request) -> web.Response:
    alerts, decisions = await _read(request, lambda f: (f.alerts(limit=50), f.decisions(limit=50)))
    page = _PAGES.get_template("overview.html")
    html = page.render(name=request.app[_CONSOLE].name, alerts=alerts, decisions=decisions)
    return web.Response(text=html, content_type="text/html")


async def _decision(request: web.Request) -> web.Response:
    decision_id = request.match_info["id"]

    def read(facts: Reader) -> Any:
        events = facts.events(decision_id)
        return events, facts.revisions(events[0].alert_id) if events else []

    events, revisions = await _read(request, read)
    if not events:
        raise web.HTTPNotFound(text=f"no decision {decision_id!r}\n")
    story = explain(events, revisions[-1] if revisions else None)
    html = _PAGES.get_template("decision.html").render(
        decision_id=decision_id, story=story, verbs=VERBS, asked=request.query.get("asked", "")
    )
    return web.Response(text=html, content_type="text/html")


async def _ask_by_form(request: web.Request) -> web.Response:
    # The token is typed with each request and kept in no cookie, so no other site can ask for us.
    form = await request.post()
    fields = {name: str(form.get(name, "")) for name in ("token", "who", "why")}
    await _ask(request, **fields)
    verb = request.match_info["verb"]
    raise web.HTTPSeeOther(f"/decisions/{request.match_info['id']}?asked={verb}")


async def _ask_by_api(request: web.Request) -> web.Response:
    body = await request.json() if request.can_read_body else {}
    if not isinstance(body, dict):
        raise web.HTTPBadRequest(text="the body is not a JSON object\n")
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    request_id = await _ask(
        request, token=token, who=str(body.get("who", "")), why=str(body.get("why", ""))
    )
    return web.json_response({"request_id": request_id}, status=202)


async def _ask(request: web.Request, *, token: str, who: str, why: str) -> str:
    """Check the request, put it on its topic, return its id."""
    console = request.app[_CONSOLE]
    verb, decision_id = request.match_info["verb"], request.match_info["id"]
    if not console.may_change(token):
        raise web.HTTPUnauthorized(text="this needs the console's token\n")
    if verb not in VERBS:
        raise web.HTTPNotFound(text=f"no verb {verb!r}; there are {', '.join(VERBS)}\n")
    if not who.strip():
        raise web.HTTPBadRequest(text="'who' is empty: the record says who asked\n")
    events = await _read(request, lambda facts: facts.events(decision_id))
    if not events:
        raise web.HTTPNotFound(text=f"no decision {decision_id!r}\n")
    return await asyncio.to_thread(
        console.ask,
        decision_id=decision_id,
        cell=events[0].cell,
        verb=verb,
        who=who.strip(),
        why=why,
    )


async def _api_alerts(request: web.Request) -> web.Response:
    alerts = await _read(request, lambda facts: facts.alerts(limit=1000))
    return web.json_response([alert_fields(alert) for alert in alerts])


async def _api_decisions(request: web.Request) -> web.Response:
    events = await _read(request, lambda facts: facts.decisions(limit=1000))
    return web.json_response([event_fields(event) for event in events])


async def _api_decision(request: web.Request) -> web.Response:
    events = await _read(request, lambda facts: facts.events(request.match_info["id"]))
    if not events:
        raise web.HTTPNotFound(text=f"no decision {request.match_info['id']!r}\n")
    return web.json_response([event_fields(event) for event in events])


async def _healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok\n")


async def _readyz(request: web.Request) -> web.Response:
    await _read(request, lambda facts: facts.alerts(limit=1))
    return web.Response(text="ok\n")
