"""One webhook endpoint: what it wants to hear, and one attempt to tell it."""

import asyncio
import math
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import aiohttp

from detectors.records import Alert, Cause
from pipelines.clock import Clock
from pipelines.config.load import Loaded, read_secret
from pipelines.config.notify import PAGERDUTY_URL, WebhookConfig
from pipelines.errors import ConfigError
from pipelines.notify.addresses import (
    AddressRefusedError,
    PublicResolver,
    require_public_literal,
)
from pipelines.notify.alertmanager import alertmanager_body, pushed_body
from pipelines.notify.bodies import cloudevent, standard_body
from pipelines.notify.chat import pagerduty_body, slack_body
from pipelines.notify.notices import Message, Notice
from pipelines.notify.queue import Answer
from pipelines.notify.signing import read_keys, signature

_DETAIL_BYTES = 300
_ALERTS_ONLY: Final = frozenset({"alertmanager", "alertmanager_push", "pagerduty"})
# Slack's, Discord's and others' way to say in the body how long to wait.
_RETRY_AFTER = re.compile(r'"retry_after"\s*:\s*"?(\d+(?:\.\d+)?)')
_TOO_MANY = 429
# A pushed alert outlives so many missed repetitions.
_MISSED_REPEATS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What an endpoint's files hold; none of it is ever told."""

    url: str
    keys: tuple[bytes, ...] = ()
    routing_key: str = ""
    token: str = ""


class Endpoint:
    """Sends webhooks to one URL; a connection is kept, redirects are not followed."""

    def __init__(self, config: WebhookConfig, secrets: Secrets, clock: Clock) -> None:
        self.name = config.name
        self.config = config
        self._secrets = secrets
        self._clock = clock
        resolver = None if config.allow_private else PublicResolver()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=resolver, limit=4),
            timeout=aiohttp.ClientTimeout(total=config.timeout_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    def wants(self, notice: Notice) -> bool:
        if self.config.format in _ALERTS_ONLY and not isinstance(notice.told, Alert):
            return False
        if self.config.format == "alertmanager_push":
            return self.follows(notice)
        return self._matches(notice.event_type)

    def follows(self, notice: Notice) -> bool:
        """Tell whether the endpoint hears of this alert at all, whatever its revision is."""
        if not isinstance(notice.told, Alert):
            return False
        stale = notice.told.cause is Cause.TELEMETRY_FAULT
        return self._matches("telemetry.stale" if stale else "degradation.detected")

    async def send(self, message: Message) -> Answer:
        """Make one attempt; whatever happens is an answer."""
        body, headers = self._request(message)
        started = time.monotonic()
        try:
            if not self.config.allow_private:
                require_public_literal(self._secrets.url)
            async with self._session.post(
                self._secrets.url, data=body, headers=headers, allow_redirects=False
            ) as response:
                text = await response.content.read(_DETAIL_BYTES)
                status, header = response.status, response.headers.get("Retry-After", "")
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            return Answer(
                status=0, detail=_told(error), duration_seconds=time.monotonic() - started
            )
        succeeded = 200 <= status < 300  # noqa: PLR2004 - HTTP's
        answer = text.decode(errors="replace")
        wait_seconds = retry_after_seconds(header, now_ns=self._clock.now_ns())
        if wait_seconds is None and status == _TOO_MANY:
            wait_seconds = retry_after_in_body(answer)
        return Answer(
            status=status,
            detail="" if succeeded else answer,
            retry_after_seconds=wait_seconds,
            duration_seconds=time.monotonic() - started,
        )

    async def close(self) -> None:
        await self._session.close()
        # The session's transports close on the loop's next rounds.
        await asyncio.sleep(0)

    def _matches(self, event_type: str) -> bool:
        return any(fnmatchcase(event_type, pattern) for pattern in self.config.events)

    def _request(self, message: Message) -> tuple[bytes, dict[str, str]]:
        body, more = self._body(message)
        webhook_id = message.webhook_id(self.name)
        timestamp_seconds = self._clock.now_ns() // 1_000_000_000
        headers = {
            "content-type": "application/json",
            "user-agent": "trimtab",
            "webhook-id": webhook_id,
            "webhook-timestamp": str(timestamp_seconds),
        } | more
        if self._secrets.token:
            headers["authorization"] = f"Bearer {self._secrets.token}"
        if self._secrets.keys:
            headers["webhook-signature"] = signature(
                self._secrets.keys,
                webhook_id=webhook_id,
                timestamp_seconds=timestamp_seconds,
                body=body,
            )
        return body, headers

    def _body(self, message: Message) -> tuple[bytes, dict[str, str]]:
        """Return the body in the endpoint's format, and headers that belong to the format."""
        match self.config.format:
            case "alertmanager":
                return alertmanager_body(message, receiver=self.name), {}
            case "alertmanager_push":
                lasts_seconds = _MISSED_REPEATS * self.config.repeats_after_seconds
                return pushed_body(message, lasts_seconds=lasts_seconds), {}
            case "slack":
                return slack_body(message), {}
            case "pagerduty":
                return pagerduty_body(message, routing_key=self._secrets.routing_key), {}
            case "cloudevents":
                return cloudevent(message, endpoint=self.name)
            case "standard":
                return standard_body(message, endpoint=self.name), {}


def open_endpoints(loaded: Loaded, clock: Clock) -> list[Endpoint]:
    """Return the configured endpoints; call it inside the loop.

    Raises
    ------
    ConfigError
        A secret file is missing where webhooks are signed, or holds no such secret.
    """
    # Every secret is read before a session is opened, so that none is left open by a wrong one.
    read = [(config, read_secrets(loaded, config)) for config in loaded.config.webhooks]
    return [Endpoint(config, secrets, clock) for config, secrets in read]


def read_secrets(loaded: Loaded, config: WebhookConfig) -> Secrets:
    """Return what the files of an endpoint hold; raises as `open_endpoints`."""

    def held(path: Path | None) -> str:
        return "" if path is None else read_secret(loaded.resolve(path))

    if config.secret_file is None and config.format in {"standard", "pagerduty"}:
        why = "its format signs" if config.format == "standard" else "its routing key"
        raise ConfigError(f"{loaded.path}: webhook {config.name!r} has no secret_file, {why}")
    secret = held(config.secret_file)
    url = config.url or held(config.url_file) or PAGERDUTY_URL
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"{loaded.path}: url_file of webhook {config.name!r} holds no URL")
    routes = config.format == "pagerduty"
    return Secrets(
        url=url,
        keys=read_keys(secret) if secret and not routes else (),
        routing_key=secret if routes else "",
        token=held(config.token_file),
    )


def retry_after_seconds(header: str, *, now_ns: int) -> float | None:
    """Return the wait that ``Retry-After`` asks for, in seconds or as a date; None without one."""
    if not header:
        return None
    if header.isdecimal():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    now = datetime.fromtimestamp(now_ns / 1e9, UTC)
    return max(0.0, math.ceil((at - now).total_seconds()))


def retry_after_in_body(text: str) -> float | None:
    """Return the wait that a JSON body asks for as ``retry_after``, in seconds; None without."""
    found = _RETRY_AFTER.search(text)
    return float(found[1]) if found else None


def _told(error: Exception) -> str:
    """Return what went wrong without the URL, which may hold a secret."""
    cause = getattr(error, "os_error", None) or error
    if isinstance(cause, AddressRefusedError):
        return str(cause)
    reason = getattr(cause, "strerror", None)
    return f"{type(error).__name__}: {reason}" if reason else type(error).__name__
