"""Engines of an inference service: roles by its router, concurrency limits by the engines."""

import asyncio
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import aiohttp
from yarl import URL

from actuators.ports import PermanentActuationError, TransientActuationError
from actuators.records import Change
from cluster.topology import Service
from pipelines.config.load import Loaded, read_secret

_ASK_SECONDS = 5.0
_PASSING = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.CONFLICT,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
_BUSY = ("idle", "in progress", "busy", "drain", "timeout", "timed out")


class ServingHttp:
    """The `Driver` and `ServingPool` of one service.

    Parameters
    ----------
    engine_urls
        Base URL by engine component.
    """

    name = "serving"

    def __init__(
        self,
        service: str,
        *,
        router_url: str,
        engine_urls: Mapping[str, str],
        token: str,
        drain_seconds: float,
        timeout_seconds: float,
    ) -> None:
        self._service = service
        self._router = URL(router_url.rstrip("/"))
        self._urls = {engine: _base(url) for engine, url in engine_urls.items()}
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._drain_seconds = drain_seconds
        self._timeout_seconds = timeout_seconds
        self._session: aiohttp.ClientSession | None = None

    async def roles(self, service: str) -> Mapping[str, str]:
        answer = await self._ask("GET", self._router / "workers")
        workers = answer.get("workers", []) if isinstance(answer, dict) else answer
        engines = {url: engine for engine, url in self._urls.items()}
        found = {}
        for worker in workers:
            engine = engines.get(_base(str(worker.get("url", ""))))
            role = worker.get("worker_type") or worker.get("role")
            healthy = worker.get("is_healthy", worker.get("healthy", True))
            if engine is not None and healthy and role in {"prefill", "decode"}:
                found[engine] = role
        return found

    async def concurrency_limits(self, service: str) -> Mapping[str, int]:
        limits = await asyncio.gather(*(self._limit(engine) for engine in self._urls))
        known = zip(self._urls, limits, strict=True)
        return {engine: limit for engine, limit in known if limit is not None}

    async def read(self, changes: Sequence[Change]) -> Mapping[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        if any(change.path == "role" for change in changes):
            roles = await self.roles(self._service)
            found |= {(engine, "role"): role for engine, role in roles.items()}
        for change in changes:
            if change.path == "concurrency_limit":
                limit = await self._limit(change.target)
                if limit is not None:
                    found[change.target, change.path] = str(limit)
        return found

    async def write(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.path == "role":
                await self._switch_role(change)
            elif change.path == "concurrency_limit":
                await self._set_limit(change)
            else:
                raise PermanentActuationError(f"{change.target} has no {change.path!r}")

    async def confirm(self, changes: Sequence[Change]) -> None:
        """Nothing to do: an engine keeps what it took."""

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _switch_role(self, change: Change) -> None:
        body = {
            "worker_url": self._url(change.target),
            "new_role": change.to_value,
            "drain_timeout_secs": self._drain_seconds,
        }
        answer = await self._ask(
            "POST",
            self._router / "pd_role_switch",
            body,
            timeout_seconds=self._drain_seconds + self._timeout_seconds,
        )
        if not answer.get("success", False):
            message = str(answer.get("message", answer))
            text = f"{change.target} did not become {change.to_value}: {message}"
            if any(word in message.lower() for word in _BUSY):
                raise TransientActuationError(text)
            raise PermanentActuationError(text)

    async def _set_limit(self, change: Change) -> None:
        body = {"server_args": {"max_running_requests": int(change.to_value)}}
        url = URL(self._url(change.target)) / "set_internal_state"
        answer = await self._ask("POST", url, body)
        told = answer[0] if isinstance(answer, list) and answer else answer
        if isinstance(told, dict) and told.get("updated") is False:
            raise PermanentActuationError(f"{change.target} did not take the limit: {told}")

    async def _limit(self, engine: str) -> int | None:
        info = await self._ask("GET", URL(self._url(engine)) / "get_server_info")
        states = info.get("internal_states") or [{}]
        for place in (states[0], info.get("server_args") or {}, info):
            limit = place.get("max_running_requests")
            if limit is not None:
                return int(limit)
        return None

    def _url(self, engine: str) -> str:
        url = self._urls.get(engine)
        if url is None:
            raise PermanentActuationError(f"{engine} has no URL; known are {sorted(self._urls)}")
        return url

    async def _ask(
        self,
        method: str,
        url: URL,
        body: dict[str, Any] | None = None,
        *,
        timeout_seconds: float = _ASK_SECONDS,
    ) -> Any:
        """Return the JSON answer.

        A role switch that answers 4xx with the router's own message is judged by that message.
        """
        if self._session is None:
            self._session = aiohttp.ClientSession(headers=self._headers)
        timeout = aiohttp.ClientTimeout(total=timeout_seconds)
        try:
            async with self._session.request(method, url, json=body, timeout=timeout) as response:
                answer = await _json(response)
                status = response.status
        except (aiohttp.ClientError, TimeoutError) as error:
            raise TransientActuationError(
                f"{method} {url}: {type(error).__name__}: {error}"
            ) from error
        if status < HTTPStatus.BAD_REQUEST:
            return answer
        if isinstance(answer, dict) and "success" in answer:
            return answer
        text = f"{method} {url} answered {status}: {str(answer)[:200]}"
        if status in _PASSING:
            raise TransientActuationError(text)
        raise PermanentActuationError(text)


def serving_drivers(loaded: Loaded) -> dict[str, ServingHttp]:
    """Return the driver by service name; an engine's URL is where it is scraped."""
    act = loaded.config.act
    scraped = {target.component: target.url for target in loaded.config.collect.scrape}
    services = {service.name: service for service in loaded.topology.services}
    return {
        config.service: ServingHttp(
            f"service/{config.service}",
            router_url=config.router_url,
            engine_urls=_engine_urls(services.get(config.service), scraped),
            token=""
            if config.token_file is None
            else read_secret(loaded.resolve(config.token_file)),
            drain_seconds=act.reassign.drain_seconds,
            timeout_seconds=config.timeout_seconds,
        )
        for config in act.serving
    }


def _engine_urls(service: Service | None, scraped: Mapping[str, str]) -> dict[str, str]:
    engines = () if service is None else service.engines
    return {e.component: scraped[e.component] for e in engines if e.component in scraped}


def _base(url: str) -> str:
    """Return scheme, host and port."""
    parsed = URL(url)
    return str(parsed.origin()) if parsed.is_absolute() else url


async def _json(response: aiohttp.ClientResponse) -> Any:
    text = await response.text()
    try:
        return await response.json(content_type=None)
    except ValueError:
        return text
