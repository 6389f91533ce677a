"""Who may change something over HTTP, and how bodies are read."""

import hmac
import json
from typing import Any

from aiohttp import web


def check_token(request: web.Request, token: str) -> None:
    """Let through who shows the token.

    Raises
    ------
    web.HTTPUnauthorized
        It is missing or another.
    """
    given = request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise web.HTTPUnauthorized(headers={"WWW-Authenticate": "Bearer"})


async def read_object(request: web.Request) -> dict[str, Any]:
    """Return the request's JSON object.

    Raises
    ------
    web.HTTPBadRequest
        It is none.
    """
    try:
        body = await request.json()
    except ValueError as error:
        raise web.HTTPBadRequest(text="the body is not JSON") from error
    if not isinstance(body, dict):
        raise web.HTTPBadRequest(text="the body is not a JSON object")
    return body


def answer(status: int, **fields: Any) -> web.Response:
    return web.Response(status=status, text=json.dumps(fields), content_type="application/json")
