"""One webhook endpoint: what it wants to hear, and one attempt to tell it."""

import asyncio
import math
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase

import aiohttp

from pipelines.clock import Clock
from pipelines.config.load import Loaded, read_secret
from pipelines.config.notify import WebhookConfig
from pipelines.errors import ConfigError
from pipelines.notify.addresses import (
    AddressRefusedError,
    PublicResolver,
    require_public_literal,
)
from pipelines.notify.bodies import alertmanager_body, standard_body
from pipelines.notify.notices import Notice
from pipelines.notify.queue import Answer
from pipelines.notify.signing import read_keys, signature

_DETAIL_BYTES = 300


class Endpoint:
    """Sends webhooks to one URL; a connection is kept, redirects are not followed."""

    def __init__(self, config: WebhookConfig, keys: tuple[bytes, ...], clock: Clock) -> None:
        self.name = config.name
        self._config = config
        self._keys = keys
        self._clock = clock
        resolver = None if config.allow_private else PublicResolver()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=resolver, limit=4),
            timeout=aiohttp.ClientTimeout(total=config.timeout_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    def wants(self, notice: Notice) -> bool:
        if self._config.format == "alertmanager" and notice.event_type.startswith(
            ("action.", "breaker.")
        ):
            return False
        return any(fnmatchcase(notice.event_type, pattern) for pattern in self._config.events)

    async def send(self, notice: Notice) -> Answer:
        """Make one attempt; whatever happens is an answer."""
        body = self._body(notice)
        started = time.monotonic()
        try:
            if not self._config.allow_private:
                require_public_literal(self._config.url)
            async with self._session.post(
                self._config.url,
                data=body,
                headers=self._headers(notice, body),
                allow_redirects=False,
            ) as response:
                text = await response.content.read(_DETAIL_BYTES)
                status, retry_after = response.status, response.headers.get("Retry-After", "")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return Answer(
                status=0, detail=_told(error), duration_seconds=time.monotonic() - started
            )
        succeeded = 200 <= status < 300  # noqa: PLR2004 - HTTP's
        return Answer(
            status=status,
            detail="" if succeeded else text.decode(errors="replace"),
            retry_after_seconds=retry_after_seconds(retry_after, now_ns=self._clock.now_ns()),
            duration_seconds=time.monotonic() - started,
        )

    async def close(self) -> None:
        await self._session.close()
        # The session's transports close on the loop's next rounds.
        await asyncio.sleep(0)

    def _body(self, notice: Notice) -> bytes:
        if self._config.format == "alertmanager":
            return alertmanager_body(notice, receiver=self.name)
        return standard_body(notice)

    def _headers(self, notice: Notice, body: bytes) -> dict[str, str]:
        webhook_id = notice.webhook_id(self.name)
        timestamp_seconds = self._clock.now_ns() // 1_000_000_000
        headers = {
            "content-type": "application/json",
            "user-agent": "trimtab",
            "webhook-id": webhook_id,
            "webhook-timestamp": str(timestamp_seconds),
        }
        if self._keys:
            headers["webhook-signature"] = signature(
                self._keys, webhook_id=webhook_id, timestamp_seconds=timestamp_seconds, body=body
            )
        return headers


def open_endpoints(loaded: Loaded, clock: Clock) -> list[Endpoint]:
    """Return the configured endpoints; call it inside the loop.

    Raises
    ------
    ConfigError
        A secret file is missing where webhooks are signed, or holds no such secret.
    """
    opened = []
    for config in loaded.config.webhooks:
        if config.secret_file is not None:
            keys = read_keys(read_secret(loaded.resolve(config.secret_file)))
        elif config.format == "standard":
            raise ConfigError(
                f"{loaded.path}: webhook {config.name!r} has no secret_file, its format signs"
            )
        else:
            keys = ()
        opened.append(Endpoint(config, keys, clock))
    return opened


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


def _told(error: Exception) -> str:
    """Return what went wrong without the URL, which may hold a secret."""
    cause = getattr(error, "os_error", None) or error
    if isinstance(cause, AddressRefusedError):
        return str(cause)
    reason = getattr(cause, "strerror", None)
    return f"{type(error).__name__}: {reason}" if reason else type(error).__name__
